import Cambium
import Foundation
import Testing

@testable import GraphContext

private enum Rows {
  @Model final class Feed {
    var name: String
    @Relationship(.ordered, inverse: \Item.feed) var items: [Item] = []
    init(_ name: String) { self.name = name }
  }
  @Model final class Item {
    @Attribute(.unique(ifExists: .merge)) var code: Int
    @Relationship(.ordered) var feed: Feed?
    init(_ code: Int) { self.code = code }
  }
}

/// A batch insertion leaves an object where it is that its row is unified with, and that is in the row's list already.
struct UnifiedRowOrderTests {
  private let store: PersistentContainer
  private let feed: ManagedObjectID

  init() async throws {
    store = try await PersistentContainer("Rows", models: Rows.Feed.self, Rows.Item.self, at: .inMemory)
    feed = try await store.performBackgroundTask { context in
      let feed = Rows.Feed("news")
      context.insert(feed)
      feed.items = (1...3).map(Rows.Item.init)
      try context.save()
      // The first becomes the last, again and again: the places are far behind those of the next numbers.
      for _ in 0..<60 {
        var items = feed.items
        items.append(items.removeFirst())
        feed.items = items
      }
      try context.save()
      return feed.objectID
    }
  }

  private func codes() async throws -> [Int] {
    try await store.query { [feed] in try $0.existingObject(Rows.Feed.self, with: feed).items.map(\.code) }
  }

  @Test(arguments: 1...3, [UniquePolicy.merge, .replace])
  func aRowOfAMemberMovesNothing(_ code: Int, _ policy: UniquePolicy) async throws {
    #expect(try await codes() == [1, 2, 3])
    try await store.batchInsert(
      Rows.Item.self,
      from: [code],
      .set(\.code) { $0 },
      .set(\.feed) { [feed] _ in feed },
      ifExists: policy
    )
    #expect(try await codes() == [1, 2, 3])
    #expect(try await store.verify().map(\.description) == [])
  }
}
