import Cambium
import Foundation
import GraphTestSupport

/// What an item of a ``Media`` store has, without its shelf.
struct PlainMedium: Equatable {
  enum Kind: String, CaseIterable {
    case book = "Book"
    case atlas = "Atlas"
    case disc = "Disc"

    /// The names of the class and of those above it.
    var names: Set<String> {
      switch self {
      case .book: ["Item", "Book"]
      case .atlas: ["Item", "Book", "Atlas"]
      case .disc: ["Item", "Disc"]
      }
    }
    var isBook: Bool { self != .disc }
  }

  var kind: Kind
  var code: Int
  var title = ""
  var year = 0
  var tags: [String] = []
  var cover: Data?
  var size: Media.Size?
  /// Of books.
  var pages = 100
  var words: [String] = []
  var motto: String?
  var spine = Media.Size()
  var isbn: Int?
  var text: String?
  var notes: [String] = []
  var fans: Set<String> = []
  /// Of atlases.
  var scale = 1_000
  var edition = 3
  /// Of discs.
  var minutes = 40
  var slot: Media.Size?
  var mark = "made"
  var tracks: [Int] = []

  init(_ kind: Kind, _ code: Int) {
    self.kind = kind
    self.code = code
  }

  /// What an object shows.
  init(_ item: Media.Item) {
    self.init(item is Media.Atlas ? .atlas : item is Media.Book ? .book : .disc, item.code)
    title = item.title
    year = item.year
    tags = item.tags
    cover = item.cover
    size = item.size
    if let book = item as? Media.Book {
      pages = book.pages
      words = book.words
      motto = book.motto
      spine = book.spine
      isbn = book.isbn
      text = book.text
      notes = book.notes.map(\.text)
      fans = Set(book.fans.map(\.name))
    }
    if let atlas = item as? Media.Atlas {
      scale = atlas.scale
      edition = atlas.edition
    }
    if let disc = item as? Media.Disc {
      minutes = disc.minutes
      slot = disc.slot
      mark = disc.mark
      tracks = disc.tracks.map(\.seconds).sorted()
    }
  }

  /// An object with the values that new ones have.
  func makeObject() -> Media.Item {
    switch kind {
    case .book: Media.Book(code)
    case .atlas: Media.Atlas(code)
    case .disc: Media.Disc(code)
    }
  }

  /// The weight of a note is the length of its text.
  static func note(_ text: String) -> Media.Note { Media.Note(text, weight: text.utf8.count) }

  /// Returns the names of the derived values of an object that differ from those computed from these values.
  func differences(_ item: Media.Item) -> [String] {
    var found: [String] = []
    func check(_ name: String, _ isRight: Bool) { if !isRight { found.append(name) } }
    check("plainTitle", item.plainTitle == title.lowercased())
    if let book = item as? Media.Book {
      check("plainMotto", book.plainMotto == motto?.lowercased())
      check("noteCount", book.noteCount == notes.count)
      check("weight", book.weight == notes.reduce(0) { $0 + $1.utf8.count })
      check("firstNote", book.firstNote == notes.min())
    }
    if let atlas = item as? Media.Atlas { check("smallTitle", atlas.smallTitle == title.lowercased()) }
    if let disc = item as? Media.Disc {
      check("trackCount", disc.trackCount == tracks.count)
      check("longest", disc.longest == tracks.max())
    }
    return found
  }
}

/// What a ``Media`` store shows.
struct PlainShelves: Equatable {
  var items: [Int: PlainMedium] = [:]
  /// The codes of each shelf's items, in order.
  var shelves: [String: [Int]] = [:]

  mutating func remove(_ code: Int) {
    items[code] = nil
    takeOut(code)
  }

  mutating func takeOut(_ code: Int) {
    for name in shelves.keys { shelves[name]?.removeAll { $0 == code } }
  }

  /// Removes a shelf with its items.
  mutating func empty(_ shelf: String) {
    for code in shelves[shelf] ?? [] { items[code] = nil }
    shelves[shelf] = []
    for code in items.keys { items[code]?.fans.remove(shelf) }
  }

  /// The items of a class, or of one below it.
  func items(of kind: String) -> [PlainMedium] { items.values.filter { $0.kind.names.contains(kind) } }
}
