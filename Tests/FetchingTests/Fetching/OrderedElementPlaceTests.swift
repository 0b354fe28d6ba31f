import Cambium
import Foundation
import Testing

private enum Dinner {
  @Model final class Menu {
    var day: String
    @Relationship(.ordered, deleteRule: .cascade) var dishes: [Dish] = []
    init(_ day: String) { self.day = day }
  }

  @Model final class Dish {
    var name: String
    @Relationship(.ordered, inverse: \Menu.dishes) var menu: Menu?
    init(_ name: String) { self.name = name }
  }
}

/// `[FIRST]`, `[LAST]` and `[n]` of an ordered relationship follow the order of IDs, whatever the order of the list.
struct OrderedElementPlaceTests {
  private typealias Menu = Dinner.Menu

  @Test func objectsAtHandAreTestedAsInAQuery() async throws {
    let container = try await PersistentContainer(
      "Dinner",
      models: Menu.self,
      Dinner.Dish.self,
      at: .inMemory
    )
    try await container.performBackgroundTask { context in
      let dishes = ["a", "b", "c"].map { Dinner.Dish($0) }
      for dish in dishes { context.insert(dish) }
      let menu = Menu("Monday")
      context.insert(menu)
      // Another order than that of the objects' IDs.
      menu.dishes = [dishes[2], dishes[0], dishes[1]]
      try context.save()
      for (place, name) in [("FIRST", "a"), ("1", "b"), ("LAST", "c")] {
        for other in ["a", "b", "c"] {
          let condition = try Where<Menu>(format: "dishes[\(place)].name == %@", other)
          let found = try context.fetch(From<Menu>().where(condition))
          #expect(found == (other == name ? [menu] : []), "\(condition)")
          #expect(try [menu].filter(matching: condition) == found, "\(condition)")
        }
      }
    }
  }
}
