import Cambium
import Foundation
import Synchronization
import Testing

import struct TestSupport.SeededGenerator

@testable import CambiumFlow

private typealias TrackState = PersistenceState<Track.Values, FlowError, TrackRequest>
private typealias TitleState = PersistenceState<Title, FlowError, TrackRequest>

/// A value that one title makes slow to write.
private struct Slow: PersistableValue {
  typealias Object = Track
  typealias Request = TrackRequest
  var objectID: ManagedObjectID?
  var title: String

  init(_ track: Track) { (objectID, title) = (track.objectID, track.title) }

  func insert(into context: ManagedObjectContext) throws -> Track { throw Refused() }

  func update(_ track: Track) throws {
    if title == "slow" { Thread.sleep(forTimeInterval: 0.3) }
    if track.title != title { track.title = title }
  }
}

/// A value that runs a closure while it is saved.
private struct Raced: PersistableValue {
  typealias Object = Track
  typealias Request = TrackRequest
  var objectID: ManagedObjectID?
  var meanwhile: @Sendable () throws -> Void = {}

  init(_ id: ManagedObjectID) { objectID = id }
  init(_ track: Track) { objectID = track.objectID }

  func insert(into context: ManagedObjectContext) throws -> Track { throw Refused() }

  func update(_ track: Track) throws {
    track.title += "!"
    try meanwhile()
  }
}

