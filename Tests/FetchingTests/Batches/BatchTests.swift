import Cambium
import GraphTestSupport
import TestSupport
import Testing

@testable import GraphContext

/// Changes of many stored objects without objects.
struct BatchTests {
  private let library: PersistentContainer

  init() async throws { library = try await Library.open() }

  // MARK: Deleting

  @Test func deletingByBatchEqualsDeletingOneByOne() async throws {
    var random = SeededGenerator()
    for round in 0..<12 {
      let seed = random.next()
      let (batch, single) = (try await Library.open(), try await Library.open())
      try fill(batch, SeededGenerator(seed: seed))
      try fill(single, SeededGenerator(seed: seed))
      let watcher = try batch.context()
      defer { watcher.end() }
      _ = try LibraryDump(watcher)
      let rank = Int(seed % 7)

      let ids = try await batch.batchDelete(From<Writer>().where { $0.rank < rank || $0.fans.count > 3 })
      try await batch.batchDelete(From<Book>().orderBy(.descending(\.pages)).limit(5))
      try await batch.batchDelete(From<Reader>().where { $0.favourite == nil })
      let context = try single.context()
      defer { context.end() }
      let writers = try context.fetch(From<Writer>().where { $0.rank < rank || $0.fans.count > 3 })
      #expect(ids.map(\.number) == writers.map(\.objectID.number), "seed \(seed), round \(round)")
      for writer in writers { context.delete(writer) }
      try context.save()
      for book in try context.fetch(From<Book>().orderBy(.descending(\.pages)).limit(5)) {
        context.delete(book)
      }
      try context.save()
      for reader in try context.fetch(From<Reader>().where { $0.favourite == nil }) { context.delete(reader) }
      try context.save()

      let fresh = try batch.context()
      defer { fresh.end() }
      let dump = try LibraryDump(fresh)
      #expect(try dump == LibraryDump(context), "seed \(seed), round \(round)")
      try watcher.refresh()
      #expect(try dump == LibraryDump(watcher), "seed \(seed), round \(round)")
      #expect(try await batch.verify() == [])
      #expect(try await single.verify() == [])
    }
  }

  @Test func aDeletionThatARuleDeniesChangesNothing() async throws {
    let context = try library.context()
    defer { context.end() }
    let publisher = Publisher("P")
    context.insert(publisher)
    context.insert(Book("b", publisher: publisher))
    context.insert(Publisher("Q"))
    try context.save()
    let error = await #expect(throws: ContextError.self) { try await library.batchDelete(From<Publisher>()) }
    #expect(error?.code == .deletionDenied && error?.context.objectID == publisher.objectID)
    #expect(try context.count(From<Publisher>()) == 2)
    #expect(try await library.batchDelete(From<Publisher>().where { $0.name == "Q" }).count == 1)
    #expect(try await library.batchDelete(From<Publisher>().where { $0.name == "Q" }) == [])
    #expect(try await library.batchDelete(From<Book>()).count == 1)
    #expect(try await library.batchDelete(From<Publisher>()) == [publisher.objectID])
  }

  @Test func rulesOfToOneRelationshipsAreFollowed() async throws {
    let trips = try await PersistentContainer("Trips", models: [Trip.self, TripStop.self], at: .inMemory)
    try await trips.write { context in
      let whole = Trip("W")
      whole.parts = [Trip("A"), Trip("B")]
      for part in whole.parts { part.stops = [TripStop("s")] }
      context.insert(whole)
      context.insert(Trip("C"))
    }
    let calls = HookCalls()
    try await HookCalls.$current.withValue(calls) {
      _ = try await trips.batchDelete(From<Trip>().where { $0.title == "A" })
    }
    #expect(calls.take() == [])
    let left = try await trips.query { try ($0.fetch(From<Trip>()).map(\.title), $0.count(From<TripStop>())) }
    #expect(left == (["C"], 0))
    #expect(try await trips.verify() == [])
  }

  @Test func aRequiredReferenceOfAnObjectThatGoesAlongDeniesNothing() async throws {
    let trips = try await PersistentContainer("Moves", models: [Vault.self, Movement.self], at: .inMemory)
    try await trips.write { context in
      for number in 0..<3 {
        let vault = Vault(number)
        context.insert(vault)
        context.insert(Movement(from: vault, owner: vault))
      }
      let other = Vault(9)
      context.insert(other)
      context.insert(Movement(from: other, owner: nil))
    }
    #expect(try await trips.batchDelete(From<Vault>().where { $0.number < 2 }).count == 2)
    let error = await #expect(throws: ContextError.self) { try await trips.batchDelete(From<Vault>()) }
    #expect(error?.code == .missingValue && error?.failures.count == 1)
    let left = try await trips.query { try ($0.count(From<Vault>()), $0.count(From<Movement>())) }
    #expect(left == (2, 2))
    #expect(try await trips.verify() == [])
  }

  // MARK: Updating

