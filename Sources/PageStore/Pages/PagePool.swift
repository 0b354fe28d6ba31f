/// Reads pages of a store's file for its ``PagePool``.
protocol PageLoader: AnyObject, Sendable {
  /// Fills `buffer` with the file's bytes from the start of page `number`. Fails when the file is shorter.
  func loadPages(from number: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(StoreError)
  /// The file's path, for errors; nil where there is none.
  var path: String? { get }
}

extension PageLoader {
  var path: String? { nil }
}

/// The pages of one store in memory: frames that no checkpoint has written yet, and pages that were read.
///
/// Readers take no lock: a child reference leads to a page's bytes through a table of atomic words. A page is
/// read from the file and verified once, the first time it is needed, and stays until the store is closed.
/// Invariants:
///
/// 1. A page that others can reach is never changed; a transaction changes only frames it made itself.
/// 2. A page that came from the file is published only after ``PageImage/validate(_:as:treeID:level:)``.
/// 3. A frame is released only when no snapshot can reach it; the caller of ``free(_:)`` answers for that.
final class PagePool: Sendable {
  let geometry: PageGeometry
  let arena: FrameArena
  let blobs: BlobTable
  private let loader: any PageLoader
  /// Address of the bytes of each page that was read, by page number.
  private let pages: AtomicTable
  // Safety: written once, before anybody can see it.
  nonisolated(unsafe) private let mapFields: UnsafeMutablePointer<PageMap.Fields>

  // Safety: written once, before anybody can see it.
  /// Never changes: what cursors over an immutable version watch instead of a transaction's change counter.
  nonisolated(unsafe) let unchanging: UnsafePointer<UInt64>

  init(pageSize: Int, loader: any PageLoader) {
    geometry = PageGeometry(pageSize: pageSize)
    arena = FrameArena(geometry: geometry)
    blobs = BlobTable()
    pages = AtomicTable()
    self.loader = loader
    let word = UnsafeMutablePointer<UInt64>.allocate(capacity: 1)
    word.initialize(to: 0)
    unchanging = UnsafePointer(word)
    mapFields = .allocate(capacity: 1)
    mapFields.initialize(
      to: PageMap.Fields(
        slabs: arena.slabs,
        pages: pages,
        geometry: geometry,
        pool: Unmanaged.passUnretained(self)
      )
    )
  }

  deinit {
    pages.deallocate()
    unchanging.deallocate()
    mapFields.deallocate()
  }

  /// The way to the pages, good as long as the pool lives.
  var map: PageMap { PageMap(mapFields) }

  // MARK: Pages

  /// Reads a page, verifies it and publishes it. Two threads may do so at once; the first one's copy stays.
  func load(_ reference: ChildReference, identity: UInt64) throws(StoreError) -> PageImage {
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
    } catch {
      arena.free(CollectionOfOne(frame))
      throw located(error)
    }
    return PageImage(publish(frame, number: number))
  }

  /// The failure of a page, with the file that it is in.
  private func located(_ error: StoreError) -> StoreError {
    error.context.path == nil ? error.adding { $0.path = loader.path } : error
  }

  /// Makes a verified image the one that everybody finds under `number`, unless another was quicker.
  private func publish(_ frame: UInt64, number: UInt64) -> UnsafeRawPointer {
    let bytes = UnsafeRawPointer(arena.address(frame))
    if pages.publish(UInt(bitPattern: bytes), at: number) { return bytes }
    arena.free(CollectionOfOne(frame))
    // Publishing failed because there was a page already, and pages are never taken out again.
    return UnsafeRawPointer(bitPattern: pages.load(number)).unsafelyUnwrapped
  }

  private func checkNumber(_ number: UInt64) throws(StoreError) {
    guard number != 0, number < AtomicTable.count else {
      throw StoreError(
        .corrupt,
        "A reference leads to a page number that can't be.",
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

  /// The bytes of an overflowing value or key's rest. Those of several pages are read anew each time.
  func overflow(_ reference: ChildReference, treeID: UInt32) throws(StoreError) -> ValueBytes {
    if reference.location.isFrame { return ValueBytes(borrowing: blobs.bytes(reference.location.number)) }
    let number = reference.location.rawValue
    try checkNumber(number)
    let byteCount = Int(reference.count)
    guard byteCount > 0, byteCount <= StoreLimits.valueByteCount else {
      throw StoreError(
        .corrupt,
        "An overflow reference has an impossible length.",
        context: .init(page: number)
      )
    }
    guard byteCount <= geometry.capacity else {
      return try OverflowReader(geometry: geometry, loader: loader).read(reference, treeID: treeID)
    }
    let image: OverflowChunk
    if let bytes = UnsafeRawPointer(bitPattern: pages.load(number)) {
      image = OverflowChunk(bytes)
    } else {
      image = try loadOverflowPage(reference)
    }
    guard image.kind == PageKind.overflow.rawValue, image.treeID == treeID, image.payloadLength == byteCount
    else {
      throw Self.misplaced(reference.location)
    }
    return ValueBytes(borrowing: image.payload)
  }

  private func loadOverflowPage(_ reference: ChildReference) throws(StoreError) -> OverflowChunk {
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
    return OverflowChunk(publish(frame, number: reference.location.number))
  }

  // MARK: Release

  /// Takes back what a finished transaction replaced. Only when no snapshot that could reach it is left.
  func free(_ memory: RetiredMemory) {
    if !memory.frames.isEmpty { arena.free(memory.frames) }
    if !memory.blobs.isEmpty { blobs.free(memory.blobs) }
  }

  /// Makes pages that a checkpoint has written findable under their numbers, so that nobody reads them again.
  func adopt(_ written: WrittenPages) {
    for (number, frame) in written.pages + written.converted { _ = publish(frame, number: number) }
  }

  /// Takes back the images of a checkpoint that failed.
  func discard(_ written: WrittenPages) {
    arena.free(written.pages.lazy.map(\.frame))
  }

  /// Bytes of pages in memory.
  var residentByteCount: Int { arena.usedByteCount + blobs.usedByteCount }
}

/// Frames and overflow buffers that a version no longer needs but an older one may.
struct RetiredMemory: Sendable {
  var frames: [UInt64] = []
  var blobs: [UInt64] = []

  var isEmpty: Bool { frames.isEmpty && blobs.isEmpty }
}

/// The images of a checkpoint: what to put into the cache once they are safely in the file.
struct WrittenPages: Sendable {
  /// Copies of frames.
  var pages: [(number: UInt64, frame: UInt64)] = []
  /// Frames of a transaction that became images themselves; they go with it if it fails.
  var converted: [(number: UInt64, frame: UInt64)] = []
}
