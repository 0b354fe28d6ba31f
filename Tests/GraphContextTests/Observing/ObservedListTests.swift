import Cambium
import GraphTestSupport
import Observation
import Testing

@testable import GraphContext

/// Observers that list the members of a relationship while it changes.
struct ObservedListTests {
  private let town: PersistentContainer
  private let context: ManagedObjectContext
  private let venue: Venue
  private let nights: [Night]

  init() async throws {
    town = try await Town.open()
    let ids = try await town.write { (context: ManagedObjectContext) throws in
      let venue = Venue("Cave")
      let nights = ["Opening", "Second", "Closing"].map { Night($0) }
      venue.nights = nights
      context.insert(venue)
      context.insert(VenueGuest("Ada"))
      try context.save()
      return [venue.objectID] + nights.map(\.objectID)
    }
    context = try town.context()
    context.isObservable = true
    venue = try context.existingObject(Venue.self, with: ids[0])
    nights = try context.existingObjects(Night.self, with: ids.dropFirst())
  }

  /// Lists the members at the next change of them. The context has moved on since the last change, so the pending
  /// links are made anew.
  private func listWhenTheyChange() async throws {
    // Safety: the closure runs on this thread, in the setter.
    nonisolated(unsafe) let shown = venue
    withObservationTracking {
      _ = venue.nights
    } onChange: {
      _ = (shown.nights.count, shown.nights.map(\.title))
    }
    try await town.batchUpdate(From<VenueGuest>(), .set(\.name, to: "Eve"))
    try context.refresh()
  }

  @Test func aReferenceThatGoesBackIsListedOnce() async throws {
    nights[0].venue = nil
    try await listWhenTheyChange()
    nights[0].venue = venue
    #expect(venue.nights.map(\.title) == ["Second", "Closing", "Opening"])
    #expect(venue.nights.count == 3)
    context.end()
  }

  @Test func aMemberThatIsTakenOutOrDeletedIsListedNoMore() async throws {
    nights[1].price = 5
    try await listWhenTheyChange()
    context.delete(nights[1])
    #expect(venue.nights.map(\.title) == ["Opening", "Closing"])
    try await listWhenTheyChange()
    venue.nights.removeLast()
    #expect(venue.nights.map(\.title) == ["Opening"])
    try await listWhenTheyChange()
    nights[2].venue = venue
    try await listWhenTheyChange()
    nights[0].venue = nil
    #expect(venue.nights.map(\.title) == ["Closing"])
    try context.save()
    #expect(venue.nights.map(\.title) == ["Closing"] && venue.nightCount == 1)
    context.end()
  }

  @Test func aMemberThatIsDeletedWithItsPartnerIsListedNoMore() async throws {
    let contract = NightContract(5)
    context.insert(contract)
    nights[0].contract = contract
    try context.save()
    nights[1].price = 6
    // Safety: the closure runs on this thread, in the deletion.
    nonisolated(unsafe) let shown = venue
    withObservationTracking {
      _ = contract.night
    } onChange: {
      _ = (shown.nights.count, shown.nights.map(\.title))
    }
    context.delete(nights[0])
    #expect(venue.nights.map(\.title) == ["Second", "Closing"])
    #expect(venue.nights.count == 2)
    context.end()
  }

  @Test func aNewMemberThatIsDeletedIsNoGhost() async throws {
    let contract = NightContract(5)
    context.insert(contract)
    try context.save()
    let night = Night("New")
    context.insert(night)
    (night.venue, night.contract) = (venue, contract)
    try await town.batchUpdate(From<VenueGuest>(), .set(\.name, to: "Eve"))
    try context.refresh()
    // Safety: the closure runs on this thread, in the deletion.
    nonisolated(unsafe) let shown = venue
    withObservationTracking {
      _ = contract.night
    } onChange: {
      _ = (shown.nights.count, shown.nights.map(\.title))
    }
    context.delete(night)
    #expect(venue.nights.map(\.title) == ["Opening", "Second", "Closing"])
    try context.save()
    context.end()
  }
}

/// Observers that read pages of a long list while its members move.
struct ObservedPageTests {
  @Test(arguments: 0..<4) func aPageIsReadWhileMembersMove(_ way: Int) async throws {
    let container = try await PersistentContainer("Lists", models: Playlist.self, Track.self, at: .inMemory)
    let context = try container.context()
    defer { context.end() }
    context.isObservable = true
    let list = Playlist("A")
    context.insert(list)
    let tracks = ["a", "b", "c", "d"].map { Track($0) }
    list.queued.append(contentsOf: tracks)
    try context.save()
    if way == 0 { tracks[0].queue = nil }
    // Safety: the closure runs on this thread, in the change.
    nonisolated(unsafe) let shown = list
    nonisolated(unsafe) var seen: [[String]] = []
    withObservationTracking {
      _ = list.queued.count
    } onChange: {
      seen.append(shown.queued[0..<shown.queued.count].map(\.title))
    }
    switch way {
    case 0: tracks[0].queue = list
    case 1: list.queued.move(from: 0, to: 3)
    case 2: list.queued = OrderedToMany(_relatedObjects: tracks.reversed())
    default: list.queued.insert(tracks[3], at: 1)
    }
    #expect(seen.count == 1)
    #expect(seen.allSatisfy { Set($0).count == $0.count && $0.count >= 3 })
    #expect(list.queued[0..<list.queued.count].count == 4)
    #expect(try await container.verify().map(\.description) == [])
  }
}

