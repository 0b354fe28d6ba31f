import Cambium
import Testing

@testable import GraphContext

/// The calls of a surface for one difference, with their order and paths.
struct ListTargetTests {
  private let container: PersistentContainer
  private let context: ManagedObjectContext

  init() async throws {
    container = try await Airport.open()
    context = try container.context()
  }

  private func add(_ minute: Int, _ city: String) -> Departure {
    let new = Departure(minute, city)
    context.insert(new)
    return new
  }

  private func list(_ sections: Bool = false) throws -> FetchedResults<Departure> {
    let request =
      sections ? From<Departure>().orderBy(\.hour, \.minute) : From<Departure>().orderBy(\.city)
    return try FetchedResults(request, sectionedBy: sections ? SectionedBy(\.hour) : nil, in: context)
  }

  private func path(_ section: Int, _ item: Int) -> ListPath { ListPath(section: section, item: item) }

  /// Checks that the target shows the list, and returns what it was told since the last time.
  private func calls(
    _ target: RecordingListTarget<ManagedObjectID>,
    _ list: FetchedResults<Departure>
  ) -> [ListTargetCall] {
    #expect(target.violations == [])
    #expect(target.shown == list.sections.map { $0.map(\.objectID) })
    defer { target.calls = [] }
    return target.calls
  }

  // MARK: Order and paths