  @Test func updatingByBatchEqualsUpdatingOneByOne() async throws {
    let (batch, single) = (library, try await Library.open())
    var random = SeededGenerator()
    let seed = random.next()
    try fill(batch, SeededGenerator(seed: seed))
    try fill(single, SeededGenerator(seed: seed))
    let watcher = try batch.context()
    defer { watcher.end() }
    let known = try watcher.fetch(From<Book>())
    let unsaved = try #require(known.last)
    unsaved.title = "unsaved"

    let ids = try await batch.batchUpdate(
      From<Book>().where { $0.pages > 50 },
      .set(\.pages) { $0.pages * 2 + $0.writer.rank },
      .set(\.shelf, to: nil),
      .set(\.title, to: "overwritten"),
      .set(\.title) { $0.title + "!" }
    )
    let context = try single.context()
    defer { context.end() }
    let books = try context.fetch(From<Book>().where { $0.pages > 50 })
    #expect(ids.map(\.number) == books.map(\.objectID.number) && ids.count > 10)
    for book in books where book.writer != nil {
      (book.pages, book.shelf) = (book.pages * 2 + (book.writer?.rank ?? 0), nil)
      book.title += "!"
    }
    let withoutWriter = books.filter { $0.writer == nil }.map(\.objectID.number)
    #expect(withoutWriter.isEmpty, "seed \(seed)")
    try context.save()

    let fresh = try batch.context()
    defer { fresh.end() }
    #expect(try LibraryDump(fresh) == LibraryDump(context), "seed \(seed)")
    try watcher.refresh()
    let pages = try fresh.fetch(From<Book>()).map(\.pages)
    #expect(unsaved.title == "unsaved")
    #expect(known.map(\.pages) == pages)
    #expect(try await batch.verify() == [])
  }

  /// Texts and other values of variable width, not in the order in which they are declared.
  @Test func anUpdateSetsTextsInAnyOrder() async throws {
    try await library.write { context in context.insert(Writer("a", email: "b")) }
    try await library.batchUpdate(From<Writer>(), .set(\.email, to: "y"), .set(\.name, to: "x"))
    try await library.batchUpdate(
      From<Writer>(),
      .set(\.name, to: "0"),
      .set(\.email, to: "z"),
      .set(\.name, to: "w")
    )
    let found = try await library.query { context in
      try context.fetch(From<Writer>()).map { [$0.name, $0.email] }
    }
    #expect(found == [["w", "z"]])
  }

  @Test func anUpdateThatBreaksARuleChangesNothing() async throws {
    try await library.write { context in
      for number in 0..<3 { context.insert(Writer("w\(number)", email: "e\(number)", rank: number)) }
    }
    let twice = await #expect(throws: ContextError.self) {
      try await library.batchUpdate(From<Writer>(), .set(\.email, to: "same"))
    }
    #expect(twice?.code == .notUnique)
    let trips = try await PersistentContainer("Trips", models: [Trip.self, TripStop.self], at: .inMemory)
    try await trips.write { context in for _ in 0..<6 { context.insert(Trip("T")) } }
    let broken = await #expect(throws: ContextError.self) {
      try await trips.batchUpdate(From<Trip>(), .set(\.stars, to: 9), .set(\.title, to: "t"))
    }
    #expect(broken?.code == .validationFailed && broken?.failures.count == 12)
    #expect(try await trips.batchUpdate(From<Trip>(), .set(\.stars, to: 3)).count == 6)
    let missing = await #expect(throws: ContextError.self) {
      try await library.batchUpdate(From<Writer>(), .set(\.rank) { $0.rank / 0 })
    }
    #expect(missing?.code == .missingValue)
    let mistake = await #expect(throws: ContextError.self) {
      try await library.batchUpdate(From<Book>(), .set(\.writer?.rank, to: 1))
    }
    #expect(mistake?.code == .invalidQuery)
    let unknown = await #expect(throws: ContextError.self) { try await library.batchDelete(From<Trip>()) }
    #expect(unknown?.code == .unknownEntity)
    let ranks = try await library.query { try $0.fetch(From<Writer>().orderBy(\.rank)).map(\.rank) }
    #expect(ranks == [0, 1, 2])
    try await library.close()
    let closed = await #expect(throws: ContextError.self) { try await library.batchDelete(From<Writer>()) }
    #expect(closed?.code == .closed)
  }

  // MARK: Objects

  /// A library of every kind of link, the same for the same seed.
  private func fill(_ container: PersistentContainer, _ seeded: SeededGenerator) throws {
    var random = seeded
    let context = try container.context()
    defer { context.end() }
    let publishers = (0..<3).map { Publisher("p\($0)") }
    let readers = (0..<15).map { Reader("r\($0)") }
    let writers = (0..<20).map {
      Writer("w\($0)", email: "e\($0)", rank: Int.random(in: 0..<10, using: &random))
    }
    for object in publishers + readers + writers as [any ManagedObject] { context.insert(object) }
    for number in 0..<60 {
      let book = Book(
        "b\(number)",
        pages: Int.random(in: 1..<300, using: &random),
        publisher: publishers[Int.random(in: 0..<3, using: &random)]
      )
      context.insert(book)
      book.writer = writers[Int.random(in: 0..<20, using: &random)]
      (book.shelf, book.place) = ("s", number)
    }
    let books = try context.fetch(From<Book>())
    for reader in readers {
      reader.idols = Set(writers.filter { _ in Int.random(in: 0..<6, using: &random) == 0 })
      if Bool.random(using: &random) { reader.favourite = books[Int.random(in: 0..<60, using: &random)] }
    }
    for (number, writer) in writers.enumerated() where Bool.random(using: &random) {
      writer.desk = Desk(number)
    }
    try context.save()
  }
}

@Model final class Vault {
  var number: Int
  @Relationship(deleteRule: .cascade) var movements: [Movement] = []

  init(_ number: Int) { self.number = number }
}

@Model final class Movement {
  @Relationship var from: Vault
  @Relationship(inverse: \Vault.movements) var owner: Vault?

  init(from: Vault, owner: Vault?) {
    self.from = from
    self.owner = owner
  }
}
