import Cambium
import Testing

@testable import GraphContext

/// Sections and ranges of a list that the program keeps while the list changes.
struct StaleSectionTests {
  private let context: ManagedObjectContext
  private let flights = [60, 61, 62, 120, 121].map { Departure($0, "x") }

  init() async throws {
    context = try await Airport.open().context()
    for flight in flights { context.insert(flight) }
    try context.save()
  }

  /// By rank, and by numbers.
  static let requests = [
    From<Departure>().orderBy(\.hour, \.minute), From<Departure>().orderBy(\.hour, \.city, \.minute),
  ]

  @Test(arguments: [0, 1]) func aSectionStaysAsItWas(request: Int) throws {
    let list = try FetchedResults(Self.requests[request], sectionedBy: SectionedBy(\.hour), in: context)
    #expect(list.isRanked == (request == 0))
    let sections = Array(list.sections)
    #expect(sections.map { $0.map(\.minute) } == [[60, 61, 62], [120, 121]])
    context.delete(flights[0])
    for flight in flights[3...] { context.delete(flight) }
    context.processPendingChanges()
    #expect(list.map(\.minute) == [61, 62])
    #expect(sections.map { $0.map(\.objectID) } == [flights[..<3], flights[3...]].map { $0.map(\.objectID) })
    #expect(sections[0][1] === flights[1] && sections[0][0].isDeleted)
    try context.save()
    context.insert(Departure(200, "y"))
    context.processPendingChanges()
    #expect(sections.map { $0.map(\.objectID) } == [flights[..<3], flights[3...]].map { $0.map(\.objectID) })
    try context.checkUsable()
  }

  /// A save reports the deletion to the list at once.
  @Test(arguments: [0, 1]) func aLoopGoesThroughWhatWasThere(request: Int) throws {
    let list = try FetchedResults(Self.requests[request], in: context)
    var found: [Int] = []
    for flight in list {
      found.append(flight.minute)
      context.delete(flight)
      try context.save()
    }
    #expect(found == [60, 61, 62, 120, 121] && list.isEmpty)
    try context.checkUsable()
  }

  @Test(arguments: [0, 1]) func aLoopGoesThroughTheSectionsThatThereWere(request: Int) throws {
    context.insert(Departure(180, "x"))
    try context.save()
    let list = try FetchedResults(Self.requests[request], sectionedBy: SectionedBy(\.hour), in: context)
    var found: [String: [Int]] = [:]
    for section in list.sections {
      for flight in section {
        found[section.name, default: []].append(flight.minute)
        context.delete(flight)
        try context.save()
      }
    }
    #expect(found == ["1": [60, 61, 62], "2": [120, 121], "3": [180]])
    #expect(list.isEmpty && list.sections.isEmpty)
    try context.checkUsable()
  }

  @Test(arguments: [0, 1]) func loopsEndWithTheContext(request: Int) async throws {
    var context: ManagedObjectContext? = try await Airport.open(count: 200).context()
    let list = try FetchedResults(
      Self.requests[request],
      sectionedBy: SectionedBy(\.hour),
      in: try #require(context)
    )
    var (sections, objects) = (0, 0)
    for section in list.sections {
      sections += 1
      for _ in section {
        objects += 1
        context = nil
      }
    }
    #expect(sections == 1 && objects == 1)
  }

  @Test(arguments: [0, 1]) func positionsThatDoNotExistHaveNoIDs(request: Int) throws {
    let list = try FetchedResults(Self.requests[request], in: context)
    for flight in flights[2...] { context.delete(flight) }
    context.processPendingChanges()
    #expect(try list.objectIDs(at: 1..<5) == [flights[1].objectID])
    #expect(try list.objectIDs(at: 4..<5) == [])
  }

  @Test func aPausedListFollowsOnceItIsFetchedAgain() throws {
    let list = try FetchedResults(Self.requests[0], in: context)
    list.pause()
    try list.refetch()
    #expect(!list.isPaused)
    context.delete(flights[0])
    context.processPendingChanges()
    #expect(list.count == 4)
  }
}
