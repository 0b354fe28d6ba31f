import PageStore
@_spi(Testing) import TestSupport

/// Half of the entries are deleted, and the store is made short while it is open.
enum DeletionTrial {
  /// - Parameter isRandom: whether the deleted entries are a random half, rather than all entries between two keys.
  static func run(_ arguments: Arguments, isRandom: Bool) throws -> [Figure] {
    var options = StoreOptions()
    options.durability = .relaxed
    let subject = try MeasuredStore(arguments, options)
    try subject.load(arguments.entryCount)
    try subject.store.compact()
    let full = subject.fileBytes
    var generator = SeededGenerator(seed: arguments.seed)
    var numbers = Array(0..<arguments.entryCount)
    if isRandom {
      numbers.shuffle(using: &generator)
    } else {
      numbers.sort { MeasuredStore.key($0).lexicographicallyPrecedes(MeasuredStore.key($1)) }
      numbers.removeFirst(arguments.entryCount / 4)
    }
    numbers = Array(numbers.prefix(arguments.entryCount / 2))
    for start in stride(from: 0, to: numbers.count, by: 1_000) {
      try subject.remove(numbers[start..<min(numbers.count, start + 1_000)])
    }
    let most = subject.mostFileBytes
    try subject.store.compact()
    try subject.checkNewest()
    // The bytes of half of the entries.
    let dead = Double(full) / 2
    let freed = Double(full - subject.fileBytes)
    let ledger = try subject.store.spaceLedger()
    return [
      Figure("file bytes before", full),
      Figure("file to full file while deleting", share: Double(most) / Double(full), .atMost(2.2)),
      Figure("file bytes after compaction", subject.fileBytes),
      Figure("dead bytes that came back", share: freed / dead, .atLeast(0.9)),
      Figure("file to live bytes", share: Double(ledger.totalBytes) / Double(ledger.liveBytes), .atMost(1.2)),
    ]
  }
}