@Model private final class Revue {
  @Relationship(.ordered) var acts: OrderedToMany<RevueAct> = []
  init() {}
}

@Model private final class RevueAct {
  var title: String
  @Relationship(.ordered, inverse: \Revue.acts) var hall: Revue?
  @Relationship(inverse: \RevueFee.act) var fee: RevueFee?
  init(_ title: String) { self.title = title }
}

@Model private final class RevueFee {
  @Relationship var act: RevueAct?
  init() {}
}

/// The number of members and their list agree, whichever of them an observer reads first.
struct ObservedCountTests {
  private let container: PersistentContainer
  private let context: ManagedObjectContext
  private let hall = Revue()
  private let fee = RevueFee()
  private let acts = ["a", "b", "c"].map { RevueAct($0) }

  init() async throws {
    container = try await PersistentContainer(
      "Revue",
      models: Revue.self,
      RevueAct.self,
      RevueFee.self,
      at: .inMemory
    )
    context = try container.context()
    context.isObservable = true
    context.insert(hall)
    hall.acts.append(contentsOf: acts)
    acts[0].fee = fee
    try context.save()
  }

  @Test(arguments: [true, false]) func aDeletedMemberIsGoneFromCountAndList(listFirst: Bool) throws {
    defer { context.end() }
    if listFirst { _ = hall.acts.map(\.title) }
    acts[1].title = "B"
    if !listFirst { _ = hall.acts.count }
    // Safety: the closure runs on this thread, in the deletion.
    nonisolated(unsafe) let shown = hall
    withObservationTracking {
      _ = fee.act
    } onChange: {
      _ = listFirst ? shown.acts.count : shown.acts.map(\.title).count
    }
    context.delete(acts[0])
    #expect(hall.acts.count == 2 && hall.acts.map(\.title) == ["B", "c"])
    #expect(hall.acts[0..<hall.acts.count].count == 2)
    try context.save()
  }

  @Test func aChildAddsMembersToAListThatIsShown() throws {
    defer { context.end() }
    let child = context.makeChild()
    let copy = try child.existingObject(Revue.self, with: hall.objectID)
    copy.acts.append(contentsOf: ["x", "y", "z"].map { RevueAct($0) })
    _ = hall.acts.map(\.title)
    // Safety: the closure runs on this thread, in the child's save.
    nonisolated(unsafe) let shown = hall
    withObservationTracking {
      _ = hall.acts
    } onChange: {
      _ = shown.acts[0..<shown.acts.count].map(\.title)
    }
    try child.save()
    #expect(hall.acts.map(\.title) == ["a", "b", "c", "x", "y", "z"] && hall.acts.count == 6)
    try context.save()
    #expect(try container.verify().map(\.description) == [])
  }

  @Test(arguments: [true, false]) func aChildBringsMembersBack(isObserved: Bool) throws {
    defer { context.end() }
    context.isObservable = isObserved
    let child = context.makeChild()
    child.undoManager = ContextUndoManager()
    for act in acts.prefix(2) { child.delete(try child.existingObject(RevueAct.self, with: act.objectID)) }
    try child.save()
    #expect(child.undo())
    try child.save()
    #expect(hall.acts.count == 3 && hall.acts.map(\.title) == ["a", "b", "c"])
    try context.save()
    #expect(hall.acts.count == 3 && hall.acts.map(\.title) == ["a", "b", "c"])
    #expect(try container.verify().map(\.description) == [])
  }
}

@Model private final class RevueStep {
  var name: String
  @Relationship var next: RevueStep?
  init(_ name: String) { self.name = name }
}

/// Objects of an entity that leads to itself, without a way back.
struct DeletedChainTests {
  @Test(arguments: [true, false]) func whatLedToADeletedObjectIsGoneToo(isSaved: Bool) async throws {
    let container = try await PersistentContainer("Steps", models: RevueStep.self, at: .inMemory)
    let context = try container.context()
    defer { context.end() }
    let (first, second) = (RevueStep("a"), RevueStep("b"))
    for step in [first, second] { context.insert(step) }
    if isSaved { try context.save() }
    first.next = second
    context.delete(first)
    context.delete(second)
    try context.save()
    #expect(try context.count(From<RevueStep>()) == 0)
    #expect(try await container.verify().map(\.description) == [])
  }
}
