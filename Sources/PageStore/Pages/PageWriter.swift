/// Writes the pages of a version's trees that are only in memory to the file: the main part of a checkpoint.
///
/// It walks from each root down through the frames, until it meets pages of the file or frames that were
/// written before. It passes finished images to a sink, bottom-up, with page numbers that were reserved
/// before. The frames themselves don't change, because readers may use them. Only those of a transaction that
/// isn't visible yet become images in place.
///
/// ```
/// let plan = WritingPlan(roots, .replacing, in: pool)                    // take that many pages, then
/// var writer = PageWriter(pool: pool, mode: .replacing, placement: taken, packings: plan.packings)
/// let written = roots.map { writer.write($0, to: sink) }                 // sync, then
/// pool.adopt(writer.images)                                              // or, after a failure, discard
/// ```
struct PageWriter {
  /// Takes an image of one or more whole pages, and the number of the first page.
  typealias Sink = (_ number: UInt64, UnsafeRawBufferPointer) throws(StoreError) -> Void

  enum Mode {
    /// The written versions replace those in memory: the images are kept for later reads, frames that are no
    /// longer needed are listed, and leaves are packed.
    case replacing
    /// Later versions refer to the frames, which therefore stay. The pages to which they were written are
    /// listed.
    case concurrent
  }

  private let pool: PagePool
  private let geometry: PageGeometry
  private let mode: Mode
  /// The transaction that is being committed, whose frames no other thread can see.
  private let unseenCommit: UInt64?
  /// True if the writer may put new images into frames that packing has replaced. False while the transaction
  /// continues, because a ``FoundValue`` of it may point into such a frame.
  private let reusesFrames: Bool
  /// Plans for branches of level 1, by frame; others are made when they are needed.
  private let packings: [UInt64: LeafPacking]
  /// The page numbers that are left.
  private(set) var placement: PagePlacement
  /// Pages written so far.
  private(set) var pageCount: UInt64 = 0
  /// The images handed out so far that are worth keeping.
  private(set) var images = WrittenPages()
  /// Frames and buffers that the written versions don't need any more.
  var replaced: RetiredMemory { RetiredMemory(frames: replacedFrames + spareFrames, blobs: replacedBlobs) }
  private var replacedFrames: [RetiredItem] = []
  private var replacedBlobs: [RetiredItem] = []
  /// Replaced frames that no other thread has seen. They are reused for images, which costs less than memory
  /// that was never touched.
  private var spareFrames: [RetiredItem] = []
  /// The pages to which frames and buffers that stay were written.
  private(set) var stored = StoredFrames()

  init(
    pool: PagePool,
    mode: Mode,
    placement: PagePlacement,
    packings: [UInt64: LeafPacking] = [:],
    unseenCommit: UInt64? = nil,
    reusesFrames: Bool = true
  ) {
    self.pool = pool
    self.mode = mode
    self.packings = packings
    self.unseenCommit = unseenCommit
    self.reusesFrames = reusesFrames
    geometry = pool.geometry
    self.placement = placement
  }

  /// Writes the pages of a tree that are only in memory; returns the root of the tree in the file.
  mutating func write(_ root: TreeRoot, to sink: Sink) throws(StoreError) -> TreeRoot {
    guard root.height > 0 else { return root }
    var written = root
    written.reference = try writePage(root.reference, treeID: root.treeID, to: sink)
    return written
  }

