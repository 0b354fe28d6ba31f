import Cambium
import Testing

@testable import GraphContext

/// The change of an object in a difference.
struct ListChangesTests {
  @Test func anUpdateInASectionThatOthersPushIsNoMove() async throws {
    let context = try await Airport.open().context()
    let (stays, leaves) = (Departure(120, "A"), Departure(180, "B"))
    context.insert(stays)
    context.insert(leaves)
    let list = try FetchedResults(
      From<Departure>().orderBy(\.hour, \.minute),
      sectionedBy: SectionedBy(\.hour),
      in: context
    )
    var kinds: [ManagedObjectID: ListChanges.Kind] = [:]
    let subscription = list.onChange { changes in
      for change in changes.changes { kinds[change.objectID] = change.kind }
    }
    let new = Departure(60, "C")
    context.insert(new)
    stays.status = "late"
    leaves.hour = 2
    context.processPendingChanges()
    #expect(kinds == [new.objectID: .insert, stays.objectID: .update, leaves.objectID: .move])
    withExtendedLifetime(subscription) {}
  }

  /// Thousands of sections come and go in one turn, some of them in the place of others.
  @Test func manySectionsComeAndGo() async throws {
    let container = try await Airport.open(count: 6_000)
    let context = try container.context()
    defer { context.end() }
    let byMinute = From<Departure>().orderBy(\.minute)
    let list = try FetchedResults(byMinute, sectionedBy: SectionedBy(\.minute), in: context)
    var names = list.sections.map(\.name)
    var told: [ListChanges] = []
    let subscription = list.onChange { told.append($0) }
    for (place, flight) in try context.fetch(byMinute).enumerated() {
      switch place % 5 {
      case 0: flight.minute += 10_000
      case 1: context.delete(flight)
      case 2 where place % 2 == 0: flight.minute = -flight.minute
      case 3: context.insert(Departure(flight.minute, "twin"))
      case 4: context.insert(Departure(20_000 + place, "new"))
      default: break
      }
    }
    context.processPendingChanges()
    let changes = try #require(told.first)
    #expect(told.count == 1 && !changes.isReload)
    #expect(changes.deletedSections.count > 2_000 && changes.insertedSections.count > 2_000)
    for deleted in changes.deletedSections.reversed() {
      #expect(names.remove(at: deleted.section) == deleted.name)
    }
    for inserted in changes.insertedSections { names.insert(inserted.name, at: inserted.section) }
    #expect(names == list.sections.map(\.name))
    let minutes = try context.fetch(byMinute).map(\.minute)
    #expect(list.map(\.minute) == minutes && Set(minutes).count == names.count)
    withExtendedLifetime(subscription) {}
  }
}
