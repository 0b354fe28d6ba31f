import Cambium
import Testing

@testable import GraphContext

/// What a difference says of an object.
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
}
