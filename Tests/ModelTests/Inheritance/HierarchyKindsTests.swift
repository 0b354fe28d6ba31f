import Cambium
import Foundation
import GraphTestSupport
import TestSupport
import Testing

@testable import GraphContext

private enum Farm {
  @Model(subclasses: ["Cow"])
  class Animal {
    var name: String
    init(_ name: String) { self.name = name }
  }
  @Model(superclass: "Animal")
  final class Cow: Animal {
    @Relationship(inverse: \Calf.mother, minimumModelCount: 1) var calves: [Calf] = []
    override init(_ name: String) { super.init(name) }
  }
  @Model final class Calf {
    @Relationship var mother: Cow?
    init() {}
  }
}

/// Kinds of properties that subclasses declare: each belongs to the objects of its class alone.
struct HierarchyKindsTests {
  private let container: PersistentContainer

  init() async throws { container = try await Media.open() }

  private func run(_ body: @Sendable (ManagedObjectContext) throws -> Void) throws {
    try container.inContext(body)
    let problems = try container.verify().map(\.description)
    #expect(problems == [])
  }

  // MARK: Derived values

  @Test func derivedValuesBelongToTheirClass() throws {
    try run { (context: ManagedObjectContext) throws -> Void in
      let shelf = Media.Shelf("A")
      context.insert(shelf)
      let (book, atlas, disc) = (Media.Book(1), Media.Atlas(2), Media.Disc(3))
      for item in [book, atlas, disc] as [Media.Item] {
        context.insert(item)
        item.title = "É\(item.code)"
        item.year = 2_000 + item.code
        item.shelf = shelf
      }
      book.motto = "ABC"
      book.notes = [Media.Note("b", weight: 2), Media.Note("a", weight: 3)]
      atlas.notes = [Media.Note("z")]
      disc.tracks = [Media.Tune(5, on: disc), Media.Tune(9, on: disc)]
      shelf.favourites = [book, atlas]
      try context.save()
      #expect(book.noteCount == 2 && book.weight == 5 && book.firstNote == "a" && book.plainMotto == "abc")
      #expect(atlas.noteCount == 1 && atlas.smallTitle == "é2" && atlas.plainTitle == "e2")
      #expect(disc.trackCount == 2 && disc.longest == 9 && disc.plainTitle == "e3")
      #expect(shelf.itemCount == 3 && shelf.pageCount == 200 && shelf.newest == 2_003)
      #expect(shelf.favouriteCount == 2)
    }
    try run { (context: ManagedObjectContext) throws -> Void in
      let disc = try #require(try context.fetchOne(From<Media.Disc>()))
      let book = try #require(try context.fetchOne(From<Media.Book>().where { $0.code == 1 }))
      disc.title = "NEW"
      context.delete(book.notes[0])
      try context.save()
      #expect(disc.plainTitle == "new" && book.noteCount == 1 && book.weight == 3)
      #expect(try context.fetch(From<Media.Book>().where { $0.noteCount == 1 }).count == 2)
      #expect(try context.fetch(From<Media.Item>().where(format: "noteCount == 0")).isEmpty)
      context.delete(book)
      try context.save()
      let shelf = try #require(try context.fetchOne(From<Media.Shelf>()))
      #expect(shelf.itemCount == 2 && shelf.pageCount == 100 && shelf.favouriteCount == 1)
    }
  }

  @Test func derivedValuesOfBatches() async throws {
    try await container.batchInsert(Media.Disc.self, from: 0..<5, .set(\.code) { $0 })
    try await container.batchInsert(
      Media.Atlas.self,
      from: 5..<10,
      .set(\.code) { $0 },
      .set(\.title) { "T\($0)" }
    )
    try await container.batchUpdate(From<Media.Item>(), .set(\.title, to: "Ö"))
    try run { (context: ManagedObjectContext) throws -> Void in
      #expect(try context.fetch(From<Media.Atlas>()).map(\.smallTitle) == Array(repeating: "ö", count: 5))
      #expect(try context.fetch(From<Media.Atlas>()).map(\.noteCount) == [0, 0, 0, 0, 0])
      #expect(try context.fetch(From<Media.Disc>()).map(\.trackCount) == [0, 0, 0, 0, 0])
    }
  }