  @Test func sectionsAndItemsAreToldInOneBatch() throws {
    let flights = [add(60, "A"), add(61, "B"), add(120, "C"), add(180, "D")]
    let list = try list(true)
    let target = RecordingListTarget()
    let source = ListDataSource(list, target: target)
    #expect(calls(target, list) == [.reload])
    context.delete(flights[0])
    (flights[1].minute, flights[1].hour) = (190, 3)
    flights[3].status = "late"
    _ = add(240, "E")
    context.processPendingChanges()
    #expect(
      calls(target, list) == [
        .beginBatch, .deleteSections([0]), .insertSections([2]), .insertItems([path(1, 1)]),
        .reconfigureItems([path(2, 0)]), .endBatch,
      ]
    )
    _ = (add(121, "F"), add(30, "G"))
    context.delete(flights[3])
    context.processPendingChanges()
    #expect(
      calls(target, list) == [
        .beginBatch, .insertSections([0]), .deleteItems([path(1, 0)]), .insertItems([path(1, 1)]), .endBatch,
      ]
    )
    withExtendedLifetime(source) {}
  }

  @Test func stagesHaveOneKindOfOperation() throws {
    let flights = [add(60, "A"), add(61, "B"), add(120, "C"), add(180, "D")]
    let list = try list(true)
    let target = RecordingListTarget()
    let source = ListDataSource(list, target: target)
    source.appliesInStages = true
    _ = calls(target, list)
    context.delete(flights[0])
    (flights[1].minute, flights[1].hour) = (190, 3)
    flights[3].status = "late"
    _ = add(240, "E")
    context.processPendingChanges()
    #expect(
      calls(target, list) == [
        .beginBatch, .reconfigureItems([path(2, 0)]), .endBatch,
        .beginBatch, .deleteSections([0]), .endBatch,
        .beginBatch, .insertSections([2]), .endBatch,
        .beginBatch, .insertItems([path(1, 1), path(2, 0)]), .endBatch,
      ]
    )
  }

  @Test(arguments: [false, true]) func movesBeginInTheStateBeforeTheirBatch(inStages: Bool) throws {
    let flights = [add(1, "A"), add(2, "B"), add(3, "C"), add(4, "D")]
    let list = try list()
    let target = RecordingListTarget()
    let source = ListDataSource(list, target: target)
    source.appliesInStages = inStages
    _ = calls(target, list)
    context.delete(flights[0])
    flights[1].city = "Z"
    context.processPendingChanges()
    let inOne: [ListTargetCall] = [
      .beginBatch, .deleteItems([path(0, 0)]), .moveItems([ListMove(from: path(0, 1), to: path(0, 2))]),
      .endBatch,
    ]
    let stages: [ListTargetCall] = [
      .beginBatch, .reconfigureItems([path(0, 1)]), .endBatch,
      .beginBatch, .deleteItems([path(0, 0)]), .endBatch,
      .beginBatch, .moveItems([ListMove(from: path(0, 0), to: path(0, 2))]), .endBatch,
    ]
    #expect(calls(target, list) == (inStages ? stages : inOne))
  }

  // MARK: When a target reloads

  @Test func aTargetThatIsNotVisibleReloads() throws {
    let flight = add(1, "A")
    let list = try list()
    let target = RecordingListTarget()
    let source = ListDataSource(list, target: target)
    var changeCount = 0
    source.onDidChangeContent = { _ in changeCount += 1 }
    _ = calls(target, list)
    func insert() {
      _ = add(2, "B")
      context.processPendingChanges()
    }
    target.isVisible = false
    insert()
    #expect(calls(target, list) == [.reload])
    target.isVisible = true
    source.animatesUpdates = false
    insert()
    #expect(calls(target, list) == [.reload])
    source.animatesUpdates = true
    insert()
    #expect(calls(target, list).first == .beginBatch)
    try list.refetch(From<Departure>().orderBy(.descending(\.city)))
    #expect(calls(target, list) == [.reload])
    #expect(changeCount == 4)
    target.visibleItems = { $0.item != 3 }
    flight.status = "late"
    context.processPendingChanges()
    #expect(calls(target, list) == [])
    context.insert(Airline("AA"))
    context.processPendingChanges()
    #expect(calls(target, list) == [])
    #expect(changeCount == 5)
    flight.city = "0"
    context.processPendingChanges()
    flight.status = nil
    target.visibleItems = { $0.item == 3 }
    context.processPendingChanges()
    #expect(calls(target, list) == [.beginBatch, .reconfigureItems([path(0, 3)]), .endBatch])
  }

  @Test func theSourceChangesWithinTheBatch() throws {
    _ = add(1, "A")
    let list = try list()
    let target = CountingTarget()
    let source = ListDataSource(list, target: target)
    _ = add(2, "B")
    context.processPendingChanges()
    #expect(target.counts == [1, 1, 2, 2])
    #expect(source.object(at: path(0, 1))?.city == "B")
    #expect(source.object(at: path(0, 2)) == nil)
    #expect(source.objectID(at: path(1, 0)) == nil)
    #expect(source.itemCount(inSection: 1) == nil)
  }

  /// Counts the source's items when it is loaded, before the updates of a batch, in its first call, and after it.
  private final class CountingTarget: ListTarget {
    weak var source: (any ListSource)?
    let isVisible = true
    var counts: [Int] = []

    private func count() { counts.append(source?.itemCount(inSection: 0) ?? -1) }
    func reload() { count() }
    func performBatchUpdates(_ updates: () -> Void) {
      count()
      updates()
      count()
    }
    func deleteSections(_ sections: [Int]) { count() }
    func insertSections(_ sections: [Int]) { count() }
    func moveSections(_ moves: [ListSectionMove]) { count() }
    func reloadSections(_ sections: [Int]) { count() }
    func deleteItems(at paths: [ListPath]) { count() }
    func insertItems(at paths: [ListPath]) { count() }
    func moveItems(_ moves: [ListMove]) { count() }
    func reconfigureItems(at paths: [ListPath]) { count() }
  }

  // MARK: Several lists

  @Test func listsAreSectionsWithoutGaps() throws {
    let flight = add(120, "A")
    let airline = Airline("AA")
    context.insert(airline)
    let flights = try list(true)
    let airlines = try FetchedResults(From<Airline>().orderBy(\.name), in: context)
    let cities = try list()
    let target = RecordingListTarget()
    let adapter = SectionedListAdapter(target: target)
    #expect(adapter.add(flights) == 0)
    #expect(adapter.add(airlines, named: "Airlines") == 1)
    #expect(adapter.add(cities) == 2)
    #expect(adapter.add(airlines) == 1)
    #expect(adapter.sectionName(1) == "Airlines")
    #expect(target.shown == [[flight.objectID], [airline.objectID], [flight.objectID]])
    target.calls = []
    let other = add(60, "B")
    context.insert(Airline("BB"))
    context.processPendingChanges()
    #expect(
      target.calls.filter { ![.beginBatch, .endBatch].contains($0) } == [
        .insertItems([path(0, 0)]), .insertItems([path(1, 1)]), .insertItems([path(2, 1)]),
      ]
    )
    #expect(target.shown[0] == [other.objectID, flight.objectID])
    target.calls = []
    #expect(adapter.remove(flights))
    #expect(!adapter.remove(flights))
    #expect(adapter.section(of: cities) == 1)
    try airlines.refetch()
    context.delete(other)
    context.processPendingChanges()
    #expect(
      target.calls.filter { ![.beginBatch, .endBatch].contains($0) } == [
        .deleteSections([0]), .reloadSections([0]), .deleteItems([path(1, 1)]),
      ]
    )
    #expect(adapter.object(at: path(1, 0)) === flight)
    #expect(target.shown.map(\.count) == [2, 1])
    #expect(adapter.add(flights) == 2)
    #expect(target.violations == [])
  }

  @Test func aListMovesAmongTheOthers() throws {
    let (flight, airline) = (add(120, "A"), Airline("AA"))
    context.insert(airline)
    let (flights, cities) = (try list(true), try list())
    let airlines = try FetchedResults(From<Airline>().orderBy(\.name), in: context)
    let target = RecordingListTarget()
    let adapter = SectionedListAdapter(target: target)
    adapter.add(flights)
    adapter.add(airlines, named: "Airlines")
    adapter.add(cities)
    target.calls = []
    #expect(adapter.move(airlines, to: 0))
    #expect(
      target.calls == [.beginBatch, .moveSections([ListSectionMove(from: 1, to: 0)]), .endBatch]
    )
    #expect(target.shown == [[airline.objectID], [flight.objectID], [flight.objectID]])
    #expect(adapter.move(airlines, to: 9) && adapter.section(of: airlines) == 2)
    #expect(target.shown == [[flight.objectID], [flight.objectID], [airline.objectID]])
    context.insert(Airline("BB"))
    context.processPendingChanges()
    #expect(target.shown.map(\.count) == [1, 1, 2])
    target.calls = []
    #expect(adapter.move(airlines, to: 2) && target.calls == [])
    #expect(adapter.remove(cities))
    #expect(!adapter.move(cities, to: 0))
    #expect(target.violations == [])
  }

  /// A list whose context has ended reports no difference. The next difference of another list has to match the state
  /// of the surface.
  @Test func aListWhoseContextIsGoneIsAnEmptySection() async throws {
    let flight = add(120, "A")
    let target = RecordingListTarget()
    let adapter = SectionedListAdapter(target: target)
    var others: ManagedObjectContext? = try await Airport.open().context()
    do {
      let others = try #require(others)
      others.insert(Departure(60, "C"))
      adapter.add(try FetchedResults(From<Departure>(), in: others))
    }
    adapter.add(try list(true))
    #expect(target.shown.map(\.count) == [1, 1])
    others = nil
    #expect(adapter.itemCount(inSection: 0) == 0)
    target.calls = []
    let other = add(60, "B")
    context.processPendingChanges()
    #expect(target.calls == [.reload] && target.shown == [[], [other.objectID, flight.objectID]])
    context.delete(other)
    context.processPendingChanges()
    #expect(target.shown == [[], [flight.objectID]])
    #expect(target.violations == [])
  }

  // MARK: Violations

  @Test func aRecordingTargetNotesWhatATableWouldNotBear() throws {
    _ = add(1, "A")
    let source = ListDataSource(try list(), target: RecordingListTarget<ManagedObjectID>())
    func violations(_ body: (RecordingListTarget<ManagedObjectID>) -> Void) -> Int {
      let target = RecordingListTarget()
      target.source = source
      target.reload()
      body(target)
      return target.violations.count
    }
    #expect(violations { $0.performBatchUpdates {} } == 0)
    #expect(violations { $0.deleteItems(at: [path(0, 0)]) } == 1)
    #expect(violations { target in target.performBatchUpdates { target.deleteItems(at: [path(0, 0)]) } } == 1)
    #expect(violations { target in target.performBatchUpdates { target.insertItems(at: [path(0, 9)]) } } == 1)
    #expect(violations { target in target.performBatchUpdates { target.deleteItems(at: [path(3, 0)]) } } == 1)
    #expect(violations { target in target.performBatchUpdates { target.reload() } } == 1)
    let twice: (RecordingListTarget<ManagedObjectID>) -> Void = { target in
      target.performBatchUpdates {
        target.moveItems([ListMove(from: path(0, 0), to: path(0, 0))])
        target.reconfigureItems(at: [path(0, 0)])
      }
    }
    #expect(violations(twice) == 1)
  }

  @Test func aSurfaceThatComesBeforeADifferenceShowsIt() async throws {
    final class Opener: ListObserver {
      let target = RecordingListTarget()
      var source: ListDataSource<Departure>?
      func listWillChange(_ list: FetchedResults<Departure>) {
        if source == nil { source = ListDataSource(list, target: target) }
      }
    }
    let list = try FetchedResults(From<Departure>().orderBy(\.minute), in: context)
    let opener = Opener()
    list.addObserver(opener)
    context.insert(Departure(1, "x"))
    context.processPendingChanges()
    #expect(opener.target.shown == [list.map(\.objectID)])
    context.insert(Departure(2, "x"))
    context.processPendingChanges()
    #expect(opener.target.violations == [])
  }

  /// Each surface adds the next one, before the same difference.
  @Test func surfacesThatOpenOneAnotherAreInStep() async throws {
    final class Opener: ListObserver {
      let target = RecordingListTarget()
      private let next: Opener?
      private var source: ListDataSource<Departure>?

      init(_ next: Opener?) { self.next = next }

      func listWillChange(_ list: FetchedResults<Departure>) {
        if let next { list.addObserver(next) }
        if source == nil { source = ListDataSource(list, target: target) }
      }
    }
    let list = try FetchedResults(From<Departure>().orderBy(\.minute), in: context)
    var openers = [Opener(nil)]
    while openers.count < 4 { openers.append(Opener(openers.last)) }
    list.addObserver(openers[3])
    for minute in 1...2 {
      context.insert(Departure(minute, "x"))
      context.processPendingChanges()
      for opener in openers { #expect(opener.target.shown == [list.map(\.objectID)]) }
    }
    #expect(openers.allSatisfy { $0.target.violations == [] })
  }
}

extension ListChanges.Event {
  /// The change of an object; nil for one of a section.
  var change: ListChanges.Change? {
    switch self {
    case .delete(let change), .insert(let change), .move(let change), .update(let change): change
    case .insertSection, .deleteSection: nil
    }
  }
}
