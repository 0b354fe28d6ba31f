import Synchronization

/// Reads pages of a store's file for its ``PagePool``.
protocol PageLoader: AnyObject, Sendable {
  /// Fills `buffer` with the file's bytes from the start of page `number`. Fails when the file is shorter.
  func loadPages(from number: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(StoreError)
  /// The file's path, for errors; nil if it has none.
  var path: String? { get }
}

extension PageLoader {
  var path: String? { nil }
}

/// The pages of one store in memory: frames that no checkpoint has written yet, and a cache of the file's
/// pages.
///
/// Readers take no lock: a child reference leads to a page's bytes through a table of atomic words. A page is
/// read from the file and verified when it is needed and isn't in memory.
/// Invariants:
///
/// 1. A page that others can reach is never changed; a transaction changes only frames it made itself.
/// 2. A page that came from the file is published only after ``PageImage/validate(_:as:)``.
/// 3. A frame of a version is released only when no snapshot can reach it. The caller of
///    ``free(_:mayBeNamed:)`` makes sure of that.
/// 4. A page of the cache is released only when no reader can be reading it: ``ReaderTable``.
final class PagePool: Sendable {
  let geometry: PageGeometry
  let arena: FrameArena
  let blobs: BlobTable
  let readers: ReaderTable
  let cache: PageCache
  /// The pages to which frames were written.
  let places: StoredPlaces
  private let loader: any PageLoader
  private let table: PageTable
  /// Freed frames that cursors of expired snapshots may still protect by address.
  private let named = Mutex(RetiredPages<UInt64>(batchCount: 32))
  // Safety: written once, before the pool is shared.
  nonisolated(unsafe) private let mapFields: UnsafeMutablePointer<PageMap.Fields>

  // Safety: written once, before the pool is shared.
  /// A word that never changes. Cursors over an immutable version watch it instead of a transaction's change
  /// counter.
  nonisolated(unsafe) let unchanging: UnsafePointer<UInt64>

  /// - Parameter cacheBudget: memory for pages that could be read from the file again.
  init(pageSize: Int, loader: any PageLoader, cacheBudget: MemoryBudget = MemoryBudget()) {
    geometry = PageGeometry(pageSize: pageSize)
    let memory = SharedMapping(byteCount: Self.mappedByteCount)
    readers = ReaderTable(in: memory)
    arena = FrameArena(geometry: geometry, in: memory)
    table = PageTable(in: memory)
    blobs = BlobTable(readers: readers, in: memory)
    places = StoredPlaces(in: memory)
    cache = PageCache(
      budget: cacheBudget,
      arena: arena,
      table: table,
      places: places,
      readers: readers
    )
    self.loader = loader
    let word = UnsafeMutablePointer<UInt64>.allocate(capacity: 1)
    word.initialize(to: 0)
    unchanging = UnsafePointer(word)
    mapFields = .allocate(capacity: 1)
    mapFields.initialize(
      to: PageMap.Fields(
        slabs: arena.slabs,
        pages: table,
        geometry: geometry,
        readers: Unmanaged.passUnretained(readers),
        pool: Unmanaged.passUnretained(self)
      )
    )
  }

  /// Bytes of the mapping that the parts of a pool share.
  private static let mappedByteCount =
    ReaderTable.mappedByteCount + FrameArena.mappedByteCount + 2 * AtomicTable.mappedByteCount
    + BlobTable.mappedByteCount

  deinit {
    table.deallocate()
    places.deallocate()
    unchanging.deallocate()
    mapFields.deallocate()
  }

  /// The map of the pool's pages, valid as long as the pool lives.
  var map: PageMap { PageMap(mapFields) }

  // MARK: Pages

  /// Reads, verifies and publishes the page of a reference that isn't in memory. If two threads do so at
  /// once, the first one's copy stays. The caller has begun to read (``ReaderTable``).
  func load(_ reference: ChildReference, identity: UInt64) throws(StoreError) -> PageImage {
    let (frame, image) = try read(reference, identity: identity)
    FrameHeader(arena.address(frame)).markLoaded()
    return PageImage(publish(frame, number: image.number, isLoaded: true))
  }

