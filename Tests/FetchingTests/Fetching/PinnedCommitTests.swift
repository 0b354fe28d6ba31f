import Cambium
import Foundation
import GraphTestSupport
import PageStore
import TestSupport
import Testing

@testable import GraphContext

/// Queries of a commit that is held while others are saved.
struct PinnedCommitTests {
  private let library: PersistentContainer

  init() async throws {
    library = try await Library.open()
    try await library.batchInsert(Writer.self, from: 0..<10, .set(\.name) { "w\($0)" }, .set(\.rank) { $0 })
  }

  private func ranks(_ commit: PinnedCommit) async throws -> [Int] {
    try await library.query(at: commit) { context in
      try context.refresh()
      let ranks = try context.fetch(From<Writer>().orderBy(\.rank)).map(\.rank)
      context.reset()
      #expect(try context.count(From<Writer>()) == ranks.count)
      return ranks
    }
  }

  private func code(_ commit: PinnedCommit) async -> ContextError.Code? {
    do { _ = try await ranks(commit) } catch { return (error as? ContextError)?.code }
    return nil
  }

  @Test func queriesSeeTheirCommit() async throws {
    let first = try library.pinCommit()
    #expect(first.number == library.store.lastCommit)
    let now = Date()
    #expect(now.addingTimeInterval(-3_600)...now ~= first.date)
    try await library.batchUpdate(From<Writer>(), .set(\.rank) { $0.rank + 100 })
    let second = try library.pinCommit()
    try await library.batchDelete(From<Writer>())
    #expect(try await ranks(first) == Array(0..<10))
    #expect(try await ranks(second) == Array(100..<110))
    #expect(try await library.query { try $0.count(From<Writer>()) } == 0)
    first.release()
    first.release()
    #expect(await code(first) == .commitNotHeld)
    #expect(try await ranks(second) == Array(100..<110))
    await #expect(throws: ContextError.self) {
      try await library.query(at: second) { $0.insert(Writer("x")) }
    }
    try await library.close()
    #expect(await code(second) == .closed)
    #expect(throws: ContextError.self) { try library.pinCommit() }
  }

  @Test(.timeLimit(.minutes(60))) func aCommitIsHeldForItsLifetimeOnly() async throws {
    let brief = try library.pinCommit(lifetime: .milliseconds(1))
    while await code(brief) == nil { try await Task.sleep(for: .milliseconds(20)) }
    #expect(await code(brief) == .commitNotHeld)
    let inTheMiddle = try library.pinCommit(lifetime: .milliseconds(300))
    var found: ContextError.Code?
    do {
      try await library.query(at: inTheMiddle) { context in
        _ = try context.fetch(From<Writer>())
        while true {
          _ = try context.fetch(From<Writer>())
          usleep(20_000)
        }
      }
    } catch let error as ContextError { found = error.code }
    #expect(found == .commitNotHeld)
  }

  @Test func aCommitOfAnotherStoreIsRefused() async throws {
    let other = try await Library.open()
    let commit = try other.pinCommit()
    #expect(await code(commit) == .commitNotHeld)
  }

  /// The pages of a commit are reused after the commit is released.
  @Test func lettingGoOfACommitReleasesIt() async throws {
    var commit: PinnedCommit? = try library.pinCommit()
    #expect(try library.store.readers().contains { $0.label == "a pinned commit" })
    withExtendedLifetime(commit) {}
    commit = nil
    #expect(try !library.store.readers().contains { $0.label == "a pinned commit" })
  }
}
