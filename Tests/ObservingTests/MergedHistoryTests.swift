import Cambium
import Testing

@testable import GraphContext

/// Observers of a context that merges a store's history rather than the newest commit.
struct MergedHistoryTests {
  @Test func everyObserverHearsOfMergedTransactions() async throws {
    let container = try await Airport.open(count: 3)
    try await container.keepHistory()
    let (context, writer) = (try container.context(), try container.context())
    let token = try container.newestHistoryToken()
    let list = try FetchedResults(From<Departure>().orderBy(\.minute), in: context)
    let sectioned = try FetchedResults(
      From<Departure>().orderBy(\.hour, \.minute),
      sectionedBy: SectionedBy(\.hour),
      in: context
    )
    let counter = try CountObserver(From<Departure>(), in: context)
    let object = try ObjectObserver(try #require(list.first))
    var (kinds, counts, changes) = ([String](), [Int](), [ObjectObserver<Departure>.Change]())
    let subscriptions = [
      list.onChange { kinds += $0.changes.map(\.kind.rawValue).sorted() },
      sectioned.onChange { kinds += $0.insertedSections.map { "section \($0.name)" } },
      counter.onChange { counts.append($0) },
      object.onChange { changes.append($0) },
    ]
    let first: Departure = try writer.existingObject(with: object.objectID)
    first.city = "Bern"
    writer.insert(Departure(600, "x"))
    writer.insert(Departure(601, "x"))
    try writer.save()
    writer.delete(try #require(try writer.fetchOne(From<Departure>().where { $0.minute == 2 })))
    try writer.save()
    try context.merge(try await container.history(HistoryQuery(after: token)))
    #expect(kinds.sorted() == ["delete", "insert", "insert", "section 10", "update"])
    #expect(counts == [4])
    #expect(changes == [.updated(["city"])])
    #expect(list.map(\.minute) == [1, 3, 600, 601])
    withExtendedLifetime(subscriptions) {}
  }
}