  /// Returns a copy of a page in a frame of its own, which the caller frees in ``arena``. This is for walks
  /// that look at each page once. The copy is read from the file if the page is there.
  func copy(_ reference: ChildReference, identity: UInt64) throws(StoreError) -> (UInt64, PageImage) {
    let place = reference.location.isFrame ? storedPlace(ofPage: reference) : .none
    guard reference.location.isFrame, place.isNone else {
      return try read(place.isNone ? reference : reference.moved(to: place), identity: identity)
    }
    // A frame that no checkpoint has written can't be evicted, unless a checkpoint writes it at this moment.
    let reader = readers.enter()
    defer { reader.leave() }
    let image = try map.page(reference, identity: identity)
    let frame = arena.allocate()
    let bytes = arena.address(frame)
    bytes.copyMemory(from: image.base, byteCount: geometry.pageSize)
    FrameHeader(bytes).clearMarks()
    return (frame, PageImage(UnsafeRawPointer(bytes)))
  }

  /// Reads a page of the file into a new frame, and verifies it.
  private func read(_ reference: ChildReference, identity: UInt64) throws(StoreError) -> (UInt64, PageImage) {
    let number = reference.location.rawValue
    try checkNumber(number)
    let frame = arena.allocate()
    let bytes = arena.address(frame)
    do throws(StoreError) {
      try loader.loadPages(
        from: number,
        into: UnsafeMutableRawBufferPointer(start: bytes, count: geometry.pageSize)
      )
      let image = PageImage(UnsafeRawPointer(bytes))
      try image.validate(geometry, as: reference)
      guard image.identity == identity else { throw Self.misplaced(reference.location) }
      return (frame, image)
    } catch {
      arena.free(CollectionOfOne(frame))
      throw located(error)
    }
  }

  /// Returns the error, with the file's path in its context.
  private func located(_ error: StoreError) -> StoreError {
    error.context.path == nil ? error.adding { $0.path = loader.path } : error
  }

  /// Publishes a verified image under `number`. Returns the image that is found there, which another thread
  /// may have published first.
  private func publish(_ frame: UInt64, number: UInt64, isLoaded: Bool) -> UnsafeRawPointer {
    let bytes = UnsafeRawPointer(arena.address(frame))
    while !table.publish(bytes, number: number) {
      // The image of the other thread may be evicted before this lookup.
      guard let other = table.lookUp(number) else { continue }
      arena.free(CollectionOfOne(frame))
      return other
    }
    cache.insert(page: frame, number: number, isLoaded: isLoaded)
    return bytes
  }

  private func checkNumber(_ number: UInt64) throws(StoreError) {
    guard number != 0, number < PageTable.count else {
      throw StoreError(
        .corrupt,
        "A reference leads to an impossible page number.",
        context: .init(page: number)
      )
    }
  }

  static func misplaced(_ location: PageLocation) -> StoreError {
    StoreError(
      .corrupt,
      "A reference leads to a page of another tree or level.",
      context: .init(page: location.isFrame ? nil : location.number)
    )
  }

  // MARK: Overflow

  /// Returns the bytes of an overflowing value, or of the rest of a key. Overflows of several pages are read
  /// from the file each time. The caller has begun to read (``ReaderTable``).
  func overflow(_ reference: ChildReference, treeID: UInt32) throws(StoreError) -> ValueBytes {
    if reference.location.isFrame {
      if let bytes = blobs.bytes(reference.location.number) { return bytes }
      return try overflow(reference.moved(to: storedPlace(ofOverflow: reference)), treeID: treeID)
    }
    try checkOverflow(reference)
    guard Int(reference.count) <= geometry.capacity else {
      return try readOverflow(reference, treeID: treeID)
    }
    let resident = table.lookUp(reference.location.rawValue)
    let page = if let resident { resident } else { try loadOverflowPage(reference) }
    let image = OverflowChunk(page)
    guard image.kind == PageKind.overflow.rawValue, image.treeID == treeID,
      image.payloadLength == Int(reference.count)
    else {
      throw located(Self.misplaced(reference.location))
    }
    return ValueBytes(borrowing: image.payload, in: page)
  }

  /// Reads the bytes of an overflow from the file, page after page.
  private func readOverflow(_ reference: ChildReference, treeID: UInt32) throws(StoreError) -> ValueBytes {
    do throws(StoreError) {
      return try OverflowReader(geometry: geometry, loader: loader).read(reference, treeID: treeID)
    } catch {
      throw located(error)
    }
  }

