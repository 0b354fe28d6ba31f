/// The memory that one write transaction has allocated and replaced: the frames that it may change in place,
/// and those that die with its commit.
///
/// Used by one thread at a time. It ends with exactly one of ``finish()`` and ``abort()``.
final class DirtySet {
  /// The number of the transaction, with which its frames are stamped.
  let commit: UInt64
  let pool: PagePool

  private var frames: [UInt64] = []
  private var blobs: [UInt64] = []
  /// Frames of the transaction that it no longer needs.
  private var spareFrames: [UInt64] = []
  private var spareBlobs: Set<UInt64> = []
  private var spareBlobByteCount = 0
  private var retired = RetiredMemory()
  /// Memory from before the transaction that its trees no longer need, because they now refer to the pages to
  /// which it was written. Unlike ``retired``, it stands for no dead pages of the file.
  private var unneeded = RetiredMemory()
  /// Pages of the file that the transaction has written.
  var early = EarlyPages()
  private var blobByteCount = 0
  private var blobPageCount = 0
  /// Overflows that take several pages.
  private(set) var runs = RunDemand()

  /// True if a checkpoint has begun to write the frames. It changes them in place, so the transaction can't
  /// be tried again.
  private(set) var isUsedUp = false

  /// The frames and buffers of the transaction; nil if its number identifies them.
  private var own: (frames: Set<UInt64>, blobs: Set<UInt64>)?

  /// Keeps pages of the file in memory while an operation of an editor uses them; nil before the first one.
  private var reader: Reader?
  private var isReading = false

  /// - Parameter isCommitTaken: whether frames of other transactions are stamped with `commit`.
  init(commit: UInt64, pool: PagePool, isCommitTaken: Bool = false) {
    self.commit = commit
    self.pool = pool
    if isCommitTaken { own = ([], []) }
  }

  deinit { reader?.leave() }

  /// Begins a read section, unless one has begun. The editors of a transaction share it. Returns whether the
  /// caller has to end it.
  @inline(__always)
  func beginReading() -> Bool {
    if isReading { return false }
    isReading = true
    if let reader { reader.begin() } else { reader = pool.map.enter() }
    return true
  }

  @inline(__always)
  func endReading(visiting count: Int) {
    reader?.end(visiting: count)
    isReading = false
  }

  /// Memory that the transaction has taken, in bytes.
  var byteCount: Int {
    frames.count * pool.geometry.pageSize + blobByteCount + spareBlobByteCount
  }

  /// Pages that the transaction's frames and buffers will take in the file.
  var filePageCount: Int { frames.count - spareFrames.count + blobPageCount }

  /// Bytes of memory above which ``isOverLimit`` is true.
  var byteLimit = Int.max {
    didSet { checkLimit() }
  }
  /// True if the transaction had more memory than ``byteLimit`` after its last allocation.
  private(set) var isOverLimit = false

  private func checkLimit() { isOverLimit = byteCount > byteLimit }

  /// Notes that a checkpoint begins to write the frames.
  func useUp() { isUsedUp = true }

  /// Allocates a frame, whose bytes are undefined.
  func allocateFrame() -> UInt64 {
    if let frame = spareFrames.popLast() { return frame }
    let frame = pool.arena.allocate()
    frames.append(frame)
    checkLimit()
    own?.frames.insert(frame)
    return frame
  }

  /// Allocates a buffer with a copy of `bytes`, and returns the reference to it.
  func allocateBlob(copying bytes: UnsafeRawBufferPointer) -> ChildReference {
    let blob = pool.blobs.allocate(copying: bytes)
    blobs.append(blob)
    own?.blobs.insert(blob)
    blobByteCount += bytes.count
    let pageCount = pool.geometry.overflowPageCount(bytes.count)
    blobPageCount += pageCount
    runs.add(overflowOf: UInt64(pageCount))
    checkLimit()
    return ChildReference(location: .frame(blob), checksum: 0, birth: commit, count: UInt64(bytes.count))
  }

  /// Returns whether this transaction made the page at `location`, so that no other thread sees it.
  @inline(__always)
  func owns(_ image: PageImage, at location: PageLocation) -> Bool {
    location.isFrame && image.birth == commit && (own?.frames.contains(location.number) ?? true)
  }

  /// Retires a page of a tree.
  func retirePage(_ reference: ChildReference, treeID: UInt32) {
    if !reference.location.isFrame {
      retirePages(reference, count: 1, treeID)
    } else if reference.birth == commit, own?.frames.contains(reference.location.number) ?? true {
      spareFrames.append(reference.location.number)
    } else {
      retired.frames.append(RetiredItem(reference: reference, treeID: treeID))
    }
  }

