/// Turns what is only in memory of a version's trees into pages of the file: the heart of a checkpoint.
///
/// Walks from each root down through the frames, which end wherever a page of the file begins, and hands out
/// finished images bottom-up, numbered one after the other from a first number on. The frames themselves stay
/// as they are, for the snapshots that read them; the images are copies, kept to serve later reads.
///
/// ```
/// let count = PageWriter.pageCount(of: roots, in: pool)      // reserve that many pages, then
/// var writer = PageWriter(pool: pool, firstPage: extent)
/// let written = roots.map { writer.write($0, to: sink) }     // sync, then
/// pool.adopt(writer.images)                                  // or, after a failure, discard
/// ```
struct PageWriter {
  typealias Sink = (UnsafeRawBufferPointer) throws(StoreError) -> Void

  private let pool: PagePool
  private let geometry: PageGeometry
  /// The number of the next page.
  private(set) var nextPage: UInt64
  /// The images handed out so far that are worth keeping.
  private(set) var images = WrittenPages()
  /// Frames and buffers that the written versions don't need any more.
  private(set) var replaced = RetiredMemory()

  init(pool: PagePool, firstPage: UInt64) {
    self.pool = pool
    geometry = pool.geometry
    nextPage = firstPage
  }

  /// How many pages writing `roots` will take.
  static func pageCount(of roots: some Sequence<TreeRoot>, in pool: PagePool) -> UInt64 {
    var count: UInt64 = 0
    for root in roots where root.height > 0 { count += pageCount(of: root.reference, in: pool) }
    return count
  }

  private static func pageCount(of reference: ChildReference, in pool: PagePool) -> UInt64 {
    guard reference.location.isFrame else { return 0 }
    let page = PageImage(UnsafeRawPointer(pool.arena.address(reference.location.number)))
    var count: UInt64 = 1
    if page.flags & PageFlags.hasOverflow != 0 { count += overflowPageCount(of: page, in: pool) }
    if !page.isLeaf {
      for index in 0..<page.count {
        count += pageCount(of: ChildReference(loading: page.reference(index)), in: pool)
      }
    }
    return count
  }

  private static func overflowPageCount(of page: PageImage, in pool: PagePool) -> UInt64 {
    var count: UInt64 = 0
    for index in 0..<page.count {
      for offset in page.overflowReferences(index) {
        let reference = ChildReference(loading: page.base + offset)
        guard reference.location.isFrame else { continue }
        count += UInt64(pool.geometry.overflowPageCount(Int(reference.count)))
      }
    }
    return count
  }

  /// Writes what is only in memory of a tree; returns the root of the tree in the file.
  mutating func write(_ root: TreeRoot, to sink: Sink) throws(StoreError) -> TreeRoot {
    guard root.height > 0 else { return root }
    var written = root
    written.reference = try writePage(root.reference, to: sink)
    return written
  }

  private mutating func writePage(
    _ reference: ChildReference,
    to sink: Sink
  ) throws(StoreError) -> ChildReference {
    guard reference.location.isFrame else { return reference }
    let frame = pool.arena.allocate()
    let image = pool.arena.address(frame)
    do throws(StoreError) {
      let page = PageImage(UnsafeRawPointer(pool.arena.address(reference.location.number)))
      copy(page, to: image)
      for index in 0..<page.count {
        if !page.isLeaf {
          let child = try writePage(ChildReference(loading: page.reference(index)), to: sink)
          child.store(to: image + page.slot(index).offset)
        }
        for offset in page.overflowReferences(index) {
          let overflow = ChildReference(loading: page.base + offset)
          try writeOverflow(overflow, treeID: page.treeID, to: sink).store(to: image + offset)
        }
      }
      return try finish(image, frame, reference, to: sink)
    } catch {
      pool.arena.free(CollectionOfOne(frame))
      throw error
    }
  }

