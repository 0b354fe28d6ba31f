/// Lays an overflowing value out as chunks.
struct OverflowComposer {
  let value: UnsafeRawBufferPointer
  let treeID: UInt32
  let birth: UInt64
  let firstPage: UInt64
  let geometry: PageGeometry

  private func number(ofChunk index: Int) -> UInt64 {
    firstPage + UInt64(index * PageGeometry.chunkByteCount >> geometry.pageShift)
  }

  private var chunkCount: Int { (value.count + PageGeometry.chunkPayload - 1) / PageGeometry.chunkPayload }

  /// Passes the chunks to the sink, first to last, and returns the checksum of the first one, which covers
  /// all.
  func write(to sink: PageWriter.Sink) throws(StoreError) -> UInt64 {
    let buffer = UnsafeMutableRawBufferPointer.allocate(
      byteCount: min(
        PageGeometry.chunkByteCount,
        geometry.overflowPageCount(value.count) << geometry.pageShift
      ),
      alignment: 16
    )
    defer { buffer.deallocate() }
    let count = chunkCount
    // Each chunk contains the checksum of the next one, so they are computed from the last to the first.
    var checksums = [UInt64](repeating: 0, count: count + 1)
    for index in stride(from: count - 1, through: 1, by: -1) {
      let chunk = compose(index, next: checksums[index + 1], in: buffer)
      checksums[index] = UInt64(littleEndian: chunk.loadUnaligned(as: UInt64.self))
    }
    for index in 0..<count {
      let chunk = compose(index, next: checksums[index + 1], in: buffer)
      checksums[index] = UInt64(littleEndian: chunk.loadUnaligned(as: UInt64.self))
      try sink(number(ofChunk: index), chunk)
    }
    return checksums[0]
  }

  /// Composes a chunk at the start of `buffer`; returns its whole pages.
  private func compose(
    _ index: Int,
    next: UInt64,
    in buffer: UnsafeMutableRawBufferPointer
  ) -> UnsafeRawBufferPointer {
    let offset = index * PageGeometry.chunkPayload
    let payload = UnsafeRawBufferPointer(
      rebasing: value[offset..<min(value.count, offset + PageGeometry.chunkPayload)]
    )
    let used = PageHeader.byteCount + payload.count
    let byteCount = (used + geometry.pageSize - 1) & ~(geometry.pageSize - 1)
    let chunk = UnsafeMutableRawBufferPointer(rebasing: buffer[..<byteCount])
    // A chunk is at least a page long.
    let base = chunk.baseAddress.unsafelyUnwrapped
    base.initializeMemory(as: UInt8.self, repeating: 0, count: PageHeader.byteCount)
    base.storeLittle(number(ofChunk: index), PageHeader.number)
    base.storeLittle(birth, PageHeader.birth)
    base.storeLittle(treeID, PageHeader.treeID)
    base.storeLittle(PageKind.overflow.rawValue, PageHeader.kind)
    base.storeLittle(UInt32(payload.count), PageHeader.payloadLength)
    base.storeLittle(UInt32(index), PageHeader.chunkIndex)
    base.storeLittle(next, PageHeader.nextChecksum)
    base.storeLittle(UInt32(value.count), PageHeader.totalLength)
    (base + PageHeader.byteCount).copyMemory(from: payload.start, byteCount: payload.count)
    (base + used).initializeMemory(as: UInt8.self, repeating: 0, count: byteCount - used)
    base.storeLittle(
      XXH64.hash(UnsafeRawBufferPointer(start: base + 8, count: used - 8)),
      PageHeader.checksum
    )
    return UnsafeRawBufferPointer(chunk)
  }
}
