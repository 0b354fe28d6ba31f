/// Turns what is only in memory of a version's trees into pages of the file: the heart of a checkpoint.
///
/// Walks from each root down through the frames, which end wherever a page of the file begins or a frame was written
/// before, and passes finished images to a sink, bottom-up, under page numbers that were reserved before. The frames themselves stay as they are, for those who read them; only those of a transaction that nobody has seen yet become images
/// where they are.
///
/// ```
/// let demand = PageWriter.demand(of: roots, .replacing, in: pool)        // take that many pages, then
/// var writer = PageWriter(pool: pool, mode: .replacing, placement: taken)
/// let written = roots.map { writer.write($0, to: sink) }                 // sync, then
/// pool.adopt(writer.images)                                              // or, after a failure, discard
/// ```
struct PageWriter {
  /// Takes an image that is whole pages long, and the number of its first page.
  typealias Sink = (_ number: UInt64, UnsafeRawBufferPointer) throws(StoreError) -> Void

  enum Mode {
    /// The written versions take the place of those in memory: the images are kept to serve later reads, frames that
    /// nobody needs any more are listed, and leaves are packed.
    case replacing
    /// Others go on building on the frames, which therefore stay: it is listed where each has been written.
    case concurrent
  }

  private let pool: PagePool
  private let geometry: PageGeometry
  private let mode: Mode
  /// The transaction that is being committed, whose frames nobody else can see.
  private let unseenCommit: UInt64?
  /// The numbers that are left.
  private(set) var placement: PagePlacement
  /// Pages written so far.
  private(set) var pageCount: UInt64 = 0
  /// The images handed out so far that are worth keeping.
  private(set) var images = WrittenPages()
  /// Frames and buffers that the written versions don't need any more.
  var replaced: RetiredMemory { RetiredMemory(frames: replacedFrames + spareFrames, blobs: replacedBlobs) }
  private var replacedFrames: [RetiredItem] = []
  private var replacedBlobs: [RetiredItem] = []
  /// Those of them that nobody has seen: they serve for images, which costs less than memory that was never touched.
  private var spareFrames: [RetiredItem] = []
  /// Where frames and buffers that stay have been written.
  private(set) var stored = StoredFrames()

  init(pool: PagePool, mode: Mode, placement: PagePlacement, unseenCommit: UInt64? = nil) {
    self.pool = pool
    self.mode = mode
    self.unseenCommit = unseenCommit
    geometry = pool.geometry
    self.placement = placement
  }

  /// Writes what is only in memory of a tree; returns the root of the tree in the file.
  mutating func write(_ root: TreeRoot, to sink: Sink) throws(StoreError) -> TreeRoot {
    guard root.height > 0 else { return root }
    var written = root
    written.reference = try writePage(root.reference, treeID: root.treeID, to: sink)
    return written
  }

  /// The same for one page and what is below it.
  mutating func writePage(
    _ reference: ChildReference,
    treeID: UInt32,
    to sink: Sink
  ) throws(StoreError) -> ChildReference {
    guard reference.location.isFrame else { return reference }
    let place = pool.storedPlace(ofPage: reference)
    if !place.isNone {
      if mode == .replacing { replaceAll(below: reference, treeID: treeID) }
      return reference.moved(to: place)
    }
    let page = PageImage(UnsafeRawPointer(pool.arena.address(reference.location.number)))
    if page.level == 1, mode == .replacing {
      let packing = LeafPacking(page, in: pool)
      if packing.packsAny { return try writePacked(page, packing, reference, to: sink) }
    }
    let isUnseen = page.birth == unseenCommit
    let frame = isUnseen ? reference.location.number : pool.arena.allocate()
    let image = pool.arena.address(frame)
    do throws(StoreError) {
      if isUnseen { zeroFreeSpace(image) } else { copy(page, to: image) }
      for index in 0..<page.count {
        if !page.isLeaf {
          let child = ChildReference(loading: page.reference(index))
          let written = try writePage(child, treeID: treeID, to: sink)
          written.store(to: image + page.slot(index).offset)
        }
        for offset in page.overflowReferences(index) {
          let overflow = ChildReference(loading: page.base + offset)
          try writeOverflow(overflow, treeID: page.treeID, to: sink).store(to: image + offset)
        }
      }
      let written = try finish(image, birth: reference.birth, count: reference.count, to: sink)
      keep(frame, as: written, insteadOf: reference, treeID: page.treeID)
      return written
    } catch {
      if !isUnseen { pool.arena.free(CollectionOfOne(frame)) }
      throw error
    }
  }

