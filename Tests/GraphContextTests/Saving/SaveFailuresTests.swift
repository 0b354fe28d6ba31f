import Cambium
import GraphTestSupport
import TestSupport
import Testing

@testable import GraphContext

/// The error of a failed save lists all mistakes in its objects.
struct SaveFailuresTests {
  @Test func aSaveWithTenFailuresListsTenAndOneAfterMendingSucceeds() async throws {
    let library = try await Library.open()
    let (mine, theirs) = (try library.context(), try library.context())
    let publisher = Publisher("P")
    let writers = (0..<6).map { Writer("w\($0)", email: "e\($0)") }
    let books = (0..<4).map { Book("b\($0)", publisher: publisher) }
    let readers = (0..<2).map { Reader("r\($0)") }
    for object in [publisher] + writers + books + readers as [any ManagedObject] { mine.insert(object) }
    try mine.save()

    try theirs.refresh()
    for writer in writers[0...1] {
      try theirs.existingObject(Writer.self, with: writer.objectID).rank = 1
    }
    for writer in writers[2...3] {
      theirs.delete(try theirs.existingObject(Writer.self, with: writer.objectID))
    }
    theirs.delete(try theirs.existingObject(Book.self, with: books[0].objectID))
    try theirs.save()

    for writer in writers[0...2] { writer.rank = 2 }
    readers[0].idols = [writers[3]]
    readers[1].favourite = books[0]
    mine.delete(publisher)
    let twins = [Writer("new", email: "e4"), Writer("new", email: "n"), Writer("new", email: "n")]
    for twin in twins { mine.insert(twin) }
    for book in books[1...2] { (book.shelf, book.place) = ("s", 1) }
    books[3].title = String(repeating: "x", count: 5_000)

    let error = try #require(#expect(throws: ContextError.self) { try mine.save() })
    let codes = error.failures.map(\.code)
    func count(_ code: ContextError.Code) -> Int { codes.count { $0 == code } }
    #expect(count(.conflict) == 3 && count(.notUnique) == 3)
    // The missing link is reported from both of its ends.
    #expect(count(.missingDestination) == 3)
    // Two indexes have the title.
    #expect(count(.indexedValueTooLong) == 2)
    #expect(count(.deletionDenied) == 3)
    let objects = Set(error.failures.compactMap(\.context.objectID))
    for object in [writers[0], writers[1], writers[2], books[3], publisher] as [any ManagedObject] {
      #expect(objects.contains(object.objectID))
    }
    #expect(error.code == error.failures[0].code && error.context == error.failures[0].context)
    #expect(error.message.hasSuffix("\(error.failures.count - 1) more failures"), "\(error)")
    #expect(writers[0].rank == 2 && publisher.isDeleted && mine.insertedObjects.count == 3)
    #expect(try await library.verify().map(\.description) == [])

    for writer in writers[0...2] { mine.refresh(writer, mergeChanges: false) }
    readers[0].idols = []
    readers[1].favourite = nil
    (twins[0].email, twins[2].email) = ("e9", "m")
    books[2].place = 2
    books[3].title = "short"
    for book in books[0...3] { mine.delete(book) }
    try mine.save()
    #expect(try mine.count(From<Writer>()) == 7 && mine.count(From<Publisher>()) == 0)
    #expect(try await library.verify().map(\.description) == [])
    for context in [mine, theirs] { context.end() }
  }

