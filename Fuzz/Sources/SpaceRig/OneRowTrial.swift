import PageStore

/// One entry, changed by one commit after the other.
enum OneRowTrial {
  /// The most that the log of a small store takes with slow syncs. Commits wait for a checkpoint at four mebibytes of
  /// log. So much log can be from before each of the two newest checkpoints, which recovery may need. As much can be
  /// from before the checkpoint that is being written, and as much behind it. Four more mebibytes are for the room of
  /// the next extents and for the room that is kept for checkpoints. On a quiet disk the log takes half of this.
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
