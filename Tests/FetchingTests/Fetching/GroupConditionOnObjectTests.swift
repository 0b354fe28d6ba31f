import Foundation
import GraphContext
import Predicates
import Testing

/// A condition on groups names an object, where groups are by a relationship.
struct GroupConditionOnObjectTests {
  @Test(arguments: [["shelf"], ["shelf", "shelf.code"], ["shelf.objectID"]])
  func groupsAreComparedWithAnObject(_ keys: [String]) async throws {
    let container = try await PersistentContainer("groups", models: Item.self, Shelf.self, at: .inMemory)
    try await container.performBackgroundTask { context in
      let shelves = ["a", "b"].map { Shelf(code: $0, height: nil, next: nil) }
      for shelf in shelves { context.insert(shelf) }
      for number in 0..<5 {
        context.insert(
          Item(n: number, m: nil, t: nil, d: nil, w: nil, u: nil, flag: true, shelf: shelves[number % 2])
        )
      }
      try context.save()
      var query = DynamicQuery("Item")
      query.groupBy = keys
      query.aggregates = [.init(.count)]
      #expect(try context.groups(of: query).count == 2)
      let key = try PredicateTree(format: "\(keys[0]) == %@", arguments: [shelves[0]])
      query.having = key
      #expect(try context.groups(of: query).map { $0.value(of: "count") } == [.int(3)])
      query.having = try PredicateTree(format: "\(keys[0]) IN %@", arguments: [[shelves[1].objectID]])
      #expect(try context.groups(of: query).map { $0.value(of: "count") } == [.int(2)])
    }
  }
}
