import PageStore
@_spi(Testing) import TestSupport

/// All entries come in one transaction, which is larger than the memory that the store may take.
enum OneTransactionTrial {
  private static let sampleInterval = 1_000

  static func run(_ arguments: Arguments) throws -> [Figure] {
    var options = StoreOptions()
    options.cacheBytes = 8 << 20
    options.dirtyMemoryBytes = 16 << 20
    let subject = try MeasuredStore(arguments, options)
    var mostResident: UInt64 = 0
    var count = 0
    try subject.load(inOneCommit: arguments.updateCount) {
      count += 1
      if count % sampleInterval == 0 {
        mostResident = max(mostResident, try subject.store.statistics.residentBytes)
      }
    }
    try subject.checkNewest()
    let live = try subject.store.spaceLedger().liveBytes
    // The limit of the options, a quarter more until the next attempt to write pages, and the branches.
    let memoryBytes = options.cacheBytes + options.dirtyMemoryBytes / 4 * 5 + (8 << 20)
    return [
      Figure("live bytes", live),
      Figure("bytes of pages in memory at any moment", mostResident, atMost: memoryBytes),
      Figure(
        "file to live bytes",
        share: Double(subject.mostFileBytes) / Double(live),
        .atMost(2.2)
      ),
      Figure(
        "bytes written to live bytes",
        share: Double(try subject.store.statistics.bytesWritten) / Double(live),
        nil
      ),
    ]
  }
}
