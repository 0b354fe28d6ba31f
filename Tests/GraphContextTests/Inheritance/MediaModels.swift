import Cambium
import Foundation

/// A hierarchy in which every kind of property meets: derived values, ordered lists, external values, lists with an index, unique values, embedded
/// values, values that insertions make.
enum Media {
  @Embeddable struct Size: Hashable {
    var width: Int = 1
    var depth: Int = 2
    var note: String?
  }

  @Model final class Shelf {
    #Index<Shelf>([\.itemCount])
    @Attribute(.unique) var name: String
    @Attribute(.derived("items.@count")) var itemCount: Int
    @Attribute(.derived("items.@sum.pages")) var pageCount: Int
    @Attribute(.derived("items.@max.year")) var newest: Int?
    @Attribute(.derived("favourites.@count")) var favouriteCount: Int
    @Relationship(.ordered, deleteRule: .cascade) var items: OrderedToMany<Item> = []
    @Relationship var favourites: [Book] = []

    init(_ name: String) { self.name = name }
  }

  @Model(isAbstract: true, subclasses: ["Book", "Disc"])
  class Item {
    #Index<Item>([\.year], [\.tags, \.year], [\.plainTitle])
    @Attribute(.unique(ifExists: .merge)) var code: Int
    var title: String = ""
    var year: Int = 0
    var tags: [String] = []
    @Attribute(.derived("title[cd]")) var plainTitle: String
    @Attribute(.externalStorage) var cover: Data?
    @Embedded var size: Size?
    @Relationship(.ordered, inverse: \Shelf.items) var shelf: Shelf?

    init(_ code: Int) { self.code = code }
  }

  @Model(superclass: "Item", subclasses: ["Atlas"])
  class Book: Item {
    #Index<Book>([\.words, \.pages], [\.noteCount], [\.spine.width])
    var pages: Int = 100
    var words: [String] = []
    var motto: String?
    @Embedded var spine: Size = Size()
    @Attribute(.unique) var isbn: Int?
    @Attribute(.derived("motto[c]")) var plainMotto: String?
    @Attribute(.derived("notes.@count")) var noteCount: Int
    @Attribute(.derived("notes.@sum.weight")) var weight: Int
    @Attribute(.derived("notes.@min.text")) var firstNote: String?
    @Attribute(.externalStorage) var text: String?
    @Relationship(.ordered, deleteRule: .cascade) var notes: [Note] = []
    @Relationship(inverse: \Shelf.favourites) var fans: [Shelf] = []

    override init(_ code: Int) { super.init(code) }
  }

  @Model(superclass: "Book")
  final class Atlas: Book {
    var scale: Int = 1_000
    @Attribute(.perInsert { 3 }) var edition: Int
    @Attribute(.derived("title[c]")) var smallTitle: String

    override init(_ code: Int) { super.init(code) }
  }

  @Model(superclass: "Item")
  final class Disc: Item {
    #Index<Disc>([\.slot?.width])
    var minutes: Int = 40
    @Embedded var slot: Size?
    @Attribute(.perInsert { "made" }) var mark: String
    @Attribute(.derived("tracks.@count")) var trackCount: Int
    @Attribute(.derived("tracks.@max.seconds")) var longest: Int?
    @Relationship(deleteRule: .cascade) var tracks: [Tune] = []

    override init(_ code: Int) { super.init(code) }
  }

  @Model final class Note {
    var text: String
    var weight: Int
    @Relationship(.ordered, inverse: \Book.notes) var book: Book?

    init(_ text: String, weight: Int = 1) {
      self.text = text
      self.weight = weight
    }
  }

  @Model final class Tune {
    var seconds: Int
    @Relationship(inverse: \Disc.tracks) var disc: Disc

    init(_ seconds: Int, on disc: Disc) {
      self.seconds = seconds
      self.disc = disc
    }
  }

  static let models: [any ManagedObject.Type] = [Shelf.self, Item.self, Note.self, Tune.self]

  static func open(_ location: StoreLocation = .inMemory) async throws -> PersistentContainer {
    try await PersistentContainer("Media", models: models, at: location)
  }
}
