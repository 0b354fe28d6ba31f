import Cambium
import Foundation
import GraphTestSupport
import Observation
import Testing

@testable import GraphContext

/// The observers of a property of an object are called when this property changes, and no other observers.
struct ObservableModelTests {
  /// A context with a venue, two nights and a guest, and the observers of each property.
  private final class Stage {
    let town: PersistentContainer
    let context: ManagedObjectContext
    let venue: Venue
    let first: Night
    let second: Night
    let contract: NightContract
    let guest: VenueGuest
    private var observers: [String: Observer] = [:]

    init() async throws {
      town = try await Town.open()
      let ids = try await town.performBackgroundTask { context in
        let venue = Venue("Cave", city: "Bonn")
        let (first, second) = (Night("Opening"), Night("Closing"))
        venue.nights = [first, second]
        first.contract = NightContract(5)
        let guest = VenueGuest("Ada")
        venue.guests = [guest]
        context.insert(venue)
        try context.save()
        return [venue.objectID, first.objectID, second.objectID, first.contract!.objectID, guest.objectID]
      }
      context = try town.context()
      context.isObservable = true
      venue = try context.object(with: ids[0])
      first = try context.object(with: ids[1])
      second = try context.object(with: ids[2])
      contract = try context.object(with: ids[3])
      guest = try context.object(with: ids[4])
      observe()
    }

    private static let properties: [(name: String, read: @Sendable (Stage) -> Void)] = [
      ("name", { _ = $0.venue.name }),
      ("size", { _ = $0.venue.size }),
      ("place.city", { _ = $0.venue.place.city }),
      ("annex", { _ = $0.venue.annex }),
      ("nightCount", { _ = $0.venue.nightCount }),
      ("nights", { _ = $0.venue.nights }),
      ("guests", { _ = $0.venue.guests }),
      ("venue gone", { _ = $0.venue.isDeleted }),
      ("first.title", { _ = $0.first.title }),
      ("first.price", { _ = $0.first.price }),
      ("first.poster", { _ = $0.first.poster }),
      ("first.venue", { _ = $0.first.venue }),
      ("first.contract", { _ = $0.first.contract }),
      ("first gone", { _ = $0.first.isDeleted }),
      ("second.title", { _ = $0.second.title }),
      ("second.venue", { _ = $0.second.venue }),
      ("second.contract", { _ = $0.second.contract }),
      ("contract.fee", { _ = $0.contract.fee }),
      ("contract.night", { _ = $0.contract.night }),
      ("guest.name", { _ = $0.guest.name }),
      ("guest.venues", { _ = $0.guest.venues.count }),
    ]

    /// Observes every property anew.
    func observe() {
      for property in Self.properties { observers[property.name] = Observer { property.read(self) } }
    }

    /// The properties whose observers were called since, in alphabetical order. All are observed anew.
    func called() -> [String] {
      defer { observe() }
      return observers.filter { $0.value.wasCalled }.map(\.key).sorted()
    }

    func commit(_ change: (Stage) throws -> Void) throws {
      let other = try Stage(beside: self)
      try change(other)
      try other.context.save()
      try context.refresh()
    }

    /// The same objects in another context.
    private init(beside stage: Stage) throws {
      town = stage.town
      context = try town.context()
      venue = try context.object(with: stage.venue.objectID)
      first = try context.object(with: stage.first.objectID)
      second = try context.object(with: stage.second.objectID)
      contract = try context.object(with: stage.contract.objectID)
      guest = try context.object(with: stage.guest.objectID)
    }
  }

  /// A change, and the properties that it changes at once.
  private static let changes: [(name: String, properties: [String], change: @Sendable (Stage) -> Void)] = [
    ("an attribute", ["name"], { $0.venue.name = "Attic" }),
    ("two attributes", ["first.price", "first.title"], { ($0.first.title, $0.first.price) = ("Late", 9) }),
    ("a long value", ["first.poster"], { $0.first.poster = Data(repeating: 1, count: 20_000) }),
    ("a part of an embedded value", ["place.city"], { $0.venue.place.street = "Mill" }),
    ("another part", ["place.city"], { $0.venue.place.city = "Köln" }),
    ("an embedded value that was nil", ["annex"], { $0.venue.annex = VenuePlace(street: "", city: "") }),
    ("a reference", ["first.venue", "nights"], { $0.first.venue = nil }),
    ("a member less", ["nights", "second.venue"], { $0.venue.nights.removeLast() }),
    ("a new member", ["nights"], { $0.venue.nights.append(Night("Third")) }),
    ("an order", ["nights"], { $0.venue.nights.swapAt(0, 1) }),
    (
      "a partner", ["contract.night", "first.contract", "second.contract"],
      { $0.second.contract = $0.contract }
    ),
    ("a link less", ["guest.venues", "guests"], { $0.venue.guests = [] }),
    ("a link more", ["guests"], { $0.venue.guests.insert(VenueGuest("Bob")) }),
    ("a link from the other end", ["guest.venues"], { $0.guest.venues.append(Venue("Attic")) }),
    (
      "a deletion", ["contract.night", "first gone", "nights"], { $0.context.delete($0.first) }
    ),
  ]

