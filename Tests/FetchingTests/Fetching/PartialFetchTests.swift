import Cambium
import Foundation
import GraphTestSupport
import Observation
import Synchronization
import TestSupport
import Testing

@testable import GraphContext

/// Objects that have some of their values from the start.
struct PartialFetchTests {
  private let media: PersistentContainer

  init() async throws {
    media = try await Media.open()
    try await media.write { context in
      let shelves = (0..<3).map { Media.Shelf("s\($0)") }
      for shelf in shelves { context.insert(shelf) }
      for code in 0..<40 {
        let item: Media.Item = code % 2 == 0 ? Media.Atlas(code) : Media.Disc(code)
        context.insert(item)
        (item.title, item.year, item.tags) = ("Title \(code)", 1900 + code % 7, ["t\(code % 3)"])
        if code % 3 != 0 { item.shelf = shelves[code % 3] }
        if code % 4 == 0 { item.size = Media.Size(width: code, depth: 3, note: "n\(code)") }
        if code % 5 == 0 { item.cover = Data(repeating: UInt8(code), count: 2_000) }
        if let atlas = item as? Media.Atlas { (atlas.pages, atlas.spine.width) = (code * 10, code) }
      }
    }
  }

  /// The records and lists that were read one at a time while `body` ran.
  private func reads(_ context: ManagedObjectContext, _ body: () throws -> Void) rethrows -> Int {
    let before = context.source.counters.singleReads
    try body()
    return context.source.counters.singleReads - before
  }