  @Test func rulesAreAboutWhatTheClassHas() {
    func problems(_ own: [PropertyDescription], _ others: [PropertyDescription] = []) -> [String] {
      let declared = [PropertyDescription.attribute("title", String.self)]
      let link = RelationshipDescription(
        name: "of",
        destination: "Item",
        cardinality: .optional,
        inverse: "parts"
      )
      do throws(SchemaError) {
        _ = try Schema(entities: [
          EntityDescription(
            name: "Item",
            properties: declared + own + others,
            classes: [
              ClassDescription(name: "Item", properties: ["title"]),
              ClassDescription(name: "Own", parent: "Item", properties: own.map(\.name), required: ["copy"]),
              ClassDescription(name: "Other", parent: "Item", properties: others.map(\.name)),
            ]
          ), EntityDescription(name: "Part", properties: [.relationship(link)]),
        ])
        return []
      } catch {
        return error.problems
      }
    }
    func copy(_ kind: AttributeKind, _ rule: AttributeDerivation) -> PropertyDescription {
      .attribute(AttributeDescription(name: "copy", kind: kind, isOptional: true, derivation: rule))
    }
    let parts = PropertyDescription.relationship(
      .init(name: "parts", destination: "Part", cardinality: .many, inverse: "of")
    )
    #expect(problems([copy(.string, "title[c]")], [parts]) == [])
    #expect(problems([copy(.int64, "parts.@count"), parts]) == [])
    #expect(
      problems([copy(.int64, "parts.@count")], [parts]) == [
        "Own.copy is derived from parts, which is a property of Other"
      ]
    )
  }

  // MARK: Unique values

  @Test func anObjectIsUnifiedWithOneOfItsClassAlone() async throws {
    try run { (context: ManagedObjectContext) throws -> Void in
      let book = Media.Atlas(1)
      book.pages = 5
      book.scale = 7
      context.insert(book)
      try context.save()
      // Defaults of the new object aren't taken over, and properties that only the existing object's class has keep
      // their values.
      let other = Media.Book(1)
      other.title = "new"
      context.insert(other)
      try context.save()
      #expect(book.title == "new" && book.pages == 5 && book.scale == 7)
      let disc = Media.Disc(1)
      context.insert(disc)
      let error = #expect(throws: ContextError.self) { try context.save() }
      #expect(error?.code == .notUnique)
      context.rollback()
      // An atlas can't be a book that is no atlas.
      context.insert(Media.Book(2))
      try context.save()
      context.insert(Media.Atlas(2))
      #expect(throws: ContextError.self) { try context.save() }
      context.rollback()
      context.insert(Media.Disc(3))
      context.insert(Media.Book(3))
      #expect(throws: ContextError.self) { try context.save() }
      context.rollback()
      #expect(try context.count(From<Media.Item>()) == 2)
    }
    let refused = await #expect(throws: ContextError.self) {
      try await self.container.batchInsert(Media.Disc.self, from: [1], .set(\.code) { $0 })
    }
    #expect(refused?.code == .notUnique)
    try await container.batchInsert(
      Media.Book.self,
      from: [1],
      .set(\.code) { $0 },
      .set(\.motto) { _ in "m" },
      ifExists: .replace
    )
    try run { (context: ManagedObjectContext) throws -> Void in
      let book = try #require(try context.fetchOne(From<Media.Atlas>()))
      #expect(book.motto == "m" && book.pages == 100 && book.scale == 7)
    }
  }

  // MARK: Lists

  @Test func objectsOfSeveralClassesAreInTheOrderOfTheirInsertion() async throws {
    try container.inContext { (context: ManagedObjectContext) throws -> Void in
      context.insert(Media.Shelf("A"))
      try context.save()
    }
    let shelf = try await container.query { try $0.fetch(From<Media.Shelf>()).map(\.objectID)[0] }
    for code in 0..<6 {
      if code % 2 == 0 {
        try await container.batchInsert(
          Media.Disc.self,
          from: [code],
          .set(\.code) { $0 },
          .set(\.shelf) { _ in shelf }
        )
      } else {
        try await container.batchInsert(
          Media.Book.self,
          from: [code],
          .set(\.code) { $0 },
          .set(\.shelf) { _ in shelf }
        )
      }
    }
    try run { (context: ManagedObjectContext) throws -> Void in
      let shelf = try #require(try context.fetchOne(From<Media.Shelf>()))
      #expect(shelf.items.map(\.code) == [0, 1, 2, 3, 4, 5])
      shelf.items.append(Media.Book(6))
      shelf.items.append(Media.Disc(7))
      shelf.items.move(from: 7, to: 0)
      try context.save()
      #expect(shelf.items.map(\.code) == [7, 0, 1, 2, 3, 4, 5, 6])
      let request = From<Media.Item>().where { $0.shelf == shelf }.orderBy(.position(in: \.shelf))
      #expect(try context.fetch(request).map(\.code) == [7, 0, 1, 2, 3, 4, 5, 6])
      let books = From<Media.Book>().where { $0.shelf == shelf }.orderBy(.position(in: \.shelf))
      #expect(try context.fetch(books.offset(1).limit(2)).map(\.code) == [3, 5])
    }
  }

  // MARK: Destinations

  @Test func anIDOfAnotherClassIsNoDestination() async throws {
    let zoo = try await PersistentContainer("zoo", models: Animal.self, Keeper.self, at: .inMemory)
    try zoo.inContext { (context: ManagedObjectContext) throws -> Void in
      context.insert(Cat("Tom", age: 1, whiskers: 2))
      context.insert(Puppy("Bit", breed: "Pug", weeks: 3))
      try context.save()
    }
    let ids = try await zoo.query { context in
      (try context.fetch(From<Cat>()).map(\.objectID)[0], try context.fetch(From<Puppy>()).map(\.objectID)[0])
    }
    let refused = await #expect(throws: ContextError.self) {
      try await zoo.batchInsert(
        Keeper.self,
        from: ["Ada"],
        .set(\.name) { $0 },
        .set(\.guardDog) { _ in ids.0 }
      )
    }
    #expect(refused?.code == .unknownEntity)
    try await zoo.batchInsert(
      Keeper.self,
      from: ["Ada"],
      .set(\.name) { $0 },
      .set(\.guardDog) { _ in ids.1 },
      .set(\.favourite) { _ in ids.0 }
    )
    try zoo.inContext { (context: ManagedObjectContext) throws -> Void in
      let keeper = try #require(try context.fetchOne(From<Keeper>()))
      #expect(keeper.guardDog is Puppy && keeper.favourite is Cat)
      var values = keeper.values
      values.guardDog = ids.0
      let error = #expect(throws: ContextError.self) { try keeper.apply(values) }
      #expect(error?.code == .wrongDestination && keeper.guardDog is Puppy)
    }
  }

  // MARK: Rules for counts

  @Test func aRuleForTheCountOfMembersIsOneOfItsClass() async throws {
    let farm = try await PersistentContainer("Farm", models: Farm.Animal.self, Farm.Calf.self, at: .inMemory)
    try farm.inContext { (context: ManagedObjectContext) throws -> Void in
      context.insert(Farm.Animal("hen"))
      try context.save()
      let cow = Farm.Cow("cow")
      context.insert(cow)
      let error = #expect(throws: ContextError.self) { try context.save() }
      #expect(error?.code == .validationFailed)
      cow.calves = [Farm.Calf()]
      try context.save()
    }
  }

  // MARK: Records, words, history

  @Test func queriesInWordsAreForClasses() throws {
    try run { (context: ManagedObjectContext) throws -> Void in
      context.insert(Media.Atlas(1))
      context.insert(Media.Book(2))
      context.insert(Media.Disc(3))
      try context.save()
      #expect(try context.fetch(DynamicQuery("Book"), as: Media.Book.self).map(\.code) == [2, 1])
      #expect(try context.fetch(DynamicQuery("Atlas"), as: Media.Book.self).map(\.code) == [1])
      #expect(try context.fetch(DynamicQuery("Item"), as: Media.Item.self).count == 3)
      #expect(try context.count(DynamicQuery("Disc")) == 1)
      #expect(throws: ContextError.self) { try context.fetch(DynamicQuery("Item"), as: Media.Book.self) }
      #expect(throws: ContextError.self) { try context.fetch(DynamicQuery("Disc"), as: Media.Book.self) }
      let store = try DynamicStore(container.store)
      #expect(try store.count(of: "Book") == 2 && store.count(of: "Item") == 3)
      #expect(
        try store.columns(of: DynamicQuery("Disc")) == [
          "code", "title", "year", "tags", "plainTitle", "shelf", "size", "size.width", "size.depth",
          "size.note",
          "minutes", "mark", "trackCount", "longest", "slot", "slot.width", "slot.depth", "slot.note",
        ]
      )
      let rows = try store.rows(of: DynamicQuery("Book", where: try PredicateTree(format: "noteCount == 0")))
      #expect(rows.map(\.objectID.entityName) == ["Book", "Atlas"])
      for format in ["pages > 1", "notes.@count == 0", "page > 1"] {
        let error = #expect(throws: ContextError.self) {
          try store.rows(of: DynamicQuery("Disc", where: try PredicateTree(format: format)))
        }
        #expect(error?.queryError?.code == .unknownName && error?.message.contains("pages”?") == false)
      }
    }
  }

  @Test func historiesAndEventsNameClasses() async throws {
    try await container.keepHistory()
    try container.inContext { (context: ManagedObjectContext) throws -> Void in
      let book = Media.Book(1)
      book.notes = [Media.Note("a")]
      let shelf = Media.Shelf("A")
      context.insert(book)
      context.insert(shelf)
      try context.save()
      shelf.favourites = [book]
      try context.save()
      context.delete(book)
      try context.save()
    }
    let all = try await container.history().flatMap(\.changes).filter { $0.objectID.entityName == "Book" }
    #expect(all.map(\.kind) == [.inserted, .updated, .deleted])
    #expect(all[1].properties == ["fans"])
    let books = try await container.history(HistoryQuery(entities: ["Book"]))
    #expect(books.count == 3)
    #expect(try await container.history(HistoryQuery(entities: ["Item"])).count == 3)
    #expect(try await container.history(HistoryQuery(entities: ["Disc"])).isEmpty)
    let one = try await container.history(HistoryQuery(objectIDs: [all[0].objectID]))
    #expect(one.count == 3)
  }
}
