import PageStore

/// One entry, changed by one commit after the other.
enum OneRowTrial {
  /// What the log of a small store takes beside slow syncs. Commits wait for a checkpoint at four mebibytes. There can be as much from
  /// before each of the two newest checkpoints, which recovery may need, from before the one that is being written, and behind it. Four
  /// more are for the room of the next extents and for that which is kept for checkpoints. On a quiet disk half of it is seen.
  static let constantBytes = 20 << 20

  static func run(_ arguments: Arguments) throws -> [Figure] {
    var options = StoreOptions()
    options.durability = .relaxed
    let subject = try MeasuredStore(arguments, options)
    try subject.load(1)
    for update in 0..<arguments.updateCount {
      try subject.put(CollectionOfOne(0), version: UInt32(truncatingIfNeeded: update))
    }
    let live = Int(try subject.store.spaceLedger().liveBytes)
    let most = subject.mostFileBytes
    try subject.checkNewest()
    try subject.store.compact()
    return [
      Figure("live bytes", live),
      Figure("file bytes at any moment", most, atMost: 2 * live + constantBytes),
      Figure("file bytes after compaction", subject.fileBytes, atMost: 2 * live + (1 << 20)),
    ]
  }
}
