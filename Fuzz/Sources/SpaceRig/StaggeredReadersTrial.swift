import PageStore
@_spi(Testing) import TestSupport

/// A hundred snapshots, each taken and released at a different moment and in a different order, with changes in
/// between.
enum StaggeredReadersTrial {
  private static let readerCount = 100

  static func run(_ arguments: Arguments) throws -> [Figure] {
    var options = StoreOptions()
    options.durability = .relaxed
    options.cacheBytes = 8 << 20
    options.dirtyMemoryBytes = 16 << 20
    let subject = try MeasuredStore(arguments, options)
    // A hundred versions of all of it have to fit on the disk.
    let entryCount = arguments.entryCount / 4
    try subject.load(entryCount)
    try subject.store.compact()
    let live = Int(try subject.store.spaceLedger().liveBytes)
    // The newest state, the room that a checkpoint needs beside it, the log, and the largest step in which a file
    // grows.
    let besideReaders = 2 * live + OneRowTrial.constantBytes + (16 << 20)
    // The limit of the options, pages that snapshots hold before they are spilled, and the branches.
    let memoryBytes = options.cacheBytes + options.dirtyMemoryBytes / 4 * 5 + (8 << 20)
    let peaks = try change(subject, entryCount, live, arguments)
    try subject.checkNewest()
    try subject.store.compact()
    return [
      Figure("live bytes", live),
      Figure(
        "file and spilled bytes at any moment",
        peaks.stored,
        atMost: readerCount * live + besideReaders
      ),
      Figure("the same without a copy for each reader", peaks.besideReaders, atMost: besideReaders),
      Figure("bytes of pages in memory at any moment", peaks.resident, atMost: memoryBytes),
      Figure("spilled bytes in the end", try subject.store.statistics.spilledBytes, atMost: 0),
      Figure(
        "file to live bytes after compaction",
        share: Double(subject.fileBytes) / Double(live),
        .atMost(1.25)
      ),
    ]
  }

  /// The greatest numbers of bytes at any moment.
  private struct Peaks {
    /// Pages in memory.
    var resident: UInt64 = 0
    /// The file, and pages that were spilled.
    var stored = 0
    /// The same without a copy of the store for each reader.
    var besideReaders = 0
  }

  /// Changes entries at random while readers come and go, and checks what each reader sees.
  private static func change(
    _ subject: MeasuredStore,
    _ entryCount: Int,
    _ live: Int,
    _ arguments: Arguments
  ) throws -> Peaks {
    var generator = SeededGenerator(seed: arguments.seed)
    var readers: [(snapshot: Snapshot, digest: Digest)] = []
    var peaks = Peaks()
    let commitCount = arguments.updateCount / 100
    let interval = commitCount / (2 * readerCount)
    var taken = 0
    for commit in 1...commitCount {
      try subject.put(
        (0..<100).map { _ in generator.number(in: 0...entryCount - 1) },
        version: UInt32(commit)
      )
      let statistics = try subject.store.statistics
      let stored = subject.fileBytes + Int(statistics.spilledBytes)
      peaks.resident = max(peaks.resident, statistics.residentBytes)
      peaks.stored = max(peaks.stored, stored)
      // The file keeps its length when readers end.
      if readers.count == taken {
        peaks.besideReaders = max(peaks.besideReaders, stored - taken * live)
      }
      guard commit % interval == 0 else { continue }
      if taken < readerCount {
        readers.append((try subject.store.snapshot(), subject.digest))
        taken += 1
      } else if !readers.isEmpty {
        let reader = readers.remove(at: generator.number(in: 0...readers.count - 1))
        try subject.check(reader.snapshot, shows: reader.digest)
      }
    }
    for reader in readers { try subject.check(reader.snapshot, shows: reader.digest) }
    return peaks
  }
}
