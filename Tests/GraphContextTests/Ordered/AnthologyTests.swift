import Cambium
import Foundation
import GraphTestSupport
import PageStore
import TestSupport
import Testing

@testable import GraphContext

/// Ordered many-to-many relationships in one context, in the store, and in others.
struct AnthologyTests {
  private let container: PersistentContainer
  private let book: ManagedObjectID

  init() async throws {
    container = try await PersistentContainer("Books", models: Anthology.self, Poem.self, at: .inMemory)
    book = try await container.performBackgroundTask { context in
      let book = Anthology("A")
      context.insert(book)
      book.poems.append(contentsOf: (0..<6).map { Poem("\($0)") })
      book.hits = Array(book.poems.reversed())
      book.spares = [book.poems[3], book.poems[1]]
      try context.save()
      return book.objectID
    }
  }

  private func context() throws -> ManagedObjectContext {
    let context = ManagedObjectContext(
      container.coordinator,
      showing: try container.coordinator.engine.newestSource()
    )
    context.automaticallyMergesChangesFromParent = false
    return context
  }

  private func books(_ contexts: ManagedObjectContext...) throws -> [Anthology] {
    try contexts.map { try $0.object(Anthology.self, with: book) }
  }

  @Test func aMemberIsInManyListsAtAPlaceInEach() async throws {
    let context = try context()
    let first = try books(context)[0]
    let second = Anthology("B")
    context.insert(second)
    second.poems.append(contentsOf: [first.poems[4], first.poems[0]])
    second.hits = [first.poems[2], first.poems[0], first.poems[5]]
    first.poems.move(from: 0, to: 5)
    #expect(first.titles == ["1", "2", "3", "4", "5", "0"])
    #expect(second.titles == ["4", "0"])
    try context.save()
    let other = try self.context()
    let names = try other.fetch(From<Anthology>().orderBy(.ascending(\.name)))
    #expect(names.map(\.titles) == [["1", "2", "3", "4", "5", "0"], ["4", "0"]])
    #expect(names.map(\.hitTitles) == [["5", "4", "3", "2", "1", "0"], ["2", "0", "5"]])
    #expect(names[0].spareTitles == ["3", "1"])
    #expect(names[1].poems[0].bookNames == ["A", "B"])
    #expect(names[1].poems[0].charts.count == 1)
    #expect(try await container.verify().map(\.description) == [])
  }

  @Test func aMoveChangesTheOwnerAlone() throws {
    let context = try context()
    let book = try books(context)[0]
    book.poems.move(from: 5, to: 0)
    #expect(context.hasChanges)
    #expect(context.updatedObjects.map(\.objectID) == [book.objectID])
    #expect(book.hasPersistentChanges)
    context.rollback()
    #expect(!context.hasChanges)
    #expect(book.titles == ["0", "1", "2", "3", "4", "5"])
    book.poems.move(from: 5, to: 0)
    context.discardChanges(of: book)
    #expect(!context.hasChanges)
    #expect(book.titles == ["0", "1", "2", "3", "4", "5"])
  }

  @Test func movesOfTwoContextsAreNoConflict() async throws {
    let (first, second) = (try context(), try context())
    let lists = try books(first, second)
    lists[0].poems.move(from: 0, to: 5)
    lists[1].poems.move(from: 1, to: 4)
    lists[1].poems[5].title = "edited"
    try first.save()
    try second.save()
    try first.refresh()
    #expect(lists[0].titles == lists[1].titles)
    #expect(Set(lists[0].titles) == ["0", "1", "2", "3", "4", "edited"])
    let third = try context()
    #expect(try third.object(Anthology.self, with: book).titles == lists[0].titles)
    #expect(try await container.verify().map(\.description) == [])
  }

  @Test func aMoveOfALinkThatIsNoMoreIsForgotten() async throws {
    let (first, second) = (try context(), try context())
    let lists = try books(first, second)
    lists[0].poems.remove(at: 0)
    first.delete(lists[0].poems[4])
    lists[1].poems.move(from: 0, to: 3)
    lists[1].poems.move(from: 5, to: 0)
    try first.save()
    try second.save()
    #expect(lists[1].titles == ["1", "2", "3", "4"])
    #expect(!second.hasChanges)
    #expect(try await container.verify().map(\.description) == [])
  }

  @Test func twoContextsThatAddOneMemberHaveItOnce() async throws {
    let (first, second) = (try context(), try context())
    let lists = try books(first, second)
    for (list, place) in zip(lists, [1, 0]) { list.hits.insert(list.hits.removeLast(), at: place) }
    let poem = Poem("new")
    first.insert(poem)
    try first.save()
    try second.refresh()
    lists[0].poems.insert(poem, at: 0)
    lists[1].poems.insert(try second.object(Poem.self, with: poem.objectID), at: 3)
    try first.save()
    try second.save()
    try first.refresh()
    #expect(lists[0].titles == ["0", "1", "2", "new", "3", "4", "5"])
    #expect(lists.map(\.titles)[0] == lists.map(\.titles)[1])
    #expect(lists.map(\.hitTitles)[0] == lists.map(\.hitTitles)[1])
    #expect(try await container.verify().map(\.description) == [])
  }

