/// The state that a checkpoint writes.
struct CheckpointDraft {
  var commit: UInt64
  var timestamp: Int64
  var directory: TreeDirectory
  var roots: [TreeRoot]
  var nextTreeID: UInt32
  var generation: UInt64
  var link: CommitLink
  /// The changes of a transaction that the checkpoint commits, or of a relocation.
  var changes: DirtySet?
  /// True if the checkpoint commits a transaction, so that no reader sees its changes yet.
  var isUnseen = false
  /// The share of the room for transactions that remove which must be left.
  var reserveShare = ReserveShare.none
  /// The page from which on pages of the store's own trees move to the front of the file.
  var relocationLimit: UInt64?

  /// Makes the draft of a version, as a checkpoint of `generation` has it.
  init(_ version: Version, generation: UInt64) {
    commit = version.commit
    timestamp = version.timestamp
    directory = version.directory
    roots = version.roots
    nextTreeID = version.nextTreeID
    self.generation = generation
    link = version.link
  }

  /// Makes the draft of the state after a transaction, which the checkpoint commits.
  init(committing transaction: TransactionState, timestamp: Int64) {
    commit = transaction.commit
    self.timestamp = timestamp
    directory = transaction.directory
    roots = transaction.roots
    nextTreeID = transaction.nextTreeID
    generation = transaction.base.generation + 1
    link = transaction.link
    changes = transaction.dirty
    isUnseen = true
    reserveShare = transaction.reserveShare
  }
}