/// The calls of a controller on a container.
@Suite(.timeLimit(.minutes(60))) struct StoreControllerTests {
  private func values(_ title: String, by artist: String = "", plays: Int = 0) -> Track.Values {
    Track.Values(title: title, artist: artist, plays: plays)
  }

  private func store<Element>(
    _ controller: StoreController<Element>
  ) -> FlowStore<StoreController<Element>.Action, StoreController<Element>.State> {
    FlowStore(
      .initial,
      reducer: StoreController<Element>.makeReducer(),
      middleware: controller.makeMiddleware()
    )
  }

  /// Waits for a list.
  private func wait<Element, Value: Equatable & Sendable>(
    for expected: [Value],
    in store: FlowStore<StoreController<Element>.Action, StoreController<Element>.State>,
    _ value: @Sendable (Element) -> Value
  ) async {
    for await state in store.states() where state.request.elements?.map(value) == expected { return }
  }

  // MARK: Saving

  @Test func aNewValueIsInserted() async throws {
    let container = try Shelf().lazy()
    let controller = StoreController<Track.Values>(container)
    let saved = try await controller.save(values("Carey", by: "Joni", plays: 3))
    let stored = try await container.container().query { try $0.fetch(From<Track>()).map(\.values) }
    #expect(stored == [saved] && saved.objectID != nil && saved.plays == 3)
  }

  @Test func aKnownValueUpdatesItsObject() async throws {
    let container = try Shelf().lazy()
    let (tracks, titles) = (StoreController<Track.Values>(container), StoreController<Title>(container))
    let saved = try await tracks.save(values("Carey", plays: 3))
    var title = Title("River")
    title.objectID = saved.objectID
    _ = try await titles.save(title)
    let stored = try await container.container().query { try $0.fetch(From<Track>()).map(\.values) }
    #expect(stored.map(\.title) == ["River"] && stored.map(\.plays) == [3])
  }

  @Test func theLastSaveStays() async throws {
    let container = try Shelf().lazy()
    let stored = try await StoreController<Title>(container).save(Title("old"))
    let store = store(StoreController<Slow>(container))
    let values = try await container.container().query { context in
      try context.fetch(From<Track>()).map(Slow.init)
    }
    var edited = try #require(values.first)
    #expect(edited.objectID == stored.objectID)
    let states = store.states()
    for title in ["slow", "last"] {
      edited.title = title
      store.dispatch(.save(edited))
    }
    var savedCount = 0
    for await state in states {
      if case .succeeded = state.persist { savedCount += 1 }
      if savedCount == 2 { break }
    }
    let titles = try await container.container().query { try $0.fetch(From<Track>()).map(\.title) }
    #expect(titles == ["last"])
  }

  @Test func anObjectThatIsDeletedMeanwhileIsGone() async throws {
    let container = try Shelf().lazy()
    let id = try #require(try await StoreController<Title>(container).save(Title("a")).objectID)
    let opened = try await container.container()
    var raced = Raced(id)
    raced.meanwhile = {
      try opened.writeAndWait { $0.delete(try $0.existingObject(Track.self, with: id)) }
    }
    let (controller, value) = (StoreController<Raced>(container), raced)
    await #expect(throws: FlowError.saving(ObjectGone(objectID: id))) { try await controller.save(value) }
  }

  /// The save unifies the new object with the existing one.
  @Test func aUnifiedValueHasTheIDOfTheExistingObject() async throws {
    let container = LazyContainer {
      try await PersistentContainer("Stamps", models: Stamp.self, at: .inMemory)
    }
    let controller = StoreController<Stamp.Values>(container)
    let first = try await controller.save(Stamp.Values(code: "a", count: 1))
    var second = try await controller.save(Stamp.Values(code: "a", count: 2))
    #expect(second.objectID == first.objectID && second.count == 2)
    second.count = 3
    _ = try await controller.save(second)
    let counts = try await container.container().query { try $0.fetch(From<Stamp>()).map(\.count) }
    #expect(counts == [3])
  }

  @Test func anUnchangedValueSavesNothing() async throws {
    let container = try Shelf().lazy()
    let controller = StoreController<Track.Values>(container)
    let saved = try await controller.save(values("Carey"))
    let opened = try await container.container()
    let before = try opened.pinCommit()
    _ = try await controller.save(saved)
    #expect(try opened.pinCommit().number == before.number)
  }

  @Test func failuresAreTold() async throws {
    let container = try Shelf().lazy()
    let controller = StoreController<Title>(container)
    await #expect(throws: FlowError.value(Refused())) { try await controller.save(Title("refused")) }
    #expect(try await container.container().query { try $0.count(From<Track>()) } == 0)
    let venue = try await StoreController<Venue.Values>(container).save(Venue.Values(name: "Hall"))
    var wrong = Title("x")
    wrong.objectID = venue.objectID
    await #expect(throws: FlowError.unexpectedType(venue.objectID!)) { try await controller.save(wrong) }
    let gone = try await controller.save(Title("gone"))
    try await controller.delete(gone)
    let expected = FlowError.saving(ObjectGone(objectID: gone.objectID!))
    await #expect(throws: expected) { try await controller.save(gone) }
    #expect(try await container.container().query { try $0.count(From<Track>()) } == 0)
  }

  @Test func aModelThatTheContainerLacksIsTold() async throws {
    let shelf = try Shelf()
    let container = LazyContainer {
      try await PersistentContainer("Venues", models: Venue.self, at: shelf.url)
    }
    let controller = StoreController<Title>(container)
    await #expect(throws: FlowError.unknownEntity("Track")) { try await controller.save(Title("x")) }
    await #expect(throws: FlowError.self) { try await controller.follow(.all) { _ in } }
  }

  @Test func savesAtTheSameTimeAllArrive() async throws {
    let container = try Shelf().lazy()
    let controller = StoreController<Track.Values>(container)
    let first = try await controller.save(values("same"))
    try await withThrowingTaskGroup { group in
      for number in 1...20 {
        group.addTask {
          var edited = first
          edited.plays = number
          _ = try await controller.save(number.isMultiple(of: 2) ? edited : values("new \(number)"))
        }
      }
      try await group.waitForAll()
    }
    #expect(try await container.container().query { try $0.count(From<Track>()) } == 11)
  }

  // MARK: Deleting

  @Test func aValueIsDeleted() async throws {
    let container = try Shelf().lazy()
    let controller = StoreController<Title>(container)
    let saved = try await controller.save(Title("Carey"))
    let venue = try await StoreController<Venue.Values>(container).save(Venue.Values(name: "Hall"))
    // Never saved, and of another model: nothing happens.
    try await controller.delete(Title("Carey"))
    var wrong = Title("Carey")
    wrong.objectID = venue.objectID
    try await controller.delete(wrong)
    let opened = try await container.container()
    #expect(try await opened.query { try $0.count(From<Track>()) + $0.count(From<Venue>()) } == 2)
    try await controller.delete(saved)
    try await controller.delete(saved)
    #expect(try await opened.query { try $0.count(From<Track>()) } == 0)
  }

  // MARK: Following

  @Test func savesShowInALiveRequest() async throws {
    let container = try Shelf().lazy()
    let store = store(StoreController<Track.Values>(container))
    store.dispatch(.request(.all))
    await wait(for: [], in: store, \.title)
    store.dispatch(.save(values("b", plays: 2)))
    await wait(for: ["b"], in: store, \.title)
    store.dispatch(.save(values("a", plays: 1)))
    await wait(for: ["a", "b"], in: store, \.title)
    store.dispatch(.delete(store.state.request.elements![1]))
    await wait(for: ["a"], in: store, \.title)
  }

  @Test func anotherOrderTakesThePlaceOfTheQuerys() async throws {
    let container = try Shelf().lazy()
    let store = store(StoreController<Track.Values>(container))
    let controller = StoreController<Track.Values>(container)
    for plays in [2, 1, 3] { _ = try await controller.save(values("t", plays: plays)) }
    store.dispatch(.request(.reversed))
    await wait(for: [3, 2, 1], in: store, \.plays)
  }

  @Test func attributesAloneAreADifference() async throws {
    let container = try Shelf().lazy()
    let controller = StoreController<Track.Values>(container)
    let saved = try await controller.save(values("old", plays: 1))
    _ = try await controller.save(values("other", plays: 2))
    let stream = AsyncStream<Void>.makeStream()
    let results = Mutex<[String]>([])
    let task = Task {
      try await controller.follow(.all) { result in
        switch result {
        case .elements(let elements): results.withLock { $0.append("\(elements.map(\.title))") }
        case .difference(let difference):
          for step in difference ?? CollectionDifference([])! {
            let text =
              switch step {
              case .remove(let offset, let element, _): "- \(offset) \(element.title)"
              case .insert(let offset, let element, _): "+ \(offset) \(element.title)"
              }
            results.withLock { $0.append(text) }
          }
        }
        stream.continuation.yield()
      }
    }
    var told = stream.stream.makeAsyncIterator()
    await told.next()
    var edited = saved
    edited.title = "new"
    _ = try await controller.save(edited)
    await told.next()
    #expect(results.withLock { $0 } == [#"["old", "other"]"#, "- 0 old", "+ 0 new"])
    task.cancel()
    try await task.value
  }

  @Test func sectionsKeepTheDifferences() async throws {
    let container = try Shelf().lazy()
    let store = store(StoreController<Track.Values>(container))
    store.dispatch(.request(.byArtist))
    await wait(for: [], in: store, \.title)
    store.dispatch(.save(values("x", by: "Nina")))
    await wait(for: ["x"], in: store, \.title)
    store.dispatch(.save(values("y", by: "Joni")))
    await wait(for: ["y", "x"], in: store, \.title)
    var edited = store.state.request.elements![0]
    edited.artist = "Odetta"
    store.dispatch(.save(edited))
    await wait(for: ["x", "y"], in: store, \.title)
  }

  @Test func aValueThatCanNotBeMadeEndsTheRequest() async throws {
    let container = try Shelf().lazy()
    let store = store(StoreController<Title>(container))
    store.dispatch(.request(.all))
    await wait(for: [], in: store, \.title)
    try await container.container().write { $0.insert(Track("unreadable")) }
    for await state in store.states() {
      if case .failed(let error, let request) = state.request {
        #expect(error == .value(Refused()) && request == .all)
        break
      }
    }
  }

  @Test @MainActor func unsavedObjectsOfTheViewContextAreFollowed() async throws {
    let container = try Shelf().lazy()
    let view = try await container.container().viewContext
    for plays in 0..<6 { view.insert(Track("t\(plays)", plays: plays)) }
    let store = store(StoreController<Track.Values>(container, following: .viewContext))
    store.dispatch(.request(.all))
    await wait(for: [0, 1, 2, 3, 4, 5], in: store, \.plays)
    for track in try view.fetch(From<Track>().orderBy(\.plays).limit(3)) { view.delete(track) }
    await wait(for: [3, 4, 5], in: store, \.plays)
    view.insert(Track("t6", plays: 6))
    await wait(for: [3, 4, 5, 6], in: store, \.plays)
    #expect(view.hasChanges)
    // Saves of other contexts arrive by themselves.
    store.dispatch(.save(values("t7", plays: 7)))
    await wait(for: [3, 4, 5, 6, 7], in: store, \.plays)
    await store.send(.cancelRequest)
    view.insert(Track("t8", plays: 8))
    view.processPendingChanges()
    #expect(store.state.request.label == "canceled")
  }

  @Test func closuresReplaceWhatAControllerDoes() async throws {
    let notes = Notes()
    let container = try Shelf().lazy()
    let controller = StoreController<Title>(
      container,
      save: { container, element async throws(FlowError) in
        notes.add("saves \(element.title) in \(container.name)")
        return element
      },
      delete: { _, element async throws(FlowError) in notes.add("deletes \(element.title)") },
      follow: { _, request, receive async throws(FlowError) in receive(.elements([Title("\(request)")])) }
    )
    let store = store(controller)
    store.dispatch(.request(.all))
    await wait(for: ["all"], in: store, \.title)
    _ = try await controller.save(Title("x"))
    try await controller.delete(Title("y"))
    #expect(notes.all == ["saves x in Jukebox", "deletes y"])
  }

  @Test func aReleasedStoreEndsItsRequest() async throws {
    let stream = AsyncStream<String>.makeStream()
    let container = try Shelf().lazy()
    let controller = StoreController<Title>(
      container,
      follow: { _, _, _ async throws(FlowError) in
        stream.continuation.yield("begins")
        try? await Task.sleep(for: .seconds(86_400))
        stream.continuation.yield(Task.isCancelled ? "is cancelled" : "ends")
      }
    )
    var store: FlowStore? = store(controller)
    var told = stream.stream.makeAsyncIterator()
    store?.dispatch(.request(.all))
    #expect(await told.next() == "begins")
    store = nil
    #expect(await told.next() == "is cancelled")
  }

  /// Random saves and deletions by two controllers. The live list is equal to the stored objects.
  @Test func aLiveListIsWhatIsStored() async throws {
    var random = SeededGenerator()
    let container = try Shelf().lazy()
    let controller = StoreController<Track.Values>(container)
    let (ordered, sectioned) = (store(controller), store(controller))
    ordered.dispatch(.request(.all))
    sectioned.dispatch(.request(.byArtist))
    var known: [Track.Values] = []
    for step in 0..<150 {
      switch random.number(in: 0...3) {
      case 0 where !known.isEmpty:
        try await controller.delete(known.remove(at: random.number(in: 0...known.count - 1)))
      case 1 where !known.isEmpty:
        let place = random.number(in: 0...known.count - 1)
        known[place].plays = random.number(in: 0...9)
        known[place].artist = random.pick(["a", "b", "c"])
        _ = try await controller.save(known[place])
      default:
        let new = values("t\(step)", by: random.pick(["a", "b", "c"]), plays: random.number(in: 0...9))
        known.append(try await controller.save(new))
      }
    }
    // A last change, which distinguishes the last difference from earlier ones.
    let last = try await controller.save(values("last", by: "z", plays: 100))
    let stored = try await container.container().query { context in
      try context.fetch(From<Track>().orderBy(\.plays)).map(\.values)
    }
    #expect(Set(stored) == Set(known + [last]))
    for await state in ordered.states() where state.request.elements?.last == last { break }
    for await state in sectioned.states() where state.request.elements?.last == last { break }
    #expect(ordered.state.request.elements == stored)
    let bySections = stored.sorted { ($0.artist, $0.title) < ($1.artist, $1.title) }
    #expect(sectioned.state.request.elements == bySections)
  }
}