  @Test func theHistoryNamesTheOwner() async throws {
    try await container.keepHistory(HistoryPolicy())
    let context = try context()
    let book = try books(context)[0]
    let token = try container.newestHistoryToken()
    book.poems.move(from: 2, to: 0)
    try context.save()
    let changes = try await container.history(HistoryQuery(after: token)).flatMap(\.changes)
    #expect(changes.map(\.objectID) == [book.objectID])
    #expect(changes.map(\.properties) == [["poems"]])
  }

  @Test func thousandsOfInsertionsInFront() async throws {
    let context = try context()
    let list = Anthology("Front")
    context.insert(list)
    let poems = (0..<2_000).map { Poem("t\($0)") }
    for poem in poems { list.poems.insert(poem, at: 0) }
    try context.save()
    #expect(list.titles == poems.reversed().map(\.title))
    #expect(list.poems[1_000..<1_003].map(\.title) == ["t999", "t998", "t997"])
  }

  @Test func observersHearOfMoves() throws {
    let (context, other) = (try context(), try context())
    context.isObservable = true
    let child = context.makeChild()
    let (list, childs) = (try books(context)[0], try child.object(Anthology.self, with: book))
    let poem = list.poems[0]
    let (observer, childObserver) = (Observer { _ = list.titles }, Observer { _ = childs.titles })
    let uninvolved = Observer { _ = poem.bookNames + list.hitTitles }
    list.poems.move(from: 0, to: 2)
    #expect(observer.callCount == 1 && childObserver.callCount == 1)
    #expect(childs.titles == ["1", "2", "0", "3", "4", "5"])
    try context.save()
    let later = Observer { _ = list.titles }
    try other.refresh()
    let others = try books(other)[0]
    others.poems.move(from: 5, to: 0)
    try other.save()
    #expect(!later.wasCalled)
    try context.refresh()
    #expect(later.callCount == 1 && !uninvolved.wasCalled)
    #expect(list.titles == ["5", "1", "2", "0", "3", "4"])
    withExtendedLifetime((context, other, child)) {}
  }

  @Test func aPlaceInAChildHidesThatOfTheParent() throws {
    let context = try context()
    let child = context.makeChild()
    let (list, childs) = (try books(context)[0], try child.object(Anthology.self, with: book))
    childs.poems.move(from: 0, to: 5)
    list.poems.move(from: 0, to: 1)
    #expect(childs.titles == ["1", "2", "3", "4", "5", "0"])
    list.poems.move(from: 5, to: 0)
    #expect(childs.titles == ["5", "1", "2", "3", "4", "0"])
    list.poems.remove(list.poems[2])
    #expect(list.titles == ["5", "1", "2", "3", "4"])
    #expect(childs.titles == ["5", "1", "2", "3", "4"])
    try child.save()
    #expect(list.titles == ["5", "1", "2", "3", "4"])
    try context.save()
    #expect(try books(context)[0].titles == ["5", "1", "2", "3", "4"])
    withExtendedLifetime((context, child)) {}
  }

  @Test func aUnifiedMemberTakesThePlaceOfTheNewOne() async throws {
    let store = try await PersistentContainer("Press", models: Press.self, Leaflet.self, at: .inMemory)
    let context = try store.context()
    defer { context.end() }
    let press = Press("P")
    context.insert(press)
    press.leaflets = ["a", "b", "c"].map(Leaflet.init)
    try context.save()
    press.leaflets.insert(Leaflet("b"), at: 0)
    let other = Leaflet("d")
    press.leaflets.insert(other, at: 1)
    try context.save()
    #expect(press.leaflets.map(\.code) == ["b", "d", "a", "c"])
    #expect(try context.count(From<Leaflet>()) == 4)
    #expect(try await store.verify().map(\.description) == [])
  }