  /// Notes what becomes of an image that was handed out, and of the frame that it is a copy of.
  private mutating func keep(
    _ frame: UInt64,
    as written: ChildReference,
    insteadOf old: ChildReference,
    treeID: UInt32
  ) {
    switch mode {
    case .replacing where frame == old.location.number:
      images.converted.append((number: written.location.number, frame: frame))
    case .replacing:
      images.pages.append((number: written.location.number, frame: frame))
      replacedFrames.append(RetiredItem(reference: old, treeID: treeID))
    case .concurrent:
      stored.frames.append((old.location.number, written.place))
      pool.arena.free(CollectionOfOne(frame))
    }
  }

  /// Copies a page with its free space zeroed, so that nothing of what the frame held before gets into the
  /// file.
  private func copy(_ page: PageImage, to image: UnsafeMutableRawPointer) {
    let low = PageHeader.byteCount + PageSlot.byteCount * page.count
    let heap = page.heapStart
    let start = PageHeader.birth
    (image + start).copyMemory(from: page.base + start, byteCount: low - start)
    (image + heap).copyMemory(from: page.base + heap, byteCount: geometry.pageSize - heap)
    zeroFreeSpace(image)
  }

  private func zeroFreeSpace(_ image: UnsafeMutableRawPointer) {
    let page = PageImage(UnsafeRawPointer(image))
    let low = page.heapStart - page.freeBytes
    (image + low).initializeMemory(as: UInt8.self, repeating: 0, count: page.freeBytes)
  }

  /// Numbers and seals an image and hands it out.
  private mutating func finish(
    _ image: UnsafeMutableRawPointer,
    birth: UInt64,
    count: UInt64,
    to sink: Sink
  ) throws(StoreError) -> ChildReference {
    let number = try takeNumbers(1)
    image.storeLittle(number, PageHeader.number)
    let checksum = XXH64.hash(UnsafeRawBufferPointer(start: image + 8, count: geometry.pageSize - 8))
    image.storeLittle(checksum, PageHeader.checksum)
    try sink(number, UnsafeRawBufferPointer(start: image, count: geometry.pageSize))
    return ChildReference(location: .page(number), checksum: checksum, birth: birth, count: count)
  }

  /// Numbers for pages that lie side by side; returns the first.
  private mutating func takeNumbers(_ count: UInt64) throws(StoreError) -> UInt64 {
    guard let first = placement.take(run: count) else {
      throw StoreError(.diskFull, "a checkpoint has more pages than were counted for it")
    }
    pageCount += count
    return first
  }

  /// Lists what is in memory of a subtree that was written before and now makes room for what is in the file.
  private mutating func replaceAll(below reference: ChildReference, treeID: UInt32) {
    guard reference.location.isFrame else { return }
    replacedFrames.append(RetiredItem(reference: reference, treeID: treeID))
    // What is evicted leads to nothing in memory.
    if pool.isEvicted(reference) { return }
    let page = PageImage(UnsafeRawPointer(pool.arena.address(reference.location.number)))
    for index in 0..<page.count {
      if !page.isLeaf { replaceAll(below: ChildReference(loading: page.reference(index)), treeID: treeID) }
      for offset in page.overflowReferences(index) {
        let overflow = ChildReference(loading: page.base + offset)
        if overflow.location.isFrame {
          replacedBlobs.append(RetiredItem(reference: overflow, treeID: treeID))
        }
      }
    }
  }

  // MARK: Packed leaves

  /// Writes a branch of level 1 whose leaves are packed, and the leaves before it.
  private mutating func writePacked(
    _ branch: PageImage,
    _ packing: LeafPacking,
    _ reference: ChildReference,
    to sink: Sink
  ) throws(StoreError) -> ChildReference {
    var children: [ChildReference] = []
    var oldLeaves: [ChildReference] = []
    for part in packing.parts {
      switch part {
      case .kept(let index):
        let child = ChildReference(loading: branch.reference(index))
        children.append(try writePage(child, treeID: branch.treeID, to: sink))
      case .packed(let run, let starts):
        try packing.withEntries(of: run) { entries throws(StoreError) in
          for (start, end) in zip(starts, starts.dropFirst() + [entries.count]) {
            let leaf = UnsafeBufferPointer(rebasing: entries[start..<end])
            children.append(
              try write(leaf, like: branch, level: 0, count: UInt64(leaf.count), reference, to: sink)
            )
          }
        }
        oldLeaves += run.map { ChildReference(loading: branch.reference($0)) }
      }
    }
    // The separators' bytes are those of the leaves.
    let written = try writeBranch(branch, packing.separators, children, reference, to: sink)
    for old in oldLeaves + [reference] { replace(old, treeID: branch.treeID) }
    return written
  }