/// Several controllers in one store.
@Suite(.timeLimit(.minutes(60))) struct ComposedFlowTests {
  private typealias Tracks = StoreController<Track.Values>
  private typealias Titles = StoreController<Title>
  private typealias Venues = StoreController<Venue.Values>

  private struct AppState: Sendable {
    var tracks = Tracks.State.initial
    var titles = Titles.State.initial
    var venues = Venues.State.initial
    var container = ContainerState.initial
  }

  private enum AppAction: Sendable {
    case tracks(Tracks.Action)
    case titles(Titles.Action)
    case venues(Venues.Action)
    case container(ContainerAction)

    var tracks: Tracks.Action? { if case .tracks(let action) = self { action } else { nil } }
    var titles: Titles.Action? { if case .titles(let action) = self { action } else { nil } }
    var venues: Venues.Action? { if case .venues(let action) = self { action } else { nil } }
    var container: ContainerAction? { if case .container(let action) = self { action } else { nil } }
  }

  private func app(_ container: LazyContainer) -> FlowStore<AppAction, AppState> {
    let (tracks, titles) = (Tracks(container), Titles(container))
    let venues = Venues(container)
    let reducer =
      Tracks.makeReducer().lift(action: \AppAction.tracks, state: \AppState.tracks)
      <> Titles.makeReducer().lift(action: \AppAction.titles, state: \AppState.titles)
      <> Venues.makeReducer().lift(action: \AppAction.venues, state: \AppState.venues)
      <> LazyContainer.makeReducer().lift(action: \AppAction.container, state: \AppState.container)
    let first =
      tracks.makeMiddleware()
      .lift(inputAction: \AppAction.tracks, outputAction: AppAction.tracks, state: \AppState.tracks)
      <> titles.makeMiddleware()
      .lift(inputAction: \AppAction.titles, outputAction: AppAction.titles, state: \AppState.titles)
    let second =
      venues.makeMiddleware()
      .lift(inputAction: \AppAction.venues, outputAction: AppAction.venues, state: \AppState.venues)
      <> container.makeMiddleware()
      .lift(inputAction: \AppAction.container, outputAction: AppAction.container, state: \AppState.container)
    return FlowStore(AppState(), reducer: reducer, middleware: first <> second)
  }

  @Test func twoControllersShareAModel() async throws {
    let store = app(try Shelf().lazy())
    store.dispatch(.tracks(.request(.all)))
    store.dispatch(.titles(.request(.all)))
    store.dispatch(.titles(.save(Title("Carey"))))
    store.dispatch(.venues(.save(Venue.Values(name: "Hall"))))
    for await state in store.states() where state.tracks.request.elements?.count == 1 { break }
    for await state in store.states() where state.titles.request.elements?.count == 1 { break }
    for await state in store.states() where state.venues.persist == .succeeded { break }
    #expect(store.state.tracks.request.elements?.map(\.title) == ["Carey"])
    #expect(store.state.titles.request.elements?.map(\.title) == ["Carey"])
    #expect(store.state.tracks.persist == .initial && store.state.titles.persist == .succeeded)
    #expect(store.state.container == .loaded)
  }

  @Test func aContainerThatFailsIsOpenedAgain() async throws {
    let (shelf, attempts) = (try Shelf(), Notes())
    let container = LazyContainer {
      attempts.add("opens")
      if attempts.all.count == 1 { throw Refused() }
      return try await shelf.open()
    }
    let store = app(container)
    var labels = Labels(store) { $0.titles.request.label }
    store.dispatch(.titles(.request(.all)))
    #expect(await labels.until("failed") == ["initial", "loading", "failed"])
    #expect(store.state.titles.containerLoadingState == .failed(.container(Refused())))
    for await state in store.states() where state.container == .failed(.container(Refused())) { break }
    store.dispatch(.container(.retry))
    for await state in store.states() where state.container == .loaded { break }
    store.dispatch(.titles(.request(.all)))
    _ = await labels.until("received []")
    #expect(store.state.titles.containerLoadingState == .loaded && attempts.all.count == 2)
  }
}