  /// Derived values are those of the last save.
  private func derived(_ name: String) -> [String] {
    ["a reference", "a member less", "a new member", "a deletion"].contains(name) ? ["nightCount"] : []
  }

  /// Returns the further properties that a saved deletion changes: a deleted object leads nowhere.
  private func gone(_ name: String) -> [String] {
    name == "a deletion" ? ["first.contract", "first.venue"] : []
  }

  @Test func codeThatSets() async throws {
    for (name, properties, change) in Self.changes {
      let stage = try await Stage()
      #expect(stage.called() == [], "\(name)")
      change(stage)
      #expect(stage.called() == properties, "\(name)")
      try stage.context.save()
      let saved = (derived(name) + gone(name)).sorted()
      #expect(stage.called() == saved, "\(name), saved")
    }
  }

  @Test func rollbacks() async throws {
    for (name, properties, change) in Self.changes {
      let stage = try await Stage()
      change(stage)
      _ = stage.called()
      stage.context.rollback()
      #expect(stage.called() == properties, "\(name)")
      stage.context.rollback()
      #expect(stage.called() == [], "\(name)")
    }
  }

  @Test func undoing() async throws {
    for (name, properties, change) in Self.changes {
      let stage = try await Stage()
      stage.context.undoManager = ContextUndoManager()
      change(stage)
      stage.context.processPendingChanges()
      _ = stage.called()
      #expect(stage.context.undo())
      #expect(stage.called() == properties, "\(name)")
      #expect(stage.context.redo())
      #expect(stage.called() == properties, "\(name), again")
      try stage.context.save()
      _ = stage.called()
    }
  }

  @Test func commitsOfOthers() async throws {
    for (name, properties, change) in Self.changes {
      let stage = try await Stage()
      try stage.commit(change)
      let expected = Set(properties + derived(name) + gone(name))
      #expect(stage.called() == expected.sorted(), "\(name)")
      try stage.context.refresh()
      #expect(stage.called() == [], "\(name)")
    }
  }

  @Test func aChildFollowsItsParent() async throws {
    for (name, properties, change) in Self.changes {
      let stage = try await Stage()
      let child = stage.context.makeChild()
      #expect(child.isObservable)
      let (venue, first) = (
        try child.object(Venue.self, with: stage.venue.objectID),
        try child.object(Night.self, with: stage.first.objectID)
      )
      let observers: [(String, Observer)] = [
        ("name", Observer { _ = venue.name }), ("nights", Observer { _ = venue.nights }),
        ("guests", Observer { _ = venue.guests }), ("first.title", Observer { _ = first.title }),
        ("first.venue", Observer { _ = first.venue }), ("first gone", Observer { _ = first.isDeleted }),
        ("first.price", Observer { _ = first.price }),
      ]
      change(stage)
      let expected = properties + gone(name)
      for (property, observer) in observers {
        #expect(observer.wasCalled == expected.contains(property), "\(name): \(property)")
      }
    }
  }

  @Test func aParentFollowsTheSavesOfItsChild() async throws {
    let stage = try await Stage()
    let child = stage.context.makeChild()
    let venue = try child.object(Venue.self, with: stage.venue.objectID)
    venue.name = "Attic"
    venue.nights.removeFirst()
    #expect(stage.called() == [])
    let own = Observer {
      _ = venue.name
      _ = venue.nights
    }
    try child.save()
    #expect(stage.called() == ["first.venue", "name", "nights"])
    #expect(!own.wasCalled)
    stage.context.rollback()
    #expect(own.wasCalled)
    #expect(stage.called() == ["first.venue", "name", "nights"])
  }