  @Test func recordsHaveTheOrder() async throws {
    let book = EntityDescription(
      name: "Book",
      properties: [
        .attribute("name", String.self),
        .toMany("poems", to: "Verse", inverse: "books", isOrdered: true),
      ]
    )
    let verse = EntityDescription(
      name: "Verse",
      properties: [.attribute("title", String.self), .toMany("books", to: "Book", inverse: "poems")]
    )
    let store = try await PersistentContainer("Books", entities: [book, verse], at: .inMemory)
    let context = try store.context()
    defer { context.end() }
    let record = try context.insert(entity: "Book")
    try record.set("name", to: "A")
    for title in ["a", "b", "c"] {
      let verse = try context.insert(entity: "Verse")
      try verse.set("title", to: title)
      try record.insert(verse, into: "poems", at: 0)
    }
    try context.save()
    #expect(
      try record.objects("poems", at: 0..<3).map { try $0["title"] } == ["c", "b", "a"].map { .string($0) }
    )
    #expect(
      "\(SwiftSource(store.schema))".contains("@Relationship(.ordered, inverse: \\Verse.books) var poems")
    )
    #expect(try SchemaDocument(store.schema).schema() == store.schema)
  }

  @Test func whatIsDiscardedIsAtItsPlaceAgain() throws {
    let context = try context()
    defer { withExtendedLifetime(context) {} }
    let list = try books(context)[0]
    let poem = list.poems[1]
    let second = Anthology("B")
    context.insert(second)
    second.poems.append(poem)
    try context.save()
    context.delete(poem)
    context.discardChanges(of: poem)
    #expect(list.titles == ["0", "1", "2", "3", "4", "5"] && poem.bookNames == ["A", "B"])
    #expect(!context.hasChanges)
    for object in [poem, list] as [any ManagedObject] {
      list.poems.remove(poem)
      poem.books.move(from: 0, to: 0)
      context.discardChanges(of: object)
      #expect(list.titles == ["0", "1", "2", "3", "4", "5"] && poem.bookNames == ["A", "B"])
      #expect(!context.hasChanges)
    }
  }

  @Test func aMoveThereAndBackIsNoChange() throws {
    let context = try context()
    defer { withExtendedLifetime(context) {} }
    let list = try books(context)[0]
    list.poems.move(from: 0, to: 5)
    #expect(context.hasChanges)
    list.poems.move(from: 5, to: 0)
    #expect(list.titles == ["0", "1", "2", "3", "4", "5"])
    #expect(!context.hasChanges && !list.hasPersistentChanges)
  }

  @Test(arguments: [false, true]) func unifiedMembersKeepTheOrderOfTheList(_ isChild: Bool) async throws {
    let store = try await PersistentContainer("Press", models: Press.self, Leaflet.self, at: .inMemory)
    let outer = try store.context()
    defer { outer.end() }
    for code in ["k", "l"] { outer.insert(Leaflet(code)) }
    try outer.save()
    let press = Press("P")
    outer.insert(press)
    let leaflets = ["x", "l", "y", "k", "z"].map(Leaflet.init)
    for leaflet in leaflets { outer.insert(leaflet) }
    if isChild {
      let child = outer.makeChild()
      let childs = try child.object(Press.self, with: press.objectID)
      childs.leaflets = try leaflets.map { try child.object(Leaflet.self, with: $0.objectID) }
      try outer.save()
      #expect(childs.leaflets.map(\.code) == ["x", "l", "y", "k", "z"])
      try child.save()
    } else {
      press.leaflets = leaflets
    }
    try outer.save()
    #expect(press.leaflets.map(\.code) == ["x", "l", "y", "k", "z"])
    #expect(try outer.count(From<Leaflet>()) == 5)
    #expect(try await store.verify().map(\.description) == [])
  }

  /// An array may contain a member twice while its owner is in no context. The first position counts, as in a context.
  /// The relationship leads one way, so the owner stays in no context.
  @Test(arguments: [[5, 0, 1, 0], [5, 0, 1, 0, 0], [5, 5, 0, 1]])
  func anArrayThatContainsAMemberTwiceKeepsItsOrder(_ positions: [Int]) async throws {
    let context = try context()
    let poems = try Array(books(context)[0].poems)
    let anthology = Anthology("B")
    anthology.spares = positions.map { poems[$0] }
    context.insert(anthology)
    #expect(anthology.spareTitles == ["5", "0", "1"])
    try context.save()
    #expect(anthology.spareTitles == ["5", "0", "1"])
    let problems = try await container.verify()
    #expect(problems.map(\.description) == [])
  }

  /// Another list has inserted “c” first, so its number is the least.
  @Test func aNewMemberThatIsContainedTwiceKeepsItsPosition() throws {
    let context = try context()
    let (b, c, d) = (Poem("b"), Poem("c"), Poem("d"))
    let anthology = Anthology("B")
    anthology.poems = [c]
    anthology.hits = [b, c, d, c]
    context.insert(anthology)
    #expect(anthology.hitTitles == ["b", "c", "d"])
  }

  @Test func classesWithoutTheMacroHaveTheOrder() async throws {
    let store = try await PersistentContainer(
      "Chapbooks",
      models: Chapbooks.Chapbook.self,
      Chapbooks.Verse.self,
      at: .inMemory
    )
    let context = try store.context()
    defer { context.end() }
    let (first, second) = (Chapbooks.Chapbook(), Chapbooks.Chapbook())
    context.insert(first)
    context.insert(second)
    for title in ["a", "b", "c"] {
      let verse = Chapbooks.Verse()
      verse.title = title
      first.verses.insert(verse, at: 0)
      second.verses.append(verse)
    }
    try context.save()
    context.reset()
    let books = try context.fetch(From<Chapbooks.Chapbook>())
    #expect(books.map { $0.verses.map(\.title) } == [["c", "b", "a"], ["a", "b", "c"]])
    #expect(books[0].verses[0].chapbooks.count == 2)
  }
}
