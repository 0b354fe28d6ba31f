import BenchmarkHarness
import CAllocations
import Cambium
import Foundation
import GRDB

/// O10 of the performance goals: one object of a list is changed and saved elsewhere. Measured is the time from the
/// return of the save to the delivery of the difference.
@MainActor
struct ObservingWorkload {
  struct Result: Codable {
    var list: String
    var objects: Int
    /// Medians, and the longest.
    var seconds: Double
    var longestSeconds: Double
    /// The bytes that the process holds for the list.
    var heldBytes: Int?
    /// Entries of trees that were walked for a change.
    var entriesWalked: Int?
    /// The time of the save of the change, with the observer.
    var saveSeconds: Double
  }

  let objects: Int
  private let rounds: Int
  private let folder: String
  let container: PersistentContainer

  init(objects: Int, rounds: Int, folder: String) async throws {
    (self.objects, self.rounds, self.folder) = (objects, rounds, folder)
    let url = URL(fileURLWithPath: folder + "/entries.cambium")
    container = try await PersistentContainer("Entries", models: Entry.self, at: url)
    try await container.batchInsert(EntryRows(count: objects), chunkSize: 100_000)
  }

  // MARK: Cambium

  func results() async throws -> [Result] {
    let byRank = From<Entry>().orderBy(\.minute)
    let byNumbers = From<Entry>().orderBy(\.label)
    return [
      try await result("Cambium, by rank", byRank) { $0.minute = $1 },
      try await result("Cambium, by rank, first 100", byRank.limit(100), among: 100) { $0.minute = $1 },
      try await result("Cambium, by numbers", byNumbers) { $0.label = $1 },
    ]
  }

  private func result(
    _ name: String,
    _ request: From<Entry>,
    among range: Int? = nil,
    _ change: @escaping @Sendable (Entry, Int) -> Void
  ) async throws -> Result {
    let view = container.viewContext
    view.automaticallyMergesChangesFromParent = false
    try view.refresh()
    // The first list reads pages into the cache, where they stay.
    _ = try FetchedResults(request, in: view)
    let before = allocated_bytes()
    let list = try FetchedResults(request, in: view)
    let held = Int(allocated_bytes()) - Int(before)
    var (times, saves, told) = ([Double](), [Double](), 0)
    let subscription = list.onChange { told += $0.changes.count }
    let walkedBefore = list.entriesWalked
    for round in 0..<rounds {
      let number = (round &* 104_729 &+ 13) % (range ?? objects)
      let target = (number + objects / 2) % objects
      let container = container
      let start = ContinuousClock.now
      try await container.performBackgroundTask { context in
        let found = try context.fetch(From<Entry>().offset(number).limit(1))
        guard let entry = found.first else { return }
        change(entry, target)
        try context.save()
      }
      let saved = ContinuousClock.now
      try view.refresh()
      times.append((ContinuousClock.now - saved).inSeconds)
      saves.append((saved - start).inSeconds)
    }
    guard told > 0 else { throw PeerError(peer: name, message: "the list told of nothing") }
    let walked = (list.entriesWalked - walkedBefore) / rounds
    withExtendedLifetime(subscription) {}
    return Result(
      list: name,
      objects: objects,
      seconds: times.median,
      longestSeconds: times.max() ?? 0,
      heldBytes: max(0, held),
      entriesWalked: walked,
      saveSeconds: saves.median
    )
  }

  // MARK: GRDB

  /// A `ValueObservation` of the IDs, which fetches them again after each write.
  func grdbResult() async throws -> Result {
    let pool = try GRDBDatabase.open(at: folder + "/entries.sqlite")
    try await pool.write { [objects] database in
      try database.execute(
        sql: "CREATE TABLE entry (id INTEGER PRIMARY KEY, minute INTEGER NOT NULL, label INTEGER NOT NULL)"
      )
      try database.execute(sql: "CREATE INDEX entry_minute ON entry (minute)")
      let insert = try database.makeStatement(sql: "INSERT INTO entry (minute, label) VALUES (?, ?)")
      for number in 0..<objects { try insert.execute(arguments: [number, EntryRows.label(number, objects)]) }
    }
    let observation = ValueObservation.tracking { database in
      try Int64.fetchAll(database, sql: "SELECT id FROM entry ORDER BY minute, id")
    }
    let (stream, continuation) = AsyncStream<Int>.makeStream()
    let cancellable = observation.start(in: pool, scheduling: .async(onQueue: .global())) { _ in
      continuation.finish()
    } onChange: { ids in
      continuation.yield(ids.count)
    }
    defer { cancellable.cancel() }
    var iterator = stream.makeAsyncIterator()
    _ = await iterator.next()
    var (times, saves) = ([Double](), [Double]())
    for round in 0..<rounds {
      let number = (round &* 104_729 &+ 13) % objects
      let target = (number + objects / 2) % objects
      let start = ContinuousClock.now
      try await pool.write { database in
        try database.execute(
          sql: "UPDATE entry SET minute = ? WHERE id = ?",
          arguments: [target, number + 1]
        )
      }
      let saved = ContinuousClock.now
      _ = await iterator.next()
      times.append((ContinuousClock.now - saved).inSeconds)
      saves.append((saved - start).inSeconds)
    }
    return Result(
      list: "GRDB, ValueObservation of the IDs",
      objects: objects,
      seconds: times.median,
      longestSeconds: times.max() ?? 0,
      heldBytes: nil,
      entriesWalked: nil,
      saveSeconds: saves.median
    )
  }
}

/// The values of the entries, made on demand.
struct EntryRows: Sequence, Sendable {
  let count: Int

  /// Returns a number's position in another order of all numbers.
  static func label(_ number: Int, _ count: Int) -> Int { number &* 7_919 % count }

  func makeIterator() -> AnyIterator<Entry.Values> {
    var number = 0
    return AnyIterator {
      guard number < count else { return nil }
      defer { number += 1 }
      return Entry.Values(minute: number, label: Self.label(number, count))
    }
  }
}

extension [Double] {
  fileprivate var median: Double { sorted()[count / 2] }
}

extension Duration {
  var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