  @Test func whatIsChangedHereGoesOnShowing() async throws {
    let stage = try await Stage()
    stage.venue.name = "Attic"
    stage.second.venue = nil
    _ = stage.called()
    try stage.commit { other in
      other.venue.name = "Cellar"
      other.venue.size = 4
      other.second.venue = Venue("Elsewhere")
    }
    #expect(stage.called() == ["nightCount", "size"])
    let child = stage.context.makeChild()
    let venue = try child.object(Venue.self, with: stage.venue.objectID)
    venue.name = "Tower"
    let observer = Observer { _ = venue.name }
    stage.venue.name = "Barn"
    #expect(!observer.wasCalled)
    #expect(stage.called() == ["name"])
  }

  @Test func discardingTheChangesOfAnObject() async throws {
    let stage = try await Stage()
    stage.venue.name = "Attic"
    stage.first.title = "Late"
    stage.first.venue = nil
    _ = stage.called()
    stage.context.refresh(stage.first)
    #expect(stage.called() == [])
    stage.context.refresh(stage.first, mergeChanges: false)
    #expect(stage.called() == ["first.title", "first.venue", "nights"])
    stage.context.discardChanges(of: stage.venue)
    #expect(stage.called() == ["name"])
    stage.context.delete(stage.first)
    _ = stage.called()
    stage.context.discardChanges(of: stage.first)
    #expect(stage.called() == ["contract.night", "first gone", "nights"])
  }

  @Test func aSaveThatLosesAConflict() async throws {
    let stage = try await Stage()
    stage.context.mergePolicy = .mergeByPropertyStoreTrump
    let other = try stage.town.context()
    try other.object(Venue.self, with: stage.venue.objectID).name = "Cellar"
    try other.save()
    stage.venue.name = "Attic"
    stage.venue.size = 3
    _ = stage.called()
    try stage.context.save()
    #expect(stage.venue.name == "Cellar")
    #expect(stage.called() == ["name"])
  }

  @Test func aSaveThatWinsAConflictShowsNothingElse() async throws {
    let stage = try await Stage()
    stage.context.mergePolicy = .mergeByPropertyObjectTrump
    let other = try stage.town.context()
    try other.object(Venue.self, with: stage.venue.objectID).name = "Cellar"
    try other.save()
    stage.venue.name = "Attic"
    _ = stage.called()
    try stage.context.save()
    #expect(stage.venue.name == "Attic")
    #expect(stage.called() == [])
  }

  @Test func aResetTakesTheObjectsAway() async throws {
    let stage = try await Stage()
    stage.context.reset()
    let gone = ["contract.night", "first gone", "first.contract", "first.venue", "guest.venues", "guests"]
    #expect(stage.called() == gone + ["nights", "second.venue", "venue gone"])
    #expect(stage.called() == [])
  }

  // MARK: Observers

  @Test func onlyOneCallForEachObservation() async throws {
    let stage = try await Stage()
    let observer = Observer {
      _ = stage.venue.name
      _ = stage.first.title
    }
    stage.venue.name = "a"
    stage.venue.name = "b"
    stage.first.title = "c"
    #expect(observer.callCount == 1)
    let again = Observer { _ = stage.venue.name }
    stage.venue.name = "b"
    #expect(again.callCount == 1)
    #expect(observer.callCount == 1)
  }

  @Test func observersAreCalledBeforeCodeSetsAValue() async throws {
    let stage = try await Stage()
    let venue = stage.venue
    nonisolated(unsafe) var seen: [String] = []
    // Safety: the closure runs on this thread, in the setter.
    nonisolated(unsafe) let shown = venue
    withObservationTracking {
      _ = venue.name
    } onChange: {
      seen.append(shown.name)
    }
    withObservationTracking {
      _ = venue.nights
    } onChange: {
      seen.append("\(shown.nights.count)")
    }
    venue.name = "Attic"
    venue.nights.append(Night("Third"))
    #expect(seen == ["Cave", "2"])
  }

  @Test func whatAnObservationSetsItselfIsObservedFromItsEndOn() async throws {
    let stage = try await Stage()
    let observer = Observer {
      _ = stage.venue.name
      stage.venue.name = "Attic"
    }
    #expect(!observer.wasCalled)
    stage.venue.name = "Barn"
    #expect(observer.wasCalled)
  }

  @Test func aViewReportsWhoeverReadsIt() async throws {
    let stage = try await Stage()
    let venues = stage.guest.venues
    let observer = Observer { _ = venues.count }
    stage.venue.guests = []
    #expect(observer.wasCalled)
  }

  @Test func anObjectThatNobodyHoldsIsObserved() async throws {
    let stage = try await Stage()
    let context = try stage.town.context()
    context.isObservable = true
    let request = From<Venue>()
    let observer = Observer { _ = (try? context.fetch(request))?.map(\.name) }
    context.releaseUnheld(0)
    try stage.commit { $0.venue.size = 5 }
    try context.refresh()
    #expect(!observer.wasCalled)
    try stage.commit { $0.venue.name = "Attic" }
    try context.refresh()
    #expect(observer.wasCalled)
  }

