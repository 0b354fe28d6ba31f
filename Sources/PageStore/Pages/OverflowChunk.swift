/// A chunk of an overflowing value in memory: a page header, then up to 64 KiB less 64 bytes of the value.
/// The chunks of a value are adjacent in the file. Each contains the checksum of the next, so that the
/// checksum in the reference covers all of them.
struct OverflowChunk {
  let base: UnsafeRawPointer

  init(_ base: UnsafeRawPointer) { self.base = base }

  var checksum: UInt64 { base.loadLittle(PageHeader.checksum) }
  var number: UInt64 { base.loadLittle(PageHeader.number) }
  var birth: UInt64 { base.loadLittle(PageHeader.birth) }
  var treeID: UInt32 { base.loadLittle(PageHeader.treeID) }
  var kind: UInt8 { base.loadLittle(PageHeader.kind) }
  var payloadLength: Int { Int(base.loadLittle(PageHeader.payloadLength, as: UInt32.self)) }
  var chunkIndex: UInt32 { base.loadLittle(PageHeader.chunkIndex) }
  var nextChecksum: UInt64 { base.loadLittle(PageHeader.nextChecksum) }
  var totalLength: UInt32 { base.loadLittle(PageHeader.totalLength) }

  var payload: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: base + PageHeader.byteCount, count: payloadLength)
  }

  /// Checks a chunk against its reference. The payload's length is checked first, against what remains of the
  /// value, so that the payload is known to be in the buffer before it is read.
  func validate(
    number: UInt64,
    checksum: UInt64,
    reference: ChildReference,
    index: UInt32
  ) throws(StoreError) {
    let offset = Int(index) * PageGeometry.chunkPayload
    let expected = min(Int(reference.count) - offset, PageGeometry.chunkPayload)
    let covered = UnsafeRawBufferPointer(
      start: base + 8,
      count: PageHeader.byteCount - 8 + expected
    )
    guard payloadLength == expected else {
      throw StoreError(.corrupt, "An overflow page's length is wrong.", context: .init(page: number))
    }
    // guard: check-overflow-page
    guard self.checksum == checksum, XXH64.hash(covered) == checksum else {
      throw StoreError(.corrupt, "An overflow page's checksum is wrong.", context: .init(page: number))
    }
    guard self.number == number, birth == reference.birth, chunkIndex == index,
      UInt64(totalLength) == reference.count, kind == PageKind.overflow.rawValue
    else {
      throw StoreError(.corrupt, "An overflow page is not the one referred to.", context: .init(page: number))
    }
  }
}

/// Reads values that take more than one page.
struct OverflowReader {
  let geometry: PageGeometry
  let loader: any PageLoader

  /// Reads the whole value into one buffer. The buffer grows as chunks are found and verified, because the
  /// claimed length isn't trusted.
  func read(_ reference: ChildReference, treeID: UInt32) throws(StoreError) -> ValueBytes {
    let byteCount = Int(reference.count)
    let value = OverflowBuffer()
    let chunk = UnsafeMutableRawBufferPointer.allocate(
      byteCount: PageGeometry.chunkByteCount,
      alignment: 16
    )
    defer { chunk.deallocate() }
    var number = reference.location.number
    var checksum = reference.checksum
    var offset = 0
    var index: UInt32 = 0
    while offset < byteCount {
      let payload = min(byteCount - offset, PageGeometry.chunkPayload)
      let pageCount = (payload + PageHeader.byteCount + geometry.pageSize - 1) >> geometry.pageShift
      let target = UnsafeMutableRawBufferPointer(rebasing: chunk[..<(pageCount << geometry.pageShift)])
      try loader.loadPages(from: number, into: target)
      let image = OverflowChunk(UnsafeRawBufferPointer(target).start)
      try image.validate(number: number, checksum: checksum, reference: reference, index: index)
      guard image.treeID == treeID else { throw PagePool.misplaced(.page(number)) }
      value.append(image.payload, limit: byteCount)
      offset += payload
      number += UInt64(pageCount)
      checksum = image.nextChecksum
      index += 1
    }
    return ValueBytes(owner: value)
  }
}
