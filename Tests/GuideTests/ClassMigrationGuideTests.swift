import Cambium
import Foundation
import TestSupport
import Testing

/// Books and films are entities, and shelves lead to books.
private enum ShopV1: VersionedSchema {
  static let version = Schema.Version(1)
  static var models: [any ManagedObject.Type] { [Book.self, Film.self, Shelf.self] }

  @Model final class Book {
    var title: String
    var pages: Int
    @Relationship var shelves: ToMany<Shelf> = []
    init(_ title: String, pages: Int) {
      self.title = title
      self.pages = pages
    }
  }
  @Model final class Film {
    var title: String
    var minutes: Int
    init(_ title: String, minutes: Int) {
      self.title = title
      self.minutes = minutes
    }
  }
  @Model final class Shelf {
    var place: String
    @Relationship(inverse: \Book.shelves) var books: ToMany<Book> = []
    init(_ place: String) { self.place = place }
  }
}

/// Both are media, and shelves lead to any.
private enum ShopV2: VersionedSchema {
  static let version = Schema.Version(2)
  static var models: [any ManagedObject.Type] { [Media.self, Shelf.self] }

  @Model(isAbstract: true, subclasses: ["Book", "Film"])
  class Media {
    var title: String
    @Relationship var shelves: ToMany<Shelf> = []
    init(_ title: String) { self.title = title }
  }
  @Model(superclass: "Media")
  final class Book: Media {
    var pages: Int
    init(_ title: String, pages: Int) {
      self.pages = pages
      super.init(title)
    }
  }
  @Model(superclass: "Media")
  final class Film: Media {
    var minutes: Int
    init(_ title: String, minutes: Int) {
      self.minutes = minutes
      super.init(title)
    }
  }
  @Model final class Shelf {
    var place: String
    @Relationship(inverse: \Media.shelves) var media: ToMany<Media> = []
    init(_ place: String) { self.place = place }
  }
}

private let shopPlan = MigrationPlan(
  [ShopV1.self, ShopV2.self],
  stages: [
    // Quoted in Docs/SchemaChanges.md
    .custom(
      from: ShopV1.self,
      to: ShopV2.self,
      makingAnew: ["Media"],
      .forEach("Book") { batch in
        for book in batch.objects { try batch.makeSuccessor(of: book) }
      },
      .forEach("Film") { batch in
        for film in batch.objects { try batch.makeSuccessor(of: film) }
      },
      .forEach("Shelf") { batch in
        for shelf in batch.objects {
          for book in try shelf.objects("books") {
            guard let medium = try batch.successor(of: book) else { continue }
            try batch.successor(of: shelf)?.add(medium, to: "media")
          }
        }
      }
    )
    // End of quotation
  ]
)

struct ClassMigrationGuideTests {
  @Test func theGuidesPlanMakesAHierarchyOfEntities() async throws {
    let folder = try TemporaryFolder()
    let url = URL(fileURLWithPath: folder.file("shop.cambium"))
    let first = try await PersistentContainer("Shop", plan: MigrationPlan([ShopV1.self]), at: url)
    try await first.performBackgroundTask { context in
      let shelf = ShopV1.Shelf("window")
      context.insert(shelf)
      let books = [ShopV1.Book("Emma", pages: 474), ShopV1.Book("Ulysses", pages: 730)]
      for book in books {
        context.insert(book)
        shelf.books.append(book)
      }
      context.insert(ShopV1.Film("Ran", minutes: 162))
      try context.save()
    }
    try await first.close()

    let forecasts = try shopPlan.forecasts(at: url).map { "\($0)" }
    #expect(forecasts.joined().contains("Media"))
    let shop = try await PersistentContainer("Shop", plan: shopPlan, at: url)
    try await shop.performBackgroundTask { context in
      let media = try context.fetch(From<ShopV2.Media>().orderBy(\.title))
      #expect(media.map(\.title) == ["Emma", "Ran", "Ulysses"])
      #expect(media.map { ($0 as? ShopV2.Book)?.pages } == [474, nil, 730])
      #expect((media[1] as? ShopV2.Film)?.minutes == 162)
      let shelf = try #require(try context.fetch(From<ShopV2.Shelf>()).first)
      #expect(Set(shelf.media.map(\.title)) == ["Emma", "Ulysses"])
    }
    #expect(try await shop.verify() == [])
    try await shop.close()
  }
}