  @Test func aNewObjectReportsFromItsInsertionOn() async throws {
    let stage = try await Stage()
    let venue = Venue("Attic")
    let early = Observer { _ = venue.name }
    stage.context.insert(venue)
    let late = Observer {
      _ = venue.name
      _ = venue.nightCount
    }
    venue.name = "Barn"
    #expect(!early.wasCalled)
    #expect(late.wasCalled)
    let derived = Observer { _ = venue.nightCount }
    let name = Observer { _ = venue.name }
    venue.nights = [Night("Only")]
    #expect(!derived.wasCalled)
    try stage.context.save()
    #expect(derived.wasCalled)
    #expect(!name.wasCalled)
    #expect(venue.nightCount == 1)
  }

  @Test func otherContextsReportNothingUnlessAsked() async throws {
    let stage = try await Stage()
    let context = try stage.town.context()
    #expect(!context.isObservable)
    let venue = try context.object(Venue.self, with: stage.venue.objectID)
    _ = venue.name
    #expect(!venue._$state.fast.isEmpty)
    let none = Observer { _ = venue.name }
    venue.name = "Attic"
    #expect(!none.wasCalled)
    context.isObservable = true
    let observer = Observer { _ = venue.name }
    let lost = Observer { _ = venue.size }
    venue.name = "Barn"
    #expect(observer.wasCalled)
    context.isObservable = false
    venue.size = 3
    #expect(!lost.wasCalled)
    #expect(venue.name == "Barn")
    #expect(venue._$state.fast == venue._$state.loaded)
    let view = await MainActor.run { stage.town.viewContext.isObservable }
    #expect(view)
  }

  @Test func nothingIsKeptOfWhatNobodyObserves() async throws {
    let stage = try await Stage()
    let context = try stage.town.context()
    context.isObservable = true
    let venue = try context.object(Venue.self, with: stage.venue.objectID)
    _ = (venue.name, venue.nights, venue.guests, venue.place)
    venue.name = "Attic"
    #expect(context.observation?.isEmpty == true)
    let observer = Observer { _ = (venue.name, venue.size) }
    #expect(context.observation?.isEmpty == false)
    venue.name = "Barn"
    #expect(observer.wasCalled)
    venue.size = 1
    #expect(context.observation?.isEmpty == true)
  }

  @Test func observersThatAreGoneAreForgotten() async throws {
    let town = try await Town.open()
    let context = try town.context()
    context.isObservable = true
    let signal = Venue("Signal")
    context.insert(signal)
    let venues = (0..<5_000).map { Venue("\($0)") }
    venues.forEach(context.insert)
    for venue in venues {
      let observer = Observer { _ = (venue.name, signal.name) }
      signal.name += "."
      #expect(observer.callCount == 1)
    }
    let observed = venues.count { $0._$state.hearers.contains(.observers) }
    #expect(observed <= 1_024)
    let last = Observer { _ = venues[7].name }
    venues[7].name = "x"
    #expect(last.wasCalled)
  }

  /// The observers of a screen have ended, and no other screen observes as many properties.
  @Test func observersThatAreGoneTogetherAreForgotten() async throws {
    let context = try (await Town.open()).context()
    defer { context.end() }
    context.isObservable = true
    let signal = Venue("Signal")
    context.insert(signal)
    let venues = (0..<3_000).map { Venue("\($0)") }
    venues.forEach(context.insert)
    try context.save()
    let observers = venues.map { venue in Observer { _ = (venue.name, signal.name) } }
    signal.name = "x"
    #expect(observers.count { $0.wasCalled } == venues.count)
    let last = Observer { _ = venues[7].name }
    context.rollback()
    #expect(venues.count { $0._$state.hearers.contains(.observers) } == 1)
    venues[7].name = "y"
    #expect(last.wasCalled)
  }

  @Test func observersOutliveContexts() async throws {
    let town = try await Town.open()
    var context: ManagedObjectContext? = try town.context()
    context?.isObservable = true
    weak let released = context
    let venue = Venue("Cave")
    context?.insert(venue)
    let observer = Observer { _ = (venue.name, venue.nights) }
    context = nil
    #expect(released == nil)
    venue.name = "Attic"
    #expect(venue.name == "Attic")
    #expect(!observer.wasCalled)
  }
}
