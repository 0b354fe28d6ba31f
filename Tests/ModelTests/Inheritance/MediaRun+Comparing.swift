import Cambium
import Foundation
import GraphTestSupport
import Predicates
import TestSupport
import Testing

@testable import GraphContext

extension MediaRun {
  func compare() throws {
    let items = try context.fetch(From<Media.Item>())
    try #require(Set(items.map(\.code)) == Set(shown.items.keys))
    for item in items { try #require(PlainMedium(item) == shown.items[item.code]) }
    for (name, codes) in shown.shelves {
      try #require(try shelf(name).items.map(\.code) == codes)
      let books = From<Media.Book>().where { $0.shelf.name == name }.orderBy(.position(in: \.shelf))
      try #require(
        try context.fetch(books).map(\.code) == codes.filter { shown.items[$0]?.kind.isBook == true }
      )
    }
    for kind in ["Item", "Book", "Atlas", "Disc"] {
      try #require(
        try context.count(From<Media.Item>().where(format: "KIND == %@", kind)) == shown.items(of: kind).count
      )
    }
    let (tag, year) = (generator.pick(Self.words), generator.number(in: 0...9))
    let tagged = From<Media.Book>().where { $0.tags.contains(tag) && $0.year <= year }
    try same(tagged, shown.items(of: "Book").filter { $0.tags.contains(tag) && $0.year <= year })
    try same(
      From<Media.Book>().where { $0.words.contains(tag) },
      shown.items(of: "Book").filter { $0.words.contains(tag) }
    )
    try same(
      From<Media.Book>().where { $0.spine.width == year },
      shown.items(of: "Book").filter { $0.spine.width == year }
    )
    try same(
      From<Media.Disc>().where { $0.slot.width <= year && $0.mark != tag },
      shown.items(of: "Disc").filter { item in
        item.slot.map { $0.width <= year } ?? false && item.mark != tag
      }
    )
    try same(
      From<Media.Item>().where { $0.size.note == tag },
      shown.items.values.filter { $0.size?.note == tag }
    )
    let format = "TYPE == \"Book\" AND ANY words == %@ OR KIND == \"Disc\" AND year < %d"
    let condition = try Where<Media.Item>(format: format, arguments: [tag, year])
    let expected = shown.items.values.filter { item in
      item.kind == .book && item.words.contains(tag) || item.kind == .disc && item.year < year
    }
    try same(From<Media.Item>().where(condition), expected)
    try #require(try Set(items.filter(matching: condition).map(\.code)) == Set(expected.map(\.code)))
  }

  func same<Root: Media.Item>(_ request: From<Root>, _ expected: [PlainMedium]) throws {
    try #require(
      try context.fetch(request).map(\.code).sorted() == expected.map(\.code).sorted(),
      "\(request)"
    )
  }

  /// Compares the derived values of objects and of records. The context has no unsaved changes.
  func compareStored() throws {
    try #require(saved == shown)
    for item in try contexts[current].fetch(From<Media.Item>()) {
      try #require(shown.items[item.code]?.differences(item) == [])
    }
    for (name, codes) in shown.shelves {
      let shelf = try shelf(name)
      let items = codes.compactMap { shown.items[$0] }
      try #require(shelf.itemCount == codes.count && shelf.newest == items.map(\.year).max())
      try #require(shelf.pageCount == items.filter(\.kind.isBook).reduce(0) { $0 + $1.pages })
      try #require(shelf.favouriteCount == shown.items.values.count { $0.fans.contains(name) })
    }
    let store = try DynamicStore(container.store)
    for kind in ["Item", "Book", "Atlas", "Disc"] {
      var query = DynamicQuery(kind, where: try PredicateTree(format: "year > 4"))
      query.select = ["code"]
      let codes = try store.rows(of: query).map { $0.values[0] }
      let expected = shown.items(of: kind).filter { $0.year > 4 }.map { AttributeValue.int(Int64($0.code)) }
      try #require(Set(codes) == Set(expected))
    }
    let number = generator.number(in: 0...3)
    try same(
      From<Media.Book>().where { $0.noteCount == number },
      shown.items(of: "Book").filter { $0.notes.count == number }
    )
  }
}
