import Cambium
import GraphTestSupport
import Synchronization
import TestSupport
import Testing

@testable import GraphContext

/// Eight writers on one store at once, beside readers and a view context that follows the store, is observed and has
/// changes of its own. Each write adds one to the rank of a writer and inserts a reader who admires this writer. In
/// each snapshot, the sum of the ranks, the number of readers and the number of links are therefore equal.
///
/// `make sanitize` runs it under ThreadSanitizer; `CAMBIUM_TEST_EFFORT` is its length in seconds.
struct EightWritersTests {
  /// How long the writers go on.
  private static let duration = Duration.seconds(TestEffort.times(1))
  /// The number of `Writer` objects whose ranks are raised: few, so that contexts conflict.
  private static let writerCount = 8

  /// The state that the tasks share.
  private final class Run: Sendable {
    let library: PersistentContainer
    let end = ContinuousClock.now + EightWritersTests.duration
    /// Writes that have returned.
    let doneCount = Atomic(0)
    let conflictCount = Atomic(0)
    /// Whether all writers have ended.
    let isOver = Atomic(false)

    init(_ library: PersistentContainer) { self.library = library }

    /// True if the writers have run long enough and have made a minimum number of writes. Beside other tests, writers
    /// get little time.
    var isEnough: Bool { ContinuousClock.now >= end && done >= 80 }
    var done: Int { doneCount.load(ordering: .sequentiallyConsistent) }
  }

  /// What a context shows.
  private struct Sums: Equatable {
    var ranks: Int
    var readers: Int
    var links: Int

    init(_ context: ManagedObjectContext) throws {
      let writers = try context.fetch(From<Writer>())
      ranks = writers.reduce(0) { $0 + $1.rank }
      readers = try context.count(From<Reader>())
      links = writers.reduce(0) { $0 + $1.fans.count }
    }

    /// The number of writes that the context shows; nil if it shows only a part of a write.
    var writeCount: Int? { ranks == readers && ranks == links ? ranks : nil }
  }

  @Test(.timeLimit(.minutes(60))) func sumsAreExactInEveryStateAndTheViewContextFollows() async throws {
    let library = try await Library.open()
    try await library.keepHistory(HistoryPolicy(limits: HistoryLimits(transactionCount: 100)))
    try await library.write { context in
      for number in 0..<Self.writerCount { context.insert(Writer("w\(number)", email: "\(number)")) }
    }
    let run = Run(library)
    let saveCount = try await withThrowingTaskGroup(of: Void.self) { group in
      for writer in 0..<8 {
        group.addTask { try await writer < 4 ? Self.queue(run) : Self.race(run, writer) }
      }
      let watcher = Task { @MainActor in try await Self.watch(run) }
      let readers = (0..<2).map { _ in Task { try await Self.read(run) } }
      try await group.waitForAll()
      run.isOver.store(true, ordering: .sequentiallyConsistent)
      for reader in readers { try await reader.value }
      return try await watcher.value
    }
    #expect(run.done >= 8)
    let (count, names) = try await library.query { context in
      (try Sums(context).writeCount, try context.fetch(From<Writer>()).map(\.name))
    }
    #expect(count == run.done)
    #expect(names.contains("view \(saveCount)"))
    #expect(try await library.history().count == min(100, 1 + run.done + saveCount))
    #expect(try await library.verify() == [])
    print(
      "\(run.done) writes, \(run.conflictCount.load(ordering: .relaxed)) conflicts, \(saveCount) saves in view"
    )
  }

  /// Writes in the container's queue. Writes of the queue don't conflict with each other.
  private static func queue(_ run: Run) async throws {
    repeat {
      try await increment(run) { body in
        try await run.library.write { context in try body(context) }
      }
    } while !run.isEnough
  }

  /// Writes in a context of its own, against all others.
  private static func race(_ run: Run, _ writer: Int) async throws {
    let background = try run.library.newBackgroundContext(name: "writer \(writer)")
    repeat {
      try await increment(run) { body in
        try await background.perform { context in
          do {
            try body(context)
            try context.save()
          } catch {
            context.rollback()
            throw error
          }
        }
      }
    } while !run.isEnough
  }

  /// Makes one write, and repeats it as long as it conflicts with the write of another context.
  private static func increment(
    _ run: Run,
    _ perform: (@Sendable @escaping (ManagedObjectContext) throws -> Void) async throws -> Void
  ) async throws {
    while true {
      do {
        try await perform { context in
          var random = SystemRandomNumberGenerator()
          let writer = try #require(try context.fetch(From<Writer>()).randomElement(using: &random))
          writer.rank += 1
          let reader = Reader("r")
          context.insert(reader)
          reader.idols = [writer]
        }
        run.doneCount.add(1, ordering: .sequentiallyConsistent)
        return
      } catch let error as ContextError where error.code == .conflict {
        run.conflictCount.add(1, ordering: .relaxed)
      }
    }
  }

  /// Reads the newest state again and again. This state has every write that had returned before, and only whole writes.
  private static func read(_ run: Run) async throws {
    var last = 0
    repeat {
      let done = run.done
      let count = try #require(try await run.library.query { try Sums($0).writeCount })
      #expect(count >= done && count >= last)
      last = count
    } while !run.isOver.load(ordering: .sequentiallyConsistent)
  }

  /// Follows the store in the view context, with unsaved changes that it saves at times, and with observers. Returns how often it saved.
  @MainActor private static func watch(_ run: Run) async throws -> Int {
    let context = run.library.viewContext
    let mine = try #require(try context.fetchOne(From<Writer>().where { $0.email == "0" }))
    let list = try FetchedResults(From<Writer>().orderBy(\.rank), in: context)
    let counter = try CountObserver(From<Reader>(), in: context)
    let told = Told()
    let subscriptions = [
      context.onObjectsDidChange { _ in told.eventCount += 1 },
      list.onChange { told.list = $0.applied(to: told.list) { $0 } ?? [] },
      counter.onChange { told.count = $0 },
    ]
    defer { for subscription in subscriptions { subscription.cancel() } }
    // An observer reports only differences from its first state, and the writers may have ended by now.
    (told.list, told.count) = (list.map(\.objectID), counter.count)
    var (last, round, saveCount) = (0, 0, 0)
    while true {
      let isLast = run.isOver.load(ordering: .sequentiallyConsistent)
      let done = run.done
      try run.library.waitForViewContext()
      let count = try #require(try Sums(context).writeCount)
      #expect(count >= done && count >= last)
      last = count
      if round % 5 == 0 || isLast {
        mine.name = "view \(saveCount + 1)"
        // Other contexts have changed the object's rank meanwhile, but not its name.
        try await context.saveWithoutBlocking()
        saveCount += 1
      }
      round += 1
      if isLast { break }
      try await Task.sleep(for: .milliseconds(2))
    }
    context.processPendingChanges()
    let shown = try context.fetch(From<Writer>().orderBy(\.rank)).map(\.objectID)
    #expect(list.map(\.objectID) == shown && told.list == shown)
    #expect(counter.count == last && told.count == last)
    #expect(told.eventCount > 0)
    return saveCount
  }

  /// The last values that the observers have reported.
  private final class Told {
    var list: [ManagedObjectID] = []
    var count = 0
    var eventCount = 0
  }
}
