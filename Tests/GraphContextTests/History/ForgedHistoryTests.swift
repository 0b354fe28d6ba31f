import Cambium
import Foundation
import PageStore
import Predicates
import Testing

@testable import GraphContext

private enum Chronicle {
  @Model final class Line {
    var text: String
    init(_ text: String) { self.text = text }
  }
}

/// Entries and tokens that no library has written.
struct ForgedHistoryTests {
  private func open() async throws -> PersistentContainer {
    let container = try await PersistentContainer("Chronicle", models: Chronicle.Line.self, at: .inMemory)
    try await container.keepHistory()
    try await container.write { context in
      for text in ["a", "b", "c"] { context.insert(Chronicle.Line(text)) }
    }
    return container
  }

  /// Puts these runs of inserted objects into the only entry, in place of its own.
  private func forge(_ runs: [ClosedRange<UInt64>], in container: PersistentContainer) async throws {
    let commit = try #require(try await container.history().first).token.commit
    let key = HistoryTree.transactionKey(commit)
    try await container.store.write { transaction in
      let tree = try transaction.tree(HistoryTree.name)
      let bytes = try #require(try tree.value(for: key))
      var entry = try #require(bytes.withUnsafeBytes { HistoryEntry($0, of: commit) })
      entry.objects[0].inserted = runs
      try tree.put(key, entry.bytes(of: commit))
    }
  }

  /// An entry of a few bytes can't make a reader list more objects than the store has given numbers to.
  @Test func insertionsOfNumbersThatWereNotGivenAreDamage() async throws {
    let forgeries: [[ClosedRange<UInt64>]] = [[1...2_000_000], [1...3, 9_000_000...9_000_000]]
    for runs in forgeries {
      let container = try await open()
      try await forge(runs, in: container)
      let error = await #expect(throws: ContextError.self) { try await container.history() }
      #expect(error?.code == .corrupt)
      #expect(try await container.verify().map(\.tree) == [HistoryTree.name])
    }
  }

  @Test func insertionsOfNumbersThatWereGivenAreRead() async throws {
    let container = try await open()
    try await forge([1...1, 3...3], in: container)
    let changes = try #require(try await container.history().first).changes
    #expect(changes.map(\.objectID.number.rawValue) == [1, 3])
    #expect(try await container.verify().isEmpty)
  }

  /// Two texts are never one token.
  @Test func tokensHaveOneSpelling() async throws {
    let container = try await open()
    let token = try container.newestHistoryToken()
    let (id, mark) = (token.storeID.uuidString, String(token.mark, radix: 16))
    #expect(HistoryToken(token.description) == token && token.description == "\(id):\(token.commit):\(mark)")
    for text in [
      "\(id):+\(token.commit):\(mark)", "\(id):\(token.commit):+\(mark)", "\(id):0\(token.commit):\(mark)",
      "\(id):\(token.commit):0\(mark)", "\(id):+5", "\(id):05", "\(id.lowercased()):5",
    ] {
      #expect(HistoryToken(text) == nil, "\(text)")
    }
    #expect(HistoryToken("\(id):5")?.commit == 5)
  }
}
