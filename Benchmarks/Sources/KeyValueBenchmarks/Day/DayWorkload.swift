import BenchmarkHarness
import Foundation
import PageStore

/// A day of an app's work, done at once: the hours are those of ``DayPlan``, and the size is sampled all the time.
struct DayWorkload {
  /// The size of the store at the end of a step, and during it.
  struct Sample: Codable {
    var hour: Double
    var isOpen: Bool
    var readers: Int
    /// Pages that the newest commit reaches, in the file or only in memory so far.
    var liveBytes: UInt64
    /// Pages that only snapshots reach.
    var pinnedBytes: UInt64
    /// Log extents, and free pages, including reserved ones.
    var logBytes: UInt64
    var freeBytes: UInt64
    /// The bytes that the file takes on its disk.
    var fileBytes: Int
    /// The most that the file has taken since the sample before.
    var largestFileBytes: Int

    var ratio: Double { Double(largestFileBytes) / Double(liveBytes) }
  }

  private let folder: String
  private var store: Store?
  private var data: AppData
  private let commits: Int
  private let plan: DayPlan
  private var readers: [DayReader] = []
  private(set) var samples: [Sample] = []

  static func run(in folder: String, _ plan: DayPlan, sizes: AppData.Sizes, seed: UInt64) throws -> [Sample] {
    var workload = DayWorkload(folder: folder, plan, sizes: sizes, seed: seed)
    try workload.run()
    return workload.samples
  }

  private init(folder: String, _ plan: DayPlan, sizes: AppData.Sizes, seed: UInt64) {
    self.folder = folder
    self.plan = plan
    data = AppData(sizes, seed: seed)
    commits = sizes.commits
  }

  private mutating func run() throws {
    let watch = SizeWatch(folder)
    defer { watch.stop() }
    try openStore()
    if let store { try data.load(into: store) }
    for step in 0..<24 * DayPlan.stepsPerHour {
      let hour = Double(step) / Double(DayPlan.stepsPerHour)
      try letGo(of: { $0.end <= hour })
      if plan.isClosed(at: hour) {
        try closeStore()
      } else {
        try openStore()
        try work(at: hour)
      }
      try takeSample(at: hour, watch)
    }
    try letGo(of: { _ in true })
    try closeStore()
    try takeSample(at: 24, watch)
    try checkSoundness()
  }

  // MARK: Steps

  private mutating func openStore() throws {
    if store == nil { store = try Store.open(at: folder + "/day.cambium") }
  }

  private mutating func closeStore() throws {
    try letGo(of: { _ in true })
    try store?.close()
    store = nil
  }

  private mutating func work(at hour: Double) throws {
    guard let store else { return }
    for range in plan.readers where range.lowerBound == hour {
      readers.append(try DayReader(store.snapshot(label: "until \(range.upperBound)"), end: range.upperBound))
    }
    if DayPlan.removals.contains(hour) { try data.removeProject(in: store) }
    for _ in 0..<max(1, Int(Double(commits) * DayPlan.activity(hour: hour))) {
      try data.work(on: store, hour: hour)
    }
    try data.forgetEvents(in: store, hour: hour)
  }

  /// Ends readers, which have to see the same values as at first.
  private mutating func letGo(of isDone: (DayReader) -> Bool) throws {
    for reader in readers where isDone(reader) { try reader.check() }
    readers.removeAll(where: isDone)
  }

  private mutating func takeSample(at hour: Double, _ watch: SizeWatch) throws {
    let ledger = try store?.spaceLedger()
    let size = try StoredBytes(of: folder).allocated
    samples.append(
      Sample(
        hour: hour,
        isOpen: store != nil,
        readers: readers.count,
        liveBytes: try ledger.map { $0.liveBytes + $0.unwrittenBytes } ?? closedLiveBytes(),
        pinnedBytes: ledger?.pinnedBytes ?? 0,
        logBytes: ledger?.logBytes ?? 0,
        freeBytes: ledger.map { $0.freeBytes + $0.reservedBytes } ?? 0,
        fileBytes: size,
        largestFileBytes: max(size, watch.takeLargest())
      )
    )
  }

  private func closedLiveBytes() throws -> UInt64 {
    var options = StoreOptions()
    options.isReadOnly = true
    let store = try Store.open(at: folder + "/day.cambium", options: options)
    let live = try store.spaceLedger().liveBytes
    try store.close()
    return live
  }

  private mutating func checkSoundness() throws {
    try openStore()
    let problems = try store?.verify() ?? []
    guard problems.isEmpty else { throw DayFailure("the store is damaged: \(problems[0])") }
    try closeStore()
  }
}

/// A day with a wrong result.
struct DayFailure: Error, CustomStringConvertible {
  var description: String

  init(_ description: String) { self.description = description }
}
