import Cambium
import Testing

@testable import GraphContext

@Model final class Passenger {
  var name: String
  var age: Int
  var isFrequent: Bool

  init(_ name: String, age: Int, isFrequent: Bool = false) {
    self.name = name
    self.age = age
    self.isFrequent = isFrequent
  }
}

/// The order in which delegates and observers hear of a difference.
struct FetchedResultsControllerTests {
  private let container: PersistentContainer
  private let context: ManagedObjectContext

  init() async throws {
    container = try await PersistentContainer("Passengers", models: [Passenger.self], at: .inMemory)
    context = try container.context()
    context.insert(Passenger("Ada", age: 30))
    context.insert(Passenger("Bo", age: 40, isFrequent: true))
    try context.save()
  }

  private func passenger(_ name: String) throws -> Passenger {
    let all = try context.fetch(From<Passenger>())
    return try #require(all.first { $0.name == name })
  }

  /// Records the calls of a delegate.
  private final class Delegate: FetchedResultsControllerDelegate {
    typealias Object = Passenger
    var heard: [String] = []
    var names: [String] = []
    var deleted: [Passenger] = []
    /// Called after each change of an object.
    var afterChange: ((FetchedResultsController<Passenger>) -> Void)?
    /// Called before each difference.
    var beforeChange: ((FetchedResultsController<Passenger>) -> Void)?

    func controllerWillChangeContent(_ controller: FetchedResultsController<Passenger>) {
      heard.append("will")
      names = controller.fetchedObjects?.map(\.name) ?? []
      beforeChange?(controller)
    }

    func controller(
      _ controller: FetchedResultsController<Passenger>,
      didChange sectionInfo: ListChanges.SectionChange,
      atSectionIndex sectionIndex: Int,
      for type: ListChanges.Kind
    ) { heard.append("\(type) section \(sectionIndex) \(sectionInfo.name)") }

    func controller(
      _ controller: FetchedResultsController<Passenger>,
      didChange object: Passenger,
      at indexPath: ListPath?,
      for type: ListChanges.Kind,
      newIndexPath: ListPath?
    ) {
      let paths = [indexPath, newIndexPath].map { $0.map { "\($0.section).\($0.item)" } ?? "-" }
      heard.append("\(type) \(type == .delete ? "" : object.name) \(paths[0]) \(paths[1])")
      if type == .delete { deleted.append(object) }
      afterChange?(controller)
    }

    func controller(
      _ controller: FetchedResultsController<Passenger>,
      didChangeContentWith difference: CollectionDifference<ManagedObjectID>
    ) { heard.append("difference of \(difference.removals.count) and \(difference.insertions.count)") }

    func controllerDidChangeContent(_ controller: FetchedResultsController<Passenger>) { heard.append("did") }

    func controller(
      _ controller: FetchedResultsController<Passenger>,
      sectionIndexTitleForSectionName sectionName: String
    ) -> String? { sectionName == "1" ? "Frequent" : "Any" }
  }

