import PageStore
@_spi(Testing) import TestSupport

/// A snapshot that is held while everything is changed many times.
enum OneReaderTrial {
  static func run(_ arguments: Arguments) throws -> [Figure] {
    var options = StoreOptions()
    options.durability = .relaxed
    let subject = try MeasuredStore(arguments, options)
    try subject.load(arguments.entryCount)
    try subject.store.compact()
    let live = Double(try subject.store.spaceLedger().liveBytes)
    let reader = try subject.store.snapshot(label: "a long look")
    let seen = subject.digest
    var generator = SeededGenerator(seed: arguments.seed)
    for commit in 1...arguments.updateCount / 100 {
      try subject.put(
        (0..<100).map { _ in generator.number(in: 0...arguments.entryCount - 1) },
        version: UInt32(commit)
      )
    }
    let most = Double(subject.mostFileBytes)
    let end = subject.fileBytes
    let ledger = try subject.store.spaceLedger()
    let statistics = try subject.store.statistics
    try subject.check(reader, shows: seen)
    try subject.checkNewest()
    return [
      Figure("live bytes", Int(live)),
      Figure("pinned bytes", ledger.pinnedBytes, atMost: Int(live)),
      Figure("file to live bytes at any moment", share: most / live, .atMost(2.2)),
      Figure("bytes written", statistics.bytesWritten),
      Figure("syncs", statistics.syncs),
      Figure("file to live bytes at the end", share: Double(end) / live, .atMost(2.2)),
    ]
  }
}