  /// Writes a page, and the pages below it, that are only in memory; returns the reference to the page of the
  /// file.
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
      let packing = packings[reference.location.number] ?? LeafPacking(page, in: pool)
      if packing.packsAny { return try writePacked(page, packing, reference, to: sink) }
    }
    let isUnseen = page.birth == unseenCommit
    let frame = isUnseen ? reference.location.number : pool.arena.allocate()
    let image = pool.arena.address(frame)
    do throws(StoreError) {
      if isUnseen { zeroFreeSpace(image) } else { copy(page, to: image) }
      if !page.isLeaf {
        for index in 0..<page.count {
          let child = ChildReference(loading: page.reference(index))
          let written = try writePage(child, treeID: treeID, to: sink)
          written.store(to: image + page.slot(index).offset)
        }
      }
      for offset in page.overflowReferences {
        let overflow = ChildReference(loading: page.base + offset)
        try writeOverflow(overflow, treeID: page.treeID, to: sink).store(to: image + offset)
      }
      let written = try finish(image, birth: reference.birth, count: reference.count, to: sink)
      keep(frame, as: written, insteadOf: reference, treeID: page.treeID)
      return written
    } catch {
      if !isUnseen { pool.arena.free(CollectionOfOne(frame)) }
      throw error
    }
  }

  /// Keeps or frees the frame of an image that was passed to the sink, and notes whether the old frame has
  /// become the image, is replaced, or stays.
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

  /// Copies a page and zeroes its free space, so that earlier contents of the frame don't get into the file.
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

  /// Numbers and seals an image, and passes it to the sink.
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

  /// Takes the numbers of `count` adjacent pages; returns the first.
  private mutating func takeNumbers(_ count: UInt64) throws(StoreError) -> UInt64 {
    guard let first = placement.take(run: count) else {
      throw StoreError(.diskFull, "a checkpoint has more pages than were counted for it")
    }
    pageCount += count
    return first
  }

  /// Lists the memory of a subtree that was written before, and which the pages of the file now replace.
  private mutating func replaceAll(below reference: ChildReference, treeID: UInt32) {
    guard reference.location.isFrame else { return }
    replacedFrames.append(RetiredItem(reference: reference, treeID: treeID))
    // An evicted frame refers to nothing in memory.
    if pool.isEvicted(reference) { return }
    let page = PageImage(UnsafeRawPointer(pool.arena.address(reference.location.number)))
    if !page.isLeaf {
      for index in 0..<page.count {
        replaceAll(below: ChildReference(loading: page.reference(index)), treeID: treeID)
      }
    }
    for offset in page.overflowReferences {
      let overflow = ChildReference(loading: page.base + offset)
      if overflow.location.isFrame {
        replacedBlobs.append(RetiredItem(reference: overflow, treeID: treeID))
      }
    }
  }

  // MARK: Packed leaves

  /// Packs and writes the leaves below a branch of level 1, and writes the branch.
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
    // The leaves are retired only now, because the separators point into them.
    let written = try writeBranch(branch, packing.separators, children, reference, to: sink)
    for old in oldLeaves + [reference] { replace(old, treeID: branch.treeID) }
    return written
  }

  /// Lists a frame that other pages have replaced.
  private mutating func replace(_ old: ChildReference, treeID: UInt32) {
    let item = RetiredItem(reference: old, treeID: treeID)
    if reusesFrames, old.birth == unseenCommit {
      spareFrames.append(item)
    } else {
      replacedFrames.append(item)
    }
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

  /// Lays entries out in a new page and writes it. Its birth is that of its branch, because no page is
  /// younger than the pages that refer to it.
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

  /// Writes an overflowing value, or the rest of a key, that is only in memory; returns the reference to it
  /// in the file.
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
    // A buffer that wasn't written isn't evicted.
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
  /// The offsets in the page of all references to overflow pages. No entry is looked at in a page that has
  /// none.
  var overflowReferences: [Int] {
    guard flags & PageFlags.hasOverflow != 0 else { return [] }
    return (0..<count).flatMap { overflowReferences($0) }
  }

  /// Returns the offsets in the page of an entry's references to overflow pages: that of the key's rest, and
  /// that of the value.
  func overflowReferences(_ index: Int) -> [Int] {
    let slot = self.slot(index)
    guard slot.flags != 0 else { return [] }
    var offsets: [Int] = []
    if slot.keyOverflows { offsets.append(keyRest(slot) - base) }
    if slot.valueOverflows { offsets.append(leafPayload(slot).start - base) }
    return offsets
  }
}