  @Test func whatIsNamedIsThereAndTheRestIsReadWhenAskedFor() throws {
    let context = try media.context()
    defer { context.end() }
    let request = From<Media.Item>().where { $0.year >= 1903 }.orderBy(\.year).fetchingOnly(\.year)
    #expect(request.description.hasSuffix("fetching only year"))
    #expect(try context.explain(request).isCovering, "the index has all of it")
    var items: [Media.Item] = []
    let fetching = try reads(context) { items = try context.fetch(request) }
    #expect(items.count == 22 && fetching == 0)
    let named = reads(context) { #expect(items.map(\.year).first == 1903 && items.map(\.year).last == 1906) }
    let others = reads(context) { #expect(items.allSatisfy { $0.year == 1900 + $0.code % 7 }) }
    let again = reads(context) { #expect(items.allSatisfy { $0.title == "Title \($0.code)" }) }
    #expect(named == 0 && others == 22 && again == 0)
    #expect(items.allSatisfy { $0 is Media.Atlas || $0 is Media.Disc })
    let list = try FetchedResults(request, in: context)
    #expect(try list.count == 22 && !list.explain().isCovering, "a list reads whole records")
    // Without a property: faults.
    context.reset()
    let faults = try context.fetch(From<Media.Item>().where { $0.year >= 1903 }.fetchingOnly())
    #expect(faults.count == 22 && faults.allSatisfy(\.isFault))
  }

  @Test func everyKindOfPropertyCanBeNamed() throws {
    let context = try media.context()
    defer { context.end() }
    let whole = try media.context()
    defer { whole.end() }
    let request = From<Media.Atlas>().fetchingOnly(
      \.title,
      \.tags,
      \.plainTitle,
      \.size,
      \.spine.width,
      \.shelf,
      \.cover,
      \.scale
    )
    let atlases = try context.fetch(request)
    let expected = try whole.fetch(From<Media.Atlas>())
    #expect(atlases.map(\.objectID) == expected.map(\.objectID) && atlases.count == 20)
    let named = reads(context) {
      for (atlas, other) in zip(atlases, expected) {
        #expect(atlas.title == other.title && atlas.tags == other.tags)
        #expect(atlas.plainTitle == other.plainTitle && atlas.size == other.size)
        #expect(atlas.shelf?.objectID == other.shelf?.objectID)
        #expect(atlas.cover == other.cover && atlas.scale == other.scale)
      }
    }
    #expect(named == 0)
    #expect(zip(atlases, expected).allSatisfy { $0.spine.width == $1.spine.width })
    #expect(zip(atlases, expected).allSatisfy { $0.pages == $1.pages && $0.edition == $1.edition })
    // Of the owner, prefetching needs only the reference.
    context.reset()
    let shelved = try context.fetch(
      From<Media.Item>().fetchingOnly(\.shelf, \.title).prefetching(\.shelf)
    )
    let prefetched = reads(context) { for item in shelved { _ = (item.title, item.shelf?.name) } }
    #expect(prefetched == 0)
  }

  @Test func unsavedChangesAndThoseOfOthersAreSeen() async throws {
    let context = try media.context()
    defer { context.end() }
    let request = From<Media.Item>().orderBy(\.year).fetchingOnly(\.title, \.year, \.size)
    let disc = try #require(try context.fetchOne(From<Media.Disc>().where { $0.code == 1 }))
    (disc.title, disc.year, disc.minutes) = ("unsaved", 1000, 7)
    let deleted = try #require(try context.fetchOne(From<Media.Item>().where { $0.code == 3 }))
    context.delete(deleted)
    let new = Media.Atlas(100)
    context.insert(new)
    (new.title, new.year) = ("new", 999)
    let items = try context.fetch(request)
    #expect(items.count == 40 && items[0] === new && items[1] === disc)
    #expect(items[0].title == "new" && items[1].title == "unsaved")
    let child = context.makeChild()
    let shown = try child.fetch(request)
    #expect(shown.prefix(2).map(\.title) == ["new", "unsaved"])
    #expect(shown.map(\.objectID) == items.map(\.objectID))
    child.end()
    context.rollback()
    #expect(disc.title == "Title 1" && disc.year == 1901 && disc.minutes == 40)

    let atlas = try #require(items.first { $0.code == 8 })
    let id = atlas.objectID
    #expect(atlas.size?.width == 8)
    try await media.write { context in
      let atlas = try context.existingObject(Media.Item.self, with: id)
      (atlas.title, atlas.size) = ("theirs", nil)
    }
    #expect(atlas.title == "Title 8" && atlas.size?.note == "n8", "the context is where it was")
    try context.refresh()
    #expect(atlas.title == "theirs" && atlas.size == nil)
    atlas.year = 5
    try context.save()
    #expect(try context.fetch(request).first === atlas && atlas.title == "theirs")
  }

  @Test func anObjectAwakesWhenAValueIsRead() async throws {
    let store = try await PersistentContainer("trips", models: Trip.self, TripStop.self, at: .inMemory)
    try await store.write { context in context.insert(Trip("North")) }
    let context = try store.context()
    defer { context.end() }
    let calls = HookCalls()
    try HookCalls.$current.withValue(calls) {
      calls.on("awakeFromFetch North") { $0.changeCount = 4 }
      let trip = try #require(try context.fetchOne(From<Trip>().fetchingOnly(\.changeCount, \.title)))
      #expect(calls.take().isEmpty)
      #expect(trip.changeCount == 4 && trip.title == "North")
      #expect(calls.take() == ["awakeFromFetch North"])
      #expect(trip.changeCount == 4 && calls.take().isEmpty)
    }
  }

  @Test func partialObjectsAreObserved() throws {
    let context = try media.context()
    defer { context.end() }
    context.isObservable = true
    let item = try #require(try context.fetch(From<Media.Item>().limit(1).fetchingOnly(\.title)).first)
    let count = Mutex(0)
    for title in ["a", "b"] {
      withObservationTracking {
        _ = item.title
      } onChange: {
        count.withLock { $0 += 1 }
      }
      item.title = title
    }
    #expect(count.withLock { $0 } == 2)
  }

  @Test func partialObjectsAreLikeWholeOnes() async throws {
    var random = SeededGenerator()
    let store = try await PersistentContainer("values", models: Item.self, Shelf.self, at: .inMemory)
    let seed = random.next()
    try await store.performBackgroundTask { (context: ManagedObjectContext) throws in
      var random = SeededGenerator(seed: seed)
      var world = FetchWorld()
      let options: [PartialKeyPath<Item>] = [\.n, \.m, \.t, \.d, \.w, \.u, \.flag, \.shelf]
      for round in 0..<TestEffort.times(6) {
        try world.change(context, round == 0 ? 300 : 50, &random)
        let reader = round % 2 == 0 ? context : context.makeChild()
        if round % 3 != 0 { try context.save() }
        for request in [
          From<Item>().where { $0.n > 3 }.orderBy(.descending(\.n)).limit(40).offset(2),
          From<Item>().where { $0.m == 1 }, From<Item>().orderBy(\.t),
          From<Item>().where { $0.shelf.height > 1 }, From<Item>().includingUnsavedChanges(false),
        ] {
          var partial = request
          partial.untyped.fetchedProperties = options.shuffled(using: &random).prefix(
            random.number(in: 0...4)
          ).map {
            Item.names(of: $0)
          }
          reader.refreshAllObjects()
          let items = try reader.fetch(partial)
          let values = items.map(text)
          reader.refreshAllObjects()
          #expect(try reader.fetch(request).map(text) == values, "seed \(seed), \(partial)")
        }
        if reader !== context { reader.end() }
      }
      context.rollback()
    }
  }

  private func text(_ item: Item) -> String {
    "\(item.objectID) \(item.n as Any) \(item.m as Any) \(item.t as Any) \(item.d as Any) \(item.w as Any) \(item.u as Any) "
      + "\(item.flag) \(item.shelf?.code as Any)"
  }

  @Test func recordsOfADynamicQueryCanBePartial() async throws {
    let store = try await PersistentContainer("Records", schema: media.schema, at: .inMemory)
    try await store.write { context in
      let shelf = try context.insert(entity: "Shelf")
      try shelf.set("name", to: .string("s"))
    }
    let context = try store.context()
    defer { context.end() }
    var query = DynamicQuery("Shelf")
    query.fetchedProperties = ["name"]
    let shelf = try #require(try context.fetch(query).first)
    let count = try reads(context) {
      let name: String? = try shelf.value("name")
      #expect(name == "s")
    }
    #expect(count == 0)
    query.fetchedProperties = ["nam"]
    let error = #expect(throws: ContextError.self) { try context.fetch(query) }
    #expect(error?.code == .invalidQuery && error?.message.contains("Did you mean “name”") == true)
  }

  @Test func whatIsNoPropertyOfTheObjectIsAMistake() throws {
    let context = try media.context()
    defer { context.end() }
    let requests = [
      From<Media.Book>().fetchingOnly(\.shelf?.name), From<Media.Book>().fetchingOnly(\.notes),
      From<Media.Book>().fetchingOnly(\.title.count), From<Media.Book>().fetchingOnly(\.objectID),
    ]
    for request in requests {
      let error = #expect(throws: ContextError.self, "\(request)") { try context.fetch(request) }
      #expect(error?.code == .invalidQuery)
    }
    let error = #expect(throws: ContextError.self) { try context.count(requests[0]) }
    #expect(error?.message.contains("prefetched") == true)
  }
}
