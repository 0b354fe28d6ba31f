import Cambium
import Foundation
import Testing

private enum Catalogue {
  @Model final class Author {
    var tags: [String] = []
    var name: String
    @Relationship var books: [Book] = []
    init(_ name: String, tags: [String]) {
      self.name = name
      self.tags = tags
    }
  }

  /// Its list has the same slot as that of the authors, and an index.
  @Model final class Book {
    #Index<Book>([\.tags], [\.title])
    var tags: [String] = []
    var title: String
    init(_ title: String) { self.title = title }
  }
}

/// A list of the fetched object isn't looked up in an index of the elements' entity.
struct OuterListLookupTests {
  private typealias Author = Catalogue.Author

  @Test(arguments: ["jazz", ""])
  func theListOfTheObjectIsNotLookedUpAmongTheElements(_ prefix: String) async throws {
    let container = try await PersistentContainer(
      "Catalogue",
      models: Author.self,
      Catalogue.Book.self,
      at: .inMemory
    )
    try await container.performBackgroundTask { context in
      let authors = [Author("plain", tags: []), Author("jazzy", tags: ["jazz rock"])]
      for author in authors {
        context.insert(author)
        author.books = [Catalogue.Book("Blue")]
      }
      let request = From<Author>().where { author in
        author.books.any { book in
          book.title == "Blue" && !author.tags.any { $0.hasPrefix(prefix) }
        }
      }
      #expect(try context.fetch(request).map(\.name) == ["plain"], "before saving")
      try context.save()
      #expect(try context.fetch(request).map(\.name) == ["plain"])
      #expect(try context.count(request) == 1)
    }
  }
}