  /// Ten failures, each of another kind or at another place, among thousands of objects that are in order.
  @Test func tenPlantedFailuresAmongThousandsOfChangesAreAllListed() async throws {
    var options = StoreOptions()
    options.durability = .none
    let models = Library.models + [Trip.self, TripStop.self]
    let store = try await PersistentContainer("Many", models: models, at: .inMemory, options: options)
    let (mine, theirs) = (try store.context(), try store.context())
    defer { for context in [mine, theirs] { context.end() } }
    let publishers = (0..<2).map { Publisher("p\($0)") }
    let writers = (0..<3_000).map { Writer("w\($0)", email: "e\($0)") }
    let books = (0..<1_000).map { Book("b\($0)", publisher: publishers[$0 == 500 ? 1 : 0]) }
    let trips = (0..<1_000).map { Trip("T\($0)") }
    let reader = Reader("r")
    for object in publishers + writers + books + trips + [reader] as [any ManagedObject] {
      mine.insert(object)
    }
    try mine.save()
    try theirs.refresh()
    try theirs.existingObject(Writer.self, with: writers[7].objectID).rank = 1
    theirs.delete(try theirs.existingObject(Writer.self, with: writers[2_999].objectID))
    theirs.delete(try theirs.existingObject(Book.self, with: books[0].objectID))
    try theirs.save()

    for writer in writers { writer.rank = 2 }
    for book in books.dropFirst() { book.pages += 1 }
    for trip in trips { trip.stars = 3 }
    for number in 0..<1_000 { mine.insert(Writer("new \(number)")) }
    let twins = (0..<2).map { Writer("twin \($0)", email: "twin") }
    let late = Writer("late", email: "e100")
    for writer in twins + [late] { mine.insert(writer) }
    for book in books[10...11] { (book.shelf, book.place) = ("s", 1) }
    reader.favourite = books[0]
    mine.delete(publishers[1])
    writers[1_500].email = String(repeating: "x", count: 5_000)
    trips[3].title = "lower case"
    trips[999].stars = 9
    let calls = HookCalls()
    calls.on("validateForUpdate T500") { _ in throw ValidationError("no", properties: ["title"]) }
    let error = try #require(
      HookCalls.$current.withValue(calls) { #expect(throws: ContextError.self) { try mine.save() } }
    )
    let planted: [(ContextError.Code, any ManagedObject)] = [
      (.validationFailed, trips[500]), (.validationFailed, trips[3]), (.validationFailed, trips[999]),
      (.conflict, writers[7]), (.conflict, writers[2_999]), (.indexedValueTooLong, writers[1_500]),
      (.notUnique, late), (.missingDestination, reader), (.deletionDenied, publishers[1]),
    ]
    for (code, object) in planted {
      #expect(error.failures.count { $0.code == code && $0.context.objectID == object.objectID } == 1)
    }
    let shelves = error.failures.filter { $0.code == .notUnique && $0.context.objectID?.entityName == "Book" }
    let emails = error.failures.filter { twin in twins.contains { twin.context.objectID == $0.objectID } }
    #expect(shelves.count == 1 && emails.map(\.code) == [.notUnique])
    #expect(error.failures.count == planted.count + 2, "\(error.failures.map(\.message))")
    #expect(try theirs.count(From<Writer>()) == 2_999, "nothing was stored")

    for writer in [writers[7], writers[2_999]] { mine.refresh(writer, mergeChanges: false) }
    writers[1_500].email = "short"
    (twins[0].email, late.email, books[11].place) = ("one", "two", 2)
    reader.favourite = nil
    (trips[3].title, trips[999].stars) = ("Upper", 5)
    mine.discardChanges(of: publishers[1])
    try mine.save()
    try theirs.refresh()
    #expect(try theirs.count(From<Writer>().where { $0.rank == 2 }) == 2_998)
    #expect(try theirs.count(From<Writer>()) == 4_002)
    #expect(try theirs.count(From<Trip>().where { $0.stars == 3 }) == 999)
    #expect(try await store.verify().map(\.description) == [])
  }

  @Test func anErrorOfOneFailureIsThatFailure() async throws {
    let library = try await Library.open()
    let context = try library.context()
    for _ in 0..<2 { context.insert(Writer("W", email: "e")) }
    let error = try #require(#expect(throws: ContextError.self) { try context.save() })
    #expect(error.code == .notUnique && error.failures.count == 1)
    #expect(error.failures[0].message == error.message && !error.message.contains("more failure"))
    context.end()
  }

  @Test func aThousandFailuresAreListedAndTheOthersCounted() async throws {
    let library = try await Library.open()
    let context = try library.context()
    for number in 0..<2_400 { context.insert(Writer("W", email: "e\(number / 2)")) }
    let error = try #require(#expect(throws: ContextError.self) { try context.save() })
    #expect(error.failures.count == 1_000 && error.failures.allSatisfy { $0.code == .notUnique })
    #expect(Set(error.failures.compactMap(\.context.objectID)).count == 1_000)
    context.end()
  }
}