  /// Retires an overflowing value, or the rest of a key.
  func retireOverflow(_ reference: ChildReference, treeID: UInt32) {
    if !reference.location.isFrame {
      retirePages(reference, count: pool.geometry.overflowPageCount(Int(reference.count)), treeID)
    } else if reference.birth == commit, own?.blobs.contains(reference.location.number) ?? true {
      spareBlobs.insert(reference.location.number)
      spareBlobByteCount += Int(reference.count)
      forgetBlob(of: reference)
      checkLimit()
    } else {
      retired.blobs.append(RetiredItem(reference: reference, treeID: treeID))
    }
  }

  /// Takes a buffer of the transaction out of the counts.
  private func forgetBlob(of reference: ChildReference) {
    blobByteCount -= Int(reference.count)
    let pageCount = pool.geometry.overflowPageCount(Int(reference.count))
    blobPageCount -= pageCount
    runs.remove(overflowOf: UInt64(pageCount))
  }

  private func retirePages(_ reference: ChildReference, count: Int, _ treeID: UInt32) {
    let first = reference.location.number
    if early.retire(first..<first + UInt64(count), treeID: treeID) { return }
    retired.pages.append(
      PageRun(first: first, count: UInt64(count), birth: reference.birth, treeID: treeID)
    )
  }

  /// Pages of the file that the transaction has replaced so far.
  var retiredPages: [PageRun] { retired.pages }
  /// The memory and pages from before the transaction that it has replaced so far.
  var retiredSoFar: RetiredMemory { retired }

  // MARK: Pages that are written early

  /// Frames and buffers that no longer belong to the transaction.
  struct Written {
    fileprivate var frames: Set<UInt64> = []
    fileprivate var blobs: Set<UInt64> = []
  }

  /// Notes the new owners of frames and buffers that were written to pages of the file, or frees them. The
  /// caller passes `written` to ``forget(_:)`` before the transaction continues.
  ///
  /// - Parameters:
  ///   - cached: frames that belong to the cache now.
  ///   - replaced: frames and buffers that the trees no longer reach. Those of the transaction are freed as
  ///     soon as no ``FoundValue`` protects them.
  func noteWritten(cached: [UInt64], replaced: RetiredMemory, in written: inout Written) {
    let (ownFrames, ownBlobs) = (replaced.frames.filter(isOwn), replaced.blobs.filter(isOwn))
    for item in ownBlobs { forgetBlob(of: item.reference) }
    pool.free(frames: ownFrames.map(\.number), blobs: ownBlobs.map(\.number), mayBeNamed: true)
    written.frames.formUnion(cached)
    written.frames.formUnion(ownFrames.map(\.number))
    written.blobs.formUnion(ownBlobs.map(\.number))
    for item in replaced.frames where !isOwn(item) {
      let isStored = !pool.storedPlace(ofPage: item.reference).isNone
      if isStored { unneeded.frames.append(item) } else { retired.frames.append(item) }
    }
    for item in replaced.blobs where !isOwn(item) {
      let isStored = !pool.storedPlace(ofOverflow: item.reference).isNone
      if isStored { unneeded.blobs.append(item) } else { retired.blobs.append(item) }
    }
  }

  private func isOwn(_ item: RetiredItem) -> Bool { item.reference.birth == commit }

  /// Removes frames and buffers from the memory of the transaction, because they were written or aren't
  /// needed.
  func forget(_ written: Written) {
    if !written.frames.isEmpty { frames.removeAll(where: written.frames.contains) }
    if !written.blobs.isEmpty { blobs.removeAll(where: written.blobs.contains) }
  }

  /// Frees the frames and buffers that the transaction no longer needs, as soon as no ``FoundValue`` protects
  /// them.
  func freeSpares() {
    var spares = Written()
    spares.frames.formUnion(spareFrames)
    spares.blobs = spareBlobs
    forget(spares)
    pool.free(frames: spareFrames, blobs: Array(spareBlobs), mayBeNamed: true)
    spareFrames = []
    spareBlobs = []
    spareBlobByteCount = 0
  }

  // MARK: The end

  /// Ends a transaction that takes effect. Returns the memory that it has replaced, to be freed when no
  /// snapshot from before this commit is left.
  func finish() -> RetiredMemory {
    pool.free(frames: spareFrames, blobs: Array(spareBlobs))
    defer { reset() }
    retired += unneeded
    return retired
  }

  /// Ends a transaction that takes no effect, and frees its memory.
  func abort() {
    pool.free(frames: frames, blobs: blobs)
    reset()
  }

  private func reset() {
    frames = []
    blobs = []
    spareFrames = []
    spareBlobs = []
    spareBlobByteCount = 0
    retired = RetiredMemory()
    unneeded = RetiredMemory()
    early = EarlyPages()
    blobByteCount = 0
    blobPageCount = 0
    runs = RunDemand()
  }
}
