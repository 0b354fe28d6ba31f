import Cambium
import Testing

@testable import GraphContext

/// Snapshots that observers hold: none is left once the observers and their context are released.
struct ObserverPinTests {
  /// Kinds of observers, and the last calls that a program may have made on them.
  enum Kind: CaseIterable {
    case list, pausedList, sectionedList, keptSection, keptIterator, controller, dataSource, counter, object,
      snapshots
  }

  /// Returns what the program keeps of an observer.
  private func observe(_ kind: Kind, in context: ManagedObjectContext) throws -> [Any] {
    let byMinute = From<Departure>().orderBy(\.minute)
    let list = try FetchedResults(byMinute, in: context)
    let byHour = From<Departure>().orderBy(\.hour, \.minute)
    let sectioned = try FetchedResults(byHour, sectionedBy: SectionedBy(\.hour), in: context)
    switch kind {
    case .list: return [list, list.onChange { _ in }]
    case .pausedList:
      list.pause()
      return [list]
    case .sectionedList: return [sectioned, sectioned.sections.count]
    case .keptSection: return [sectioned.sections[0]]
    case .keptIterator: return [list.makeIterator()]
    case .controller:
      let controller = FetchedResultsController(fetchRequest: byMinute, context: context)
      try controller.performFetch()
      return [controller]
    case .dataSource: return [ListDataSource(sectioned, target: RecordingListTarget())]
    case .counter: return [try CountObserver(byMinute, in: context)]
    case .object: return [try ObjectObserver(try #require(list.first))]
    case .snapshots: return [try list.snapshot(), try list.snapshots(), list.changes()]
    }
  }

  @Test(arguments: Kind.allCases) func nothingStaysPinned(_ kind: Kind) async throws {
    let container = try await Airport.open(count: 100)
    let writer = try container.context()
    func pinned() throws -> Int { try container.statistics.snapshots }
    let before = try pinned()
    var context: ManagedObjectContext? = try container.context()
    var kept: [Any]? = try observe(kind, in: try #require(context))
    for minute in 0..<5 {
      writer.insert(Departure(minute, "x"))
      try writer.save()
      try context?.refresh()
      // The state that the context shows, and one that is kept or paused at.
      #expect(try pinned() <= before + 2)
    }
    #expect(kept?.isEmpty == false)
    kept = nil
    context = nil
    writer.processPendingChanges()
    #expect(try pinned() <= before)
  }
}
