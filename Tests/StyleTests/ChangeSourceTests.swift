import Cambium
import Testing

/// Who has made changes, and what a property was before them.
@MainActor struct ChangeSourceTests {
  @Test func changesNameTheAuthorOfTheirCommit() async throws {
    let container = try await Records.open(seconds: [1, 2])
    let view = container.viewContext
    var authors: [String?] = []
    var listAuthors: [String?] = []
    let subscription = view.onObjectsDidChange { authors.append($0.author) }
    let list = try FetchedResults(From<Song>().orderBy(.ascending(\.seconds)), in: view)
    let following = list.onChange { listAuthors.append($0.author) }
    func write(_ author: String?, _ seconds: Int) async throws {
      try await container.write { context in
        context.author = author
        context.insert(Song("new", seconds: seconds))
      }
    }
    try await write("sync", 3)
    try container.waitForViewContext()
    #expect(authors == ["sync"])
    #expect(listAuthors == ["sync"])
    try await write(nil, 4)
    try container.waitForViewContext()
    #expect(authors == ["sync", nil])
    view.insert(Song("own", seconds: 5))
    view.processPendingChanges()
    #expect(authors.last == .some(nil))
    withExtendedLifetime((subscription, following)) {}
  }

  @Test func commitsOfSeveralAuthorsThatArriveTogetherNameNone() async throws {
    let container = try await Records.open()
    let context = try container.newBackgroundContext()
    let authors = Log()
    let subscription = try context.performAndWait { context in
      context.automaticallyMergesChangesFromParent = false
      return context.onObjectsDidChange { authors.names.append($0.author) }
    }
    for (first, second) in [("a", "a"), ("a", "b")] {
      for author in [first, second] {
        try await container.write { context in
          context.author = author
          context.insert(Song("new"))
        }
      }
      try context.performAndWait { try $0.refresh() }
    }
    #expect(authors.names == ["a", nil])
    withExtendedLifetime(subscription) {}
  }

  /// Written by one queue after the other.
  private final class Log: @unchecked Sendable {
    // Safety: the context's queue writes while the test waits for it.
    var names: [String?] = []
  }

  @Test func aPropertyIsToldWithItsOldAndItsNewValue() async throws {
    let container = try await Records.open(seconds: [1])
    let view = container.viewContext
    let song = try #require(try view.fetch(From<Song>()).first)
    var told: [String] = []
    let subscription = try song.observe(\.seconds) { old, new in told.append("\(old) → \(new)") }
    let computed = try song.observe(\.label) { old, new in told.append("\(old) → \(new)") }
    song.seconds = 2
    song.seconds = 3
    view.processPendingChanges()
    #expect(told == ["1 → 3", "a of 1 → a of 3"])
    song.title = "a"
    song.seconds = 9
    song.seconds = 3
    view.processPendingChanges()
    #expect(told.count == 2)
    view.rollback()
    #expect(told.dropFirst(2) == ["3 → 1", "a of 3 → a of 1"])
    try await container.write { try $0.fetch(From<Song>()).first?.seconds = 7 }
    try container.waitForViewContext()
    #expect(told.dropFirst(4) == ["1 → 7", "a of 1 → a of 7"])
    subscription.cancel()
    song.seconds = 8
    view.delete(song)
    view.processPendingChanges()
    #expect(told.count == 6)
    withExtendedLifetime(computed) {}
    #expect(throws: ContextError.self) { try Song("free").observe(\.title) { _, _ in } }
  }
}

extension Song {
  fileprivate var label: String { "\(title) of \(seconds)" }
}
