import Foundation
import GraphContext
import PageStore
import TestSupport
import Testing

/// If an opening fails before anything changes, its stream of updates ends. The time limit is for a stream that
/// doesn't end: each step of a test may wait until all other tests have had a turn.
@Suite(.timeLimit(.minutes(60))) struct FailedOpeningTests {
  private func count(_ updates: AsyncStream<MigrationProgress>) async -> Int {
    var count = 0
    for await _ in updates { count += 1 }
    return count
  }

  @Test func theUpdatesEndForAPlanWithMistakes() async {
    let monitor = MigrationMonitor()
    let updates = monitor.updates()
    await #expect(throws: ContextError.self) {
      try await PersistentContainer("Nothing", plan: MigrationPlan([]), at: .inMemory, monitor: monitor)
    }
    #expect(await count(updates) == 0)
  }

  @Test func theUpdatesEndForAStoreThatIsNotThere() async throws {
    let folder = try TemporaryFolder()
    let url = URL(fileURLWithPath: folder.file("none.cambium"))
    let monitor = MigrationMonitor()
    let updates = monitor.updates()
    await #expect(throws: ContextError.self) {
      try await PersistentContainer("Nothing", at: url, monitor: monitor)
    }
    #expect(await count(updates) == 0)
  }
}
