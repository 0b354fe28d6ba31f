import Cambium
import Foundation
import Testing

private enum Lending {
  @Model final class Library {
    var name: String
    @Relationship var books: [Book] = []
    @Relationship var members: [Member] = []
    init(_ name: String) { self.name = name }
  }

  @Model final class Book {
    var title: String
    var pages: Int
    init(_ title: String, _ pages: Int) { (self.title, self.pages) = (title, pages) }
  }

  /// A member has a property of the same name as a book.
  @Model final class Member {
    var name: String
    var pages: Int
    init(_ name: String, _ pages: Int) { (self.name, self.pages) = (name, pages) }
  }
}

/// A filter of filtered elements keeps the meaning of both conditions, also inside of another closure.
struct RefinedFilterTests {
  private typealias Library = Lending.Library

  private static let condition = Where<Library> { library in
    let long = library.books.filter { $0.pages > 300 }
    return library.members.any { member in long.any { $0.title == member.name } }
  }

  @Test func theFirstConditionStaysOneOnTheElement() {
    let long = "SUBQUERY(books, $e2, $e2.pages > 300 AND $e2.title == $e1.name)"
    #expect("\(Self.condition)" == "SUBQUERY(members, $e1, \(long).@count > 0).@count > 0")
  }

  @Test func elementsInsideOfTheFirstConditionGetOtherNamesToo() {
    let condition = Where<Library> { library in
      let read = library.books.filter { book in library.members.any { $0.pages == book.pages } }
      return library.members.any { member in read.any { $0.title == member.name } }
    }
    let readers = "SUBQUERY(members, $e3, $e3.pages == $e2.pages).@count > 0"
    let read = "SUBQUERY(books, $e2, \(readers) AND $e2.title == $e1.name)"
    #expect("\(condition)" == "SUBQUERY(members, $e1, \(read).@count > 0).@count > 0")
  }

  @Test func theQueryFindsTheObjectsThatThePlainConditionFinds() async throws {
    let container = try await PersistentContainer(
      "Lending",
      models: Library.self,
      Lending.Book.self,
      Lending.Member.self,
      at: .inMemory
    )
    try await container.performBackgroundTask { context in
      let (long, short) = (Library("long"), Library("short"))
      for library in [long, short] { context.insert(library) }
      long.books = [Lending.Book("Dune", 400), Lending.Book("Emma", 100)]
      long.members = [Lending.Member("Dune", 5)]
      short.books = [Lending.Book("Emma", 100)]
      short.members = [Lending.Member("Emma", 500)]
      try context.save()
      let all = try context.fetch(From<Library>())
      let plain = all.filter { library in
        let long = library.books.filter { $0.pages > 300 }
        return library.members.contains { member in long.contains { $0.title == member.name } }
      }
      #expect(plain.map(\.name) == ["long"])
      #expect(try context.fetch(From<Library>().where(Self.condition)).map(\.name) == ["long"])
      #expect(try all.filter(matching: Self.condition).map(\.name) == ["long"])
    }
  }
}