  /// Copies a page with its free space zeroed, so that nothing of what the frame held before gets into the
  /// file.
  private func copy(_ page: PageImage, to image: UnsafeMutableRawPointer) {
    let low = PageHeader.byteCount + PageSlot.byteCount * page.count
    let heap = page.heapStart
    image.copyMemory(from: page.base, byteCount: low)
    (image + low).initializeMemory(as: UInt8.self, repeating: 0, count: heap - low)
    (image + heap).copyMemory(from: page.base + heap, byteCount: geometry.pageSize - heap)
  }

  /// Numbers and seals an image and hands it out.
  private mutating func finish(
    _ image: UnsafeMutableRawPointer,
    _ frame: UInt64,
    _ old: ChildReference,
    to sink: Sink
  ) throws(StoreError) -> ChildReference {
    image.storeLittle(nextPage, PageHeader.number)
    let checksum = XXH64.hash(UnsafeRawBufferPointer(start: image + 8, count: geometry.pageSize - 8))
    image.storeLittle(checksum, PageHeader.checksum)
    try sink(UnsafeRawBufferPointer(start: image, count: geometry.pageSize))
    var written = old
    written.location = .page(nextPage)
    written.checksum = checksum
    images.pages.append((number: nextPage, frame: frame))
    replaced.frames.append(old.location.number)
    nextPage += 1
    return written
  }

  // MARK: Overflow

  private mutating func writeOverflow(
    _ reference: ChildReference,
    treeID: UInt32,
    to sink: Sink
  ) throws(StoreError) -> ChildReference {
    guard reference.location.isFrame else { return reference }
    let value = pool.blobs.bytes(reference.location.number)
    let composer = OverflowComposer(
      value: value,
      treeID: treeID,
      birth: reference.birth,
      firstPage: nextPage,
      geometry: geometry
    )
    var written = reference
    written.location = .page(nextPage)
    written.checksum = try composer.write(to: sink)
    replaced.blobs.append(reference.location.number)
    nextPage += UInt64(geometry.overflowPageCount(value.count))
    return written
  }
}

extension PageImage {
  /// Offsets in the page of an entry's references to overflow pages: key's rest, value.
  func overflowReferences(_ index: Int) -> [Int] {
    let slot = self.slot(index)
    guard slot.flags != 0 else { return [] }
    var offsets: [Int] = []
    if slot.keyOverflows { offsets.append(keyRest(slot) - base) }
    if slot.valueOverflows { offsets.append(leafPayload(slot).start - base) }
    return offsets
  }
}

/// Lays an overflowing value out as chunks.
struct OverflowComposer {
  let value: UnsafeRawBufferPointer
  let treeID: UInt32
  let birth: UInt64
  let firstPage: UInt64
  let geometry: PageGeometry

  private var chunkCount: Int { (value.count + PageGeometry.chunkPayload - 1) / PageGeometry.chunkPayload }

  /// Hands out the chunks, first to last, and returns the first one's checksum, which vouches for all.
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
    // Each chunk has the next one's checksum, so they are known from the last to the first.
    var checksums = [UInt64](repeating: 0, count: count + 1)
    for index in stride(from: count - 1, through: 1, by: -1) {
      let chunk = compose(index, next: checksums[index + 1], in: buffer)
      checksums[index] = UInt64(littleEndian: chunk.loadUnaligned(as: UInt64.self))
    }
    for index in 0..<count {
      let chunk = compose(index, next: checksums[index + 1], in: buffer)
      checksums[index] = UInt64(littleEndian: chunk.loadUnaligned(as: UInt64.self))
      try sink(chunk)
    }
    return checksums[0]
  }

  /// Composes a chunk at the start of `buffer`; returns it, whole pages long.
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
    let pagesPerChunk = PageGeometry.chunkByteCount >> geometry.pageShift
    base.storeLittle(firstPage + UInt64(index * pagesPerChunk), PageHeader.number)
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
