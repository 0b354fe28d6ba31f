import Cambium
import Foundation
import Testing

private enum Bookcase {
  @Model final class Shelf {
    var name: String
    @Relationship var books: [Book] = []
    init(_ name: String) { self.name = name }
  }

  @Model final class Book {
    var title: String
    var pages: Int?
    init(_ title: String, _ pages: Int?) { (self.title, self.pages) = (title, pages) }
  }
}

/// Patterns, and lists in conditions on elements, find the same among objects at hand as in a query.
struct ElementPatternFilteringTests {
  private typealias Shelf = Bookcase.Shelf

  @Test(arguments: [
    ("SUBQUERY(books, $b, $b.pages IN {1, 9, nil}).@count == 1", ["first", "second"]),
    ("SUBQUERY(books, $b, NOT $b.title IN {'Blue', 'Green'}).@count == 2", ["second"]),
    ("ANY books.title LIKE[c] 'b?u*'", ["first"]),
    ("ANY books.title MATCHES '[bB]la?u.*'", ["first", "second"]),
    ("NOT ANY books.title CONTAINS[c] 'B'", ["third"]),
    ("lowercase(name) LIKE '*ir??'", ["first"]),
    ("NOT name MATCHES '.*d'", ["first"]),
    ("name ENDSWITH[c] 'RD' AND books.@count == 0", ["third"]),
  ])
  func objectsAtHandAreFoundAsInAQuery(_ format: String, _ names: [String]) async throws {
    let container = try await PersistentContainer(
      "Bookcase",
      models: Shelf.self,
      Bookcase.Book.self,
      at: .inMemory
    )
    let condition = try Where<Shelf>(format: format)
    try await container.performBackgroundTask { context in
      let shelves = [Shelf("first"), Shelf("second"), Shelf("third")]
      for shelf in shelves { context.insert(shelf) }
      shelves[0].books = [Bookcase.Book("Blue", 1), Bookcase.Book("Green", 7)]
      shelves[1].books = [Bookcase.Book("blau", nil), Bookcase.Book("Grey", 3)]
      #expect(try shelves.filter(matching: condition).map(\.name) == names)
      try context.save()
      #expect(try shelves.filter(matching: condition).map(\.name) == names)
      #expect(try context.fetch(From<Shelf>().where(condition)).map(\.name) == names)
    }
  }
}
