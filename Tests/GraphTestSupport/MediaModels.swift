import Cambium
import Foundation

/// A hierarchy in which every kind of property meets: derived values, ordered lists, external values, lists with an index, unique values, embedded
/// values, values that insertions make.
package enum Media {
  @Embeddable package struct Size: Hashable {
    package var width: Int = 1
    package var depth: Int = 2
    package var note: String?

    package init(width: Int = 1, depth: Int = 2, note: String? = nil) {
      self.width = width
      self.depth = depth
      self.note = note
    }
  }

  @Model package final class Shelf {
    #Index<Shelf>([\.itemCount])
    @Attribute(.unique) package var name: String
    @Attribute(.derived("items.@count")) package var itemCount: Int
    @Attribute(.derived("items.@sum.pages")) package var pageCount: Int
    @Attribute(.derived("items.@max.year")) package var newest: Int?
    @Attribute(.derived("favourites.@count")) package var favouriteCount: Int
    @Relationship(.ordered, deleteRule: .cascade) package var items: OrderedToMany<Item> = []
    @Relationship package var favourites: [Book] = []

    package init(_ name: String) { self.name = name }
  }

  @Model(isAbstract: true, subclasses: ["Book", "Disc"])
  package class Item {
    #Index<Item>([\.year], [\.tags, \.year], [\.plainTitle])
    @Attribute(.unique(ifExists: .merge)) package var code: Int
    package var title: String = ""
    package var year: Int = 0
    package var tags: [String] = []
    @Attribute(.derived("title[cd]")) package var plainTitle: String
    @Attribute(.externalStorage) package var cover: Data?
    @Embedded package var size: Size?
    @Relationship(.ordered, inverse: \Shelf.items) package var shelf: Shelf?

    package init(_ code: Int) { self.code = code }
  }

  @Model(superclass: "Item", subclasses: ["Atlas"])
  package class Book: Item {
    #Index<Book>([\.words, \.pages], [\.noteCount], [\.spine.width])
    package var pages: Int = 100
    package var words: [String] = []
    package var motto: String?
    @Embedded package var spine: Size = Size()
    @Attribute(.unique) package var isbn: Int?
    @Attribute(.derived("motto[c]")) package var plainMotto: String?
    @Attribute(.derived("notes.@count")) package var noteCount: Int
    @Attribute(.derived("notes.@sum.weight")) package var weight: Int
    @Attribute(.derived("notes.@min.text")) package var firstNote: String?
    @Attribute(.externalStorage) package var text: String?
    @Relationship(.ordered, deleteRule: .cascade) package var notes: [Note] = []
    @Relationship(inverse: \Shelf.favourites) package var fans: [Shelf] = []

    package override init(_ code: Int) { super.init(code) }
  }

  @Model(superclass: "Book")
  package final class Atlas: Book {
    package var scale: Int = 1_000
    @Attribute(.perInsert { 3 }) package var edition: Int
    @Attribute(.derived("title[c]")) package var smallTitle: String

    package override init(_ code: Int) { super.init(code) }
  }

  @Model(superclass: "Item")
  package final class Disc: Item {
    #Index<Disc>([\.slot?.width])
    package var minutes: Int = 40
    @Embedded package var slot: Size?
    @Attribute(.perInsert { "made" }) package var mark: String
    @Attribute(.derived("tracks.@count")) package var trackCount: Int
    @Attribute(.derived("tracks.@max.seconds")) package var longest: Int?
    @Relationship(deleteRule: .cascade) package var tracks: [Tune] = []

    package override init(_ code: Int) { super.init(code) }
  }

  @Model package final class Note {
    package var text: String
    package var weight: Int
    @Relationship(.ordered, inverse: \Book.notes) package var book: Book?

    package init(_ text: String, weight: Int = 1) {
      self.text = text
      self.weight = weight
    }
  }

  @Model package final class Tune {
    package var seconds: Int
    @Relationship(inverse: \Disc.tracks) package var disc: Disc

    package init(_ seconds: Int, on disc: Disc) {
      self.seconds = seconds
      self.disc = disc
    }
  }

  package static let models: [any ManagedObject.Type] = [Shelf.self, Item.self, Note.self, Tune.self]

  package static func open(_ location: StoreLocation = .inMemory) async throws -> PersistentContainer {
    try await PersistentContainer("Media", models: models, at: location)
  }
}
