/// The pages of the newest version that no checkpoint has written yet, as amounts, and the ones among them
/// that a concurrent checkpoint is writing. Guarded by ``Committer/state``.
///
/// A concurrent checkpoint begins with ``beginWriting(_:)``, and ends with one of ``finishWriting()`` and
/// ``cancelWriting()``.
struct DirtyPages {
  /// The number of the pages that they will take in the file, without those in ``beingWritten``.
  private(set) var pageCount: UInt64 = 0
  /// The number of commits and of steps of a compaction that have changed them.
  private var changeCount: UInt64 = 0
  /// Overflows of several pages among them.
  private(set) var runs = RunDemand()
  /// The pages that a concurrent checkpoint is writing; nil if there is no such checkpoint.
  private(set) var beingWritten: BeingWritten?
  /// The commit of the last checkpoint, also if that is still being written. A frame that a later commit has
  /// made is among ``pageCount``.
  private var checkpointCommit: UInt64
  private let pageSize: UInt64

  init(pageSize: UInt64, checkpointCommit: UInt64) {
    self.pageSize = pageSize
    self.checkpointCommit = checkpointCommit
  }

  /// Bytes that the pages will take in the file.
  var byteCount: UInt64 { pageCount * pageSize }
  /// Bytes that the pages in ``beingWritten`` take in the file.
  var byteCountBeingWritten: UInt64 { (beingWritten?.pageCount ?? 0) * pageSize }

  /// Bytes of the pages that a commit, or a step of a compaction, has changed on average since the last durable
  /// checkpoint began. A page that several of them have changed counts once.
  var byteCountPerChange: UInt64 {
    (byteCount + byteCountBeingWritten) / max(1, changeCount + (beingWritten?.changeCount ?? 0))
  }

  /// Adds the pages of a commit, of a relocation or of a replay.
  mutating func add(pageCount added: Int, runs addedRuns: RunDemand) {
    pageCount += UInt64(added)
    if added > 0 { changeCount += 1 }
    runs = runs + addedRuns
  }

  /// Notes that the newest version doesn't reach a frame any more that this commit has made. The frame needs
  /// no page then, if it has none. The copies that a relocation makes have the commit of the version that they
  /// copy. If a checkpoint has written that version, or is writing it, they stay in ``pageCount``, which may be
  /// too high until the next checkpoint.
  mutating func removeFrame(madeBy commit: UInt64) {
    if commit > checkpointCommit {
      pageCount -= min(pageCount, 1)
    } else if let previous = beingWritten?.previousCheckpointCommit, commit > previous {
      beingWritten?.removeFrame()
    }
  }

  /// Notes that a checkpoint of everything up to `commit` is durable. No concurrent checkpoint is under way.
  mutating func noteCheckpoint(of commit: UInt64) {
    self = DirtyPages(pageSize: pageSize, checkpointCommit: commit)
  }

  // MARK: A concurrent checkpoint

  /// The pages that a concurrent checkpoint is writing.
  struct BeingWritten {
    /// The generation of the version that it writes.
    let generation: UInt64
    fileprivate(set) var pageCount: UInt64
    fileprivate let runs: RunDemand
    fileprivate let changeCount: UInt64
    fileprivate let previousCheckpointCommit: UInt64
    fileprivate var died = DiedMeanwhile()

    fileprivate mutating func removeFrame() { pageCount -= min(pageCount, 1) }
  }

  /// Frames and buffers that died while a checkpoint was being written, and that had no page when they died.
  /// The checkpoint may have written them by then.
  struct DiedMeanwhile {
    /// The end of a frame or buffer.
    struct Death {
      /// The first generation that doesn't reach it.
      let generation: UInt64
      let item: RetiredItem
    }

    /// By the number of the frame.
    fileprivate(set) var frames: [UInt64: Death] = [:]
    /// By the number of the buffer.
    fileprivate(set) var blobs: [UInt64: Death] = [:]
  }

  /// Notes that a concurrent checkpoint of `version`, the newest one, begins.
  mutating func beginWriting(_ version: Version) {
    beingWritten = BeingWritten(
      generation: version.generation,
      pageCount: pageCount,
      runs: runs,
      changeCount: changeCount,
      previousCheckpointCommit: checkpointCommit
    )
    pageCount = 0
    runs = RunDemand()
    changeCount = 0
    checkpointCommit = version.commit
  }

  /// Notes the death of a frame without a page while a checkpoint is being written.
  mutating func noteDeath(ofFrame item: RetiredItem, from generation: UInt64) {
    beingWritten?.died.frames[item.number] = DiedMeanwhile.Death(generation: generation, item: item)
  }

  /// Notes the death of a buffer without a page while a checkpoint is being written.
  mutating func noteDeath(ofBlob item: RetiredItem, from generation: UInt64) {
    beingWritten?.died.blobs[item.number] = DiedMeanwhile.Death(generation: generation, item: item)
  }

  /// Notes that the checkpoint is durable. Returns the frames and buffers that died while it was being
  /// written.
  mutating func finishWriting() -> DiedMeanwhile {
    defer { beingWritten = nil }
    return beingWritten?.died ?? DiedMeanwhile()
  }

  /// Notes that the checkpoint has failed: its pages are dirty as before.
  mutating func cancelWriting() {
    guard let written = beingWritten else { return }
    pageCount += written.pageCount
    runs = runs + written.runs
    changeCount += written.changeCount
    checkpointCommit = written.previousCheckpointCommit
    beingWritten = nil
  }
}