  /// Lists a frame that other pages have taken the place of.
  private mutating func replace(_ old: ChildReference, treeID: UInt32) {
    let item = RetiredItem(reference: old, treeID: treeID)
    if old.birth == unseenCommit { spareFrames.append(item) } else { replacedFrames.append(item) }
  }

  private mutating func writeBranch(
    _ branch: PageImage,
    _ separators: [PageEntry],
    _ children: [ChildReference],
    _ reference: ChildReference,
    to sink: Sink
  ) throws(StoreError) -> ChildReference {
    let references = UnsafeMutableRawPointer.allocate(
      byteCount: children.count * ChildReference.byteCount,
      alignment: 8
    )
    defer { references.deallocate() }
    let entries = UnsafeMutableBufferPointer<PageEntry>.allocate(capacity: children.count)
    defer { entries.deallocate() }
    for (index, child) in children.enumerated() {
      let target = references + index * ChildReference.byteCount
      child.store(to: target)
      entries.initializeElement(at: index, to: separators[index])
      entries[index].payload = UnsafeRawPointer(target)
    }
    return try write(
      UnsafeBufferPointer(entries),
      like: branch,
      level: 1,
      count: reference.count,
      reference,
      to: sink
    )
  }

  /// Writes a page that is laid out anew. It is born with its branch: no page is younger than what refers to
  /// it.
  private mutating func write(
    _ entries: UnsafeBufferPointer<PageEntry>,
    like branch: PageImage,
    level: UInt8,
    count: UInt64,
    _ reference: ChildReference,
    to sink: Sink
  ) throws(StoreError) -> ChildReference {
    let spare = spareFrames.popLast()?.number
    let frame = spare ?? pool.arena.allocate()
    let image = pool.arena.address(frame)
    do throws(StoreError) {
      try PageBuilder(geometry: geometry, isLeaf: level == 0).build(
        image,
        treeID: branch.treeID,
        level: level,
        birth: reference.birth,
        entries: entries,
        lonePrefix: 0
      )
      zeroFreeSpace(image)
      let written = try finish(image, birth: reference.birth, count: count, to: sink)
      if spare == nil {
        images.pages.append((number: written.location.number, frame: frame))
      } else {
        images.converted.append((number: written.location.number, frame: frame))
      }
      return written
    } catch {
      if spare == nil { pool.arena.free(CollectionOfOne(frame)) }
      throw error
    }
  }

  // MARK: Overflow

  /// Writes an overflowing value or key's rest; returns the reference to it in the file.
  mutating func writeOverflow(
    _ reference: ChildReference,
    treeID: UInt32,
    to sink: Sink
  ) throws(StoreError) -> ChildReference {
    guard reference.location.isFrame else { return reference }
    let place = pool.storedPlace(ofOverflow: reference)
    if !place.isNone {
      if mode == .replacing { replacedBlobs.append(RetiredItem(reference: reference, treeID: treeID)) }
      return reference.moved(to: place)
    }
    // What was not written is not evicted.
    guard let value = pool.blobs.bytes(reference.location.number)?.bytes else {
      throw PagePool.misplaced(reference.location)
    }
    let first = try takeNumbers(UInt64(geometry.overflowPageCount(value.count)))
    let composer = OverflowComposer(
      value: value,
      treeID: treeID,
      birth: reference.birth,
      firstPage: first,
      geometry: geometry
    )
    var written = reference
    written.location = .page(first)
    written.checksum = try composer.write(to: sink)
    switch mode {
    case .replacing: replacedBlobs.append(RetiredItem(reference: reference, treeID: treeID))
    case .concurrent: stored.blobs.append((reference.location.number, written.place))
    }
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

  private func number(ofChunk index: Int) -> UInt64 {
    firstPage + UInt64(index * PageGeometry.chunkByteCount >> geometry.pageShift)
  }

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
      try sink(number(ofChunk: index), chunk)
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