  /// Returns the bytes of an overflow, read from the file if they are there. Nothing is added to the cache.
  func copyOverflow(_ reference: ChildReference, treeID: UInt32) throws(StoreError) -> ValueBytes {
    var reference = reference
    if reference.location.isFrame {
      let place = storedPlace(ofOverflow: reference)
      if place.isNone {
        let reader = readers.enter()
        defer { reader.leave() }
        if let bytes = blobs.bytes(reference.location.number) { return bytes.copy() }
      }
      reference = reference.moved(to: storedPlace(ofOverflow: reference))
    }
    try checkOverflow(reference)
    return try readOverflow(reference, treeID: treeID)
  }

  private func checkOverflow(_ reference: ChildReference) throws(StoreError) {
    try checkNumber(reference.location.rawValue)
    let byteCount = Int(reference.count)
    guard byteCount > 0, byteCount <= StoreLimits.valueByteCount else {
      throw StoreError(
        .corrupt,
        "An overflow reference has an impossible length.",
        context: .init(path: loader.path, page: reference.location.rawValue)
      )
    }
  }

  private func loadOverflowPage(_ reference: ChildReference) throws(StoreError) -> UnsafeRawPointer {
    let frame = arena.allocate()
    let bytes = arena.address(frame)
    do throws(StoreError) {
      let buffer = UnsafeMutableRawBufferPointer(start: bytes, count: geometry.pageSize)
      try loader.loadPages(from: reference.location.number, into: buffer)
      try OverflowChunk(UnsafeRawPointer(bytes)).validate(
        number: reference.location.number,
        checksum: reference.checksum,
        reference: reference,
        index: 0
      )
    } catch {
      arena.free(CollectionOfOne(frame))
      throw located(error)
    }
    return publish(frame, number: reference.location.number, isLoaded: true)
  }

  // MARK: Release

  /// Frees memory that a finished transaction has replaced. Only when no snapshot is left that could reach
  /// it.
  ///
  /// - Parameter mayBeNamed: true if a cursor of an expired snapshot may still protect a frame or buffer by
  ///   its address. It is then reused once no cursor protects it.
  func free(_ memory: RetiredMemory, mayBeNamed: Bool = false) {
    free(frames: memory.frames.map(\.number), blobs: memory.blobs.map(\.number), mayBeNamed: mayBeNamed)
    if !memory.pages.isEmpty { cache.drop(memory.pages.lazy.map(\.first)) }
  }

  /// Frees frames and overflow buffers by number, as ``free(_:mayBeNamed:)`` does.
  func free(frames: [UInt64], blobs numbers: [UInt64], mayBeNamed: Bool = false) {
    if !frames.isEmpty {
      cache.forget(frames)
      if mayBeNamed { named.withLock { hold(frames, &$0) } } else { arena.free(frames) }
    }
    if !numbers.isEmpty { blobs.free(numbers, mayBeNamed: mayBeNamed) }
  }

  private func hold(_ frames: [UInt64], _ named: inout RetiredPages<UInt64>) {
    for frame in frames { named.insert(frame, at: arena.address(frame), readers) }
    arena.free(named.sweep(readers))
  }

  /// Makes all freed memory available again that no reader uses.
  func reuseFreed() {
    named.withLock { arena.free($0.sweep(readers, regardless: true)) }
    blobs.reuseFreed()
  }

  /// Publishes, under their numbers, the images of pages that a checkpoint has written, so that the pages
  /// need not be read from the file.
  func adopt(_ written: WrittenPages) {
    for (number, frame) in written.pages + written.converted {
      _ = publish(frame, number: number, isLoaded: false)
    }
  }

  /// Frees the images of a checkpoint that failed.
  func discard(_ written: WrittenPages) {
    arena.free(written.pages.lazy.map(\.frame))
  }

  /// Bytes of pages in memory.
  var residentByteCount: Int {
    arena.usedByteCount - cache.statistics.evictedFrameCount * geometry.pageSize + blobs.usedByteCount
  }
}

/// The images of a checkpoint, which go into the cache when they are durable.
struct WrittenPages: Sendable {
  /// Copies of frames.
  var pages: [(number: UInt64, frame: UInt64)] = []
  /// Frames of a transaction that became images themselves. If the checkpoint fails, they are freed with the
  /// transaction.
  var converted: [(number: UInt64, frame: UInt64)] = []

  static func += (left: inout WrittenPages, right: WrittenPages) {
    left.pages += right.pages
    left.converted += right.converted
  }
}