  @Test func aDelegateHearsInTheOrderOfCoreData() throws {
    let controller = FetchedResultsController(
      fetchRequest: From<Passenger>().orderBy(\.isFrequent, \.name),
      context: context,
      sectionedBy: SectionedBy(\.isFrequent)
    )
    #expect(controller.fetchedObjects == nil)
    #expect(controller.sections == nil)
    try controller.performFetch()
    let delegate = Delegate()
    controller.delegate = delegate
    #expect(controller.sections?.map(\.name) == ["0", "1"])
    #expect(controller.sectionIndexTitles == ["Any", "Frequent"])
    #expect(controller.section(forSectionIndexTitle: "Frequent") == 1)
    let (ada, bo) = (try passenger("Ada"), try passenger("Bo"))
    #expect(controller.indexPath(forObject: bo) == ListPath(section: 1, item: 0))
    #expect(controller.object(at: ListPath(section: 0, item: 0)) === ada)
    context.delete(bo)
    context.insert(Passenger("Cy", age: 20))
    ada.age = 31
    context.processPendingChanges()
    #expect(
      delegate.heard == [
        "will", "delete section 1 1", "delete  1.0 -", "insert Cy - 0.1", "update Ada 0.0 0.0",
        "difference of 2 and 2", "did",
      ]
    )
    #expect(delegate.names == ["Ada", "Bo"])
    delegate.heard = []
    ada.isFrequent = true
    context.processPendingChanges()
    #expect(
      delegate.heard == [
        "will", "insert section 1 1", "move Ada 0.0 1.0", "difference of 1 and 1", "did",
      ]
    )
    delegate.heard = []
    try controller.performFetch()
    #expect(delegate.heard == [])
    context.reset()
    #expect(delegate.heard == ["will", "did"])
  }

  /// The paths are those of a list that the controller shows no longer.
  /// Each beginning has an end: a delegate that was told “will” is also told “did”, because a table has begun its
  /// updates.
  @Test(arguments: [true, false]) func aDelegateThatChangesTheControllerHearsTheEndAlone(
    _ fetches: Bool
  ) throws {
    let controller = FetchedResultsController(
      fetchRequest: From<Passenger>().orderBy(\.name),
      context: context
    )
    try controller.performFetch()
    let delegate = Delegate()
    controller.delegate = delegate
    delegate.afterChange = { controller in
      if !fetches { return controller.delegate = nil }
      controller.fetchRequest = From<Passenger>().where { $0.name == "Cy" }.orderBy(\.name)
      #expect(throws: Never.self) { try controller.performFetch() }
    }
    for name in ["Cy", "Di", "Eve"] { context.insert(Passenger(name, age: 20)) }
    context.processPendingChanges()
    #expect(delegate.heard == ["will", "insert Cy - 0.2", "did"])
    #expect(controller.fetchedObjects?.count == (fetches ? 1 : 5))
  }

  @Test func aDelegateThatFetchesBeforeTheChangeHearsTheEnd() throws {
    let controller = FetchedResultsController(
      fetchRequest: From<Passenger>().orderBy(\.name),
      context: context
    )
    try controller.performFetch()
    let delegate = Delegate()
    controller.delegate = delegate
    delegate.beforeChange = { [delegate] controller in
      delegate.beforeChange = nil
      #expect(throws: Never.self) { try controller.performFetch() }
    }
    context.insert(Passenger("Cy", age: 20))
    context.processPendingChanges()
    #expect(delegate.heard == ["will", "did"])
    #expect(controller.fetchedObjects?.count == 3)
    delegate.heard = []
    context.insert(Passenger("Di", age: 20))
    context.processPendingChanges()
    #expect(delegate.heard.first == "will")
    #expect(delegate.heard.filter { $0 == "did" }.count == 1)
    #expect(delegate.heard.contains("insert Di - 0.3"))
  }

  @Test func aDelegateThatComesMidwayHearsABeginningAndAnEnd() throws {
    let controller = FetchedResultsController(
      fetchRequest: From<Passenger>().orderBy(\.name),
      context: context
    )
    try controller.performFetch()
    let (first, second, third) = (Delegate(), Delegate(), Delegate())
    controller.delegate = first
    first.beforeChange = { controller in controller.delegate = third }
    third.beforeChange = { controller in controller.delegate = second }
    context.insert(Passenger("Cy", age: 20))
    context.processPendingChanges()
    #expect(first.heard == ["will", "did"])
    #expect(second.heard == ["will", "did"] && third.heard == ["will", "did"])
    context.insert(Passenger("Di", age: 20))
    context.processPendingChanges()
    #expect(first.heard == ["will", "did"])
    #expect(second.heard.dropFirst(2).first == "will" && second.heard.contains("insert Di - 0.3"))
  }

  /// Each beginning has an end, also where the new list is fetched again at once.
  @Test func beginningsAndEndsAreAsMany() throws {
    let request = From<Passenger>().orderBy(\.name)
    let controller = FetchedResultsController(fetchRequest: request, context: context)
    try controller.performFetch()
    let delegate = Delegate()
    controller.delegate = delegate
    delegate.beforeChange = { [delegate] controller in
      delegate.beforeChange = nil
      #expect(throws: Never.self) {
        try controller.performFetch()
        try controller.fetchedObjects?.refetch(request.limit(1))
      }
    }
    context.insert(Passenger("Cy", age: 20))
    context.processPendingChanges()
    #expect(delegate.heard.filter { $0 == "will" }.count == delegate.heard.filter { $0 == "did" }.count)
    #expect(controller.fetchedObjects?.count == 1)
  }

  @Test func aDelegateIsHeldWeakly() throws {
    let controller = FetchedResultsController(
      fetchRequest: From<Passenger>().orderBy(\.name),
      context: context
    )
    try controller.performFetch()
    var delegate: Delegate? = Delegate()
    controller.delegate = delegate
    #expect(controller.delegate === delegate)
    delegate = nil
    #expect(controller.delegate == nil)
    context.insert(Passenger("Cy", age: 20))
    context.processPendingChanges()
    #expect(controller.fetchedObjects?.count == 3)
    #expect(controller.sectionIndexTitle(forSectionName: "zoo") == "Z")
  }

  @Test func aRetitleIsAnUpdateAndAMove() throws {
    let list = try FetchedResults(From<Passenger>().orderBy(\.name), in: context)
    var steps: [ListChanges.PairedEvent] = []
    let subscription = list.onChange { steps = $0.updatesAndMoves }
    let ada = try passenger("Ada")
    ada.name = "Zoe"
    context.processPendingChanges()
    let (first, second) = (ListPath(item: 0), ListPath(item: 1))
    #expect(steps == [.update(first, ada.objectID), .move(from: first, to: second)])
    ada.age = 31
    context.processPendingChanges()
    #expect(steps == [.update(second, ada.objectID)])
    withExtendedLifetime(subscription) {}
  }

  // MARK: Observers

  /// Records the calls of an observer.
  private final class Observer: ListObserver {
    typealias Object = Passenger
    var heard: [String] = []
    var keys: [[String]] = []
    var eventCount = 0

    func listWillChange(_ list: FetchedResults<Passenger>) { heard.append("will") }

    func list(_ list: FetchedResults<Passenger>, didChange event: ListChanges.Event) {
      eventCount += 1
      switch event {
      case .insertSection(let section): heard.append("insert section \(section.section) \(section.name)")
      case .deleteSection(let section): heard.append("delete section \(section.section) \(section.name)")
      default: if eventCount < 10 { heard.append("\(event.change!.kind)") }
      }
    }

    func listDidChange(_ list: FetchedResults<Passenger>, _ changes: ListChanges) {
      heard.append("did")
      keys += changes.changes.map(\.changedProperties)
    }
  }

  @Test func sectionsComeBeforeObjectsAndGoAfterThem() throws {
    let list = try FetchedResults(
      From<Passenger>().orderBy(\.age),
      sectionedBy: SectionedBy(\.age) { "\($0) years old" },
      in: context
    )
    #expect(list.sections.map(\.name) == ["30 years old", "40 years old"])
    let observer = Observer()
    list.addObserver(observer)
    context.delete(try passenger("Ada"))
    context.insert(Passenger("Cy", age: 20))
    context.processPendingChanges()
    #expect(
      observer.heard == [
        "will", "insert section 0 20 years old", "delete", "insert", "delete section 0 30 years old", "did",
      ]
    )
  }

  @Test func oneCommitIsOneChange() throws {
    let list = try FetchedResults(From<Passenger>().orderBy(\.name), in: context)
    let observer = Observer()
    list.addObserver(observer)
    let other = try container.context()
    for number in 0..<1_000 { other.insert(Passenger("P\(number)", age: number)) }
    try other.save()
    try context.refresh()
    #expect(observer.eventCount == 1_000)
    #expect(observer.heard.filter { $0 == "will" }.count == 1)
    #expect(observer.heard.filter { $0 == "did" }.count == 1)
  }

  /// A delegate may read an object that has left the list. The context stays usable.
  @Test func whatOthersHaveDeletedIsGone() async throws {
    let controller = FetchedResultsController(
      fetchRequest: From<Passenger>().orderBy(\.name),
      context: context
    )
    try controller.performFetch()
    let delegate = Delegate()
    controller.delegate = delegate
    let id = try passenger("Bo").objectID
    try await container.batchDelete(From<Passenger>().where { $0.name == "Bo" })
    try context.refresh()
    #expect(delegate.deleted.map(\.objectID) == [id])
    #expect(delegate.deleted.allSatisfy { $0.isDeleted && $0.age < 100 })
    #expect(try context.count(From<Passenger>()) == 1)
    // An object that only left the content still exists.
    controller.fetchRequest = From<Passenger>().where { $0.age < 40 }.orderBy(\.name)
    try controller.performFetch()
    let ada = try passenger("Ada")
    ada.age = 50
    context.processPendingChanges()
    #expect(delegate.deleted.last === ada && !ada.isDeleted)
  }

  @Test func observersHearTheSameUntilTheyAreGone() throws {
    let list = try FetchedResults(From<Passenger>().orderBy(\.name), in: context)
    let first = Observer()
    var second: Observer? = Observer()
    list.addObserver(first)
    list.addObserver(second!)
    let ada = try passenger("Ada")
    (ada.age, ada.isFrequent) = (31, true)
    context.processPendingChanges()
    #expect(first.keys == [["age", "isFrequent"]])
    #expect(second?.keys == first.keys)
    weak let gone = second
    second = nil
    #expect(gone == nil)
    ada.age = 32
    context.processPendingChanges()
    #expect(first.keys.count == 2)
  }
}
