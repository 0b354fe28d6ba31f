import Cambium
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import GraphContext

/// Eight writers and the view context on one store at once. `make sanitize` runs it under ThreadSanitizer, `CAMBIUM_WRITES` makes it longer.
struct EightWritersTests {
  /// Increments that each writer makes.
  private static let writeCount =
    ProcessInfo.processInfo.environment["CAMBIUM_WRITES"].flatMap(Int.init) ?? 25

  /// Tells the view context that the writers are done.
  private final class End: Sendable {
    let isReached = Atomic(false)
  }

  @Test func everyIncrementIsThereAndTheViewContextFollows() async throws {
    let library = try await Library.open()
    try await library.keepHistory(HistoryPolicy(limits: HistoryLimits(transactionCount: 100)))
    try await library.write { context in
      for number in 0..<4 { context.insert(Writer("w\(number)", email: "\(number)")) }
    }
    let end = End()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for writer in 0..<8 {
        group.addTask {
          if writer < 4 {
            try await Self.queue(library, writer)
          } else {
            try await Self.race(library, writer)
          }
        }
      }
      let watcher = Task { @MainActor in try await Self.watch(library, until: end) }
      try await group.waitForAll()
      end.isReached.store(true, ordering: .sequentiallyConsistent)
      let seen = try await watcher.value
      #expect(seen == 8 * Self.writeCount)
    }
    let sum = try await library.query { try $0.fetch(From<Writer>()).reduce(0) { $0 + $1.rank } }
    #expect(sum == 8 * Self.writeCount)
    #expect(try await library.history().count == 100)
    #expect(try library.verify() == [])
  }

  /// Writes in the container's queue: nothing of it conflicts within the queue.
  private static func queue(_ library: PersistentContainer, _ writer: Int) async throws {
    for _ in 0..<writeCount {
      try await increment { body in
        try await library.write { context in try body(context) }
      }
    }
  }

  /// Writes in a context of its own, against all others.
  private static func race(_ library: PersistentContainer, _ writer: Int) async throws {
    let background = try library.newBackgroundContext(name: "writer \(writer)")
    for _ in 0..<writeCount {
      try await increment { body in
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
    }
  }

  /// Adds one to the rank of some writer, as often as it takes until nobody else was faster.
  private static func increment(
    _ perform: (@Sendable @escaping (ManagedObjectContext) throws -> Void) async throws -> Void
  ) async throws {
    while true {
      do {
        return try await perform { context in
          var random = SystemRandomNumberGenerator()
          let writers = try context.fetch(From<Writer>())
          try #require(writers.randomElement(using: &random)).rank += 1
        }
      } catch let error as ContextError where error.code == .conflict {
        continue
      }
    }
  }

  /// Follows the store, and returns the last sum that it saw. It never goes down.
  @MainActor private static func watch(
    _ library: PersistentContainer,
    until end: End
  ) async throws -> Int {
    let context = library.viewContext
    let eventCount = Mutex(0)
    let subscription = context.onObjectsDidChange { _ in eventCount.withLock { $0 += 1 } }
    defer { subscription.cancel() }
    var last = 0
    while true {
      let isLast = end.isReached.load(ordering: .sequentiallyConsistent)
      try library.waitForViewContext()
      let sum = try context.fetch(From<Writer>()).reduce(0) { $0 + $1.rank }
      #expect(sum >= last)
      last = sum
      if isLast { break }
      try await Task.sleep(for: .milliseconds(2))
    }
    #expect(eventCount.withLock { $0 } > 0)
    return last
  }
}
