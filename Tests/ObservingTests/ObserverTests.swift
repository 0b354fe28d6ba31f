import Cambium
import Testing

@testable import GraphContext

/// Observers of one object, of a count and of a list's snapshots.
struct ObserverTests {
  private let container: PersistentContainer
  private let context: ManagedObjectContext
  private let flight = Departure(600, "Basel")

  init() async throws {
    container = try await Airport.open()
    context = try container.context()
    context.undoManager = ContextUndoManager()
    context.insert(flight)
    try context.save()
  }

  /// The events that observers have reported.
  private final class Log<Event> {
    var events: [Event] = []

    func take() -> [Event] {
      defer { events = [] }
      return events
    }
  }

  // MARK: Objects

  @Test func anObserverTellsOfItsObjectAlone() throws {
    let other = Departure(700, "Bern")
    context.insert(other)
    let log = Log<ObjectObserver<Departure>.Change>()
    let observer = try ObjectObserver(flight)
    let subscription = observer.onChange(notifyInitial: true) { log.events.append($0) }
    other.city = "Rome"
    context.processPendingChanges()
    #expect(log.take() == [.initial])
    flight.city = "Oslo"
    flight.status = "late"
    context.processPendingChanges()
    #expect(log.take() == [.updated(["city", "status"])])
    context.rollback()
    #expect(log.take() == [.refreshed])
    withExtendedLifetime(subscription) {}
  }

  /// An additional listener replaces none, and gets the state at once if it asks for that.
  @Test func eachListenerIsToldTheInitialStateOnce() throws {
    let (first, second, third) = (Log<String>(), Log<String>(), Log<String>())
    let observer = try ObjectObserver(flight)
    var subscriptions = [observer.onChange(notifyInitial: true) { first.events.append("\($0)") }]
    flight.city = "Oslo"
    context.processPendingChanges()
    subscriptions.append(observer.onChange(notifyInitial: true) { second.events.append("\($0)") })
    subscriptions.append(observer.onChange { third.events.append("\($0)") })
    flight.status = "late"
    context.processPendingChanges()
    let update = #"updated(["status"])"#
    #expect(first.take() == ["initial", #"updated(["city"])"#, update])
    #expect(second.take() == ["initial", update])
    #expect(third.take() == [update])
    withExtendedLifetime(subscriptions) {}
  }

  @Test func commitsOfOthersAndDeletionsAreTold() throws {
    let log = Log<ObjectObserver<Departure>.Change>()
    let observer = try ObjectObserver(flight)
    let subscription = observer.onChange { log.events.append($0) }
    let background = try container.context()
    let same: Departure = try background.existingObject(with: flight.objectID)
    same.minute = 601
    try background.save()
    #expect(log.take() == [])
    try context.refresh()
    #expect(log.take() == [.updated(["minute"])])
    context.delete(flight)
    context.processPendingChanges()
    #expect(log.take() == [.deleted])
    #expect(observer.object == nil)
    #expect(observer.isDeleted)
    context.undo()
    #expect(log.take() == [.restored])
    #expect(observer.object === flight)
    context.reset()
    #expect(log.take() == [.refreshed])
    #expect(observer.object?.minute == 601)
    try background.refresh()
    background.delete(same)
    try background.save()
    context.reset()
    #expect(log.take() == [.deleted])
    #expect(observer.isDeleted && observer.object == nil)
    withExtendedLifetime(subscription) {}
  }

  @Test func ownersAreHeldWeaklyAndToldTheSame() throws {
    let observer = try ObjectObserver(flight)
    let (first, second) = (Log<ObjectObserver<Departure>.Change>(), Log<ObjectObserver<Departure>.Change>())
    var third: Log<ObjectObserver<Departure>.Change>? = .init()
    weak let released = third
    observer.addObserver(first) { $0.events.append($1) }
    observer.addObserver(first) { $0.events.append($1) }
    observer.addObserver(second) { $0.events.append($1) }
    observer.addObserver(third!) { $0.events.append($1) }
    third = nil
    #expect(released == nil)
    flight.minute = 602
    context.processPendingChanges()
    #expect(first.take() == [.updated(["minute"])])
    #expect(second.take() == [.updated(["minute"])])
    observer.removeObserver(second)
    observer.pause()
    flight.minute = 603
    context.processPendingChanges()
    observer.resume()
    flight.minute = 604
    context.processPendingChanges()
    #expect(first.take() == [.updated(["minute"])])
    #expect(second.take() == [])
  }

  @Test func aSequenceBeginsWithTheInitialState() async throws {
    var observer: ObjectObserver? = try ObjectObserver(flight)
    let changes = observer!.changes()
    flight.city = "Oslo"
    context.processPendingChanges()
    observer = nil
    var seen: [ObjectObserver<Departure>.Change] = []
    for await change in changes { seen.append(change) }
    #expect(seen == [.initial, .updated(["city"])])
  }

  /// A program that keeps what `onChange` returns needn't keep the observer.
  @Test func aSubscriptionKeepsItsObserver() throws {
    let log = Log<String>()
    let late = From<Departure>().where { $0.status == "late" }
    weak var list: FetchedResults<Departure>?
    func subscribe() throws -> [ContextSubscription] {
      let results = try FetchedResults(late, in: context)
      list = results
      return [
        try ObjectObserver(flight).onChange { log.events.append("\($0)") },
        try CountObserver(late, in: context).onChange { log.events.append("\($0) late") },
        results.onChange { log.events.append("\($0.changes.count) in the list") },
      ]
    }
    var subscriptions = try subscribe()
    flight.status = "late"
    context.processPendingChanges()
    #expect(log.take().sorted() == ["1 in the list", "1 late", #"updated(["status"])"#])
    #expect(list != nil && subscriptions.count == 3)
    subscriptions = []
    flight.status = nil
    context.processPendingChanges()
    #expect(log.take() == [])
    #expect(list == nil)
  }

  /// Objects that a subscription keeps are released on the context's executor, and may use the context then.
  @Test func anObserverEndsWithAnEventOfItsContext() async throws {
    final class Last {
      let context: ManagedObjectContext
      init(_ context: ManagedObjectContext) { self.context = context }
      deinit { _ = context.onWillSave {} }
    }
    let subscription = try ObjectObserver(flight).onChange { [last = Last(context)] _ in _ = last }
    await Task.detached { subscription.cancel() }.value
    context.processPendingChanges()
    let fresh = try CountObserver(From<Departure>(), in: context).onChange { _ in }
    for _ in 0..<3 { _ = try CountObserver(From<Departure>(), in: context).onChange { _ in } }
    context.processPendingChanges()
    #expect(context.events.takeUnsubscribed().isEmpty)
    fresh.cancel()
    #expect(context.events.takeUnsubscribed().count == 1)
  }

  @Test func anObjectInNoContextIsRefused() {
    #expect(throws: ContextError.self) { try ObjectObserver(Departure(1, "x")) }
  }

  // MARK: Counts

  @Test func twoBatchesOfOneTurnAreOneCount() throws {
    let log = Log<Int>()
    let late = From<Departure>().where { $0.status == "late" }
    let observer = try CountObserver(late, in: context)
    let subscription = observer.onChange(notifyInitial: true) { log.events.append($0) }
    for _ in 0..<2 { for minute in 0..<5 { context.insert(Departure(minute, "x", status: "late")) } }
    context.insert(Departure(1, "y"))
    context.processPendingChanges()
    #expect(log.take() == [0, 10])
    flight.city = "z"
    context.processPendingChanges()
    try context.save()
    #expect(log.take() == [])
    observer.pause()
    flight.status = "late"
    context.processPendingChanges()
    #expect(log.take() == [])
    observer.resume()
    #expect(log.take() == [11])
    #expect(observer.count == 11)
    withExtendedLifetime(subscription) {}
  }

  @Test func aCountFollowsObjectsAtTheEndsOfPaths() throws {
    let airline = Airline("AA")
    flight.airline = airline
    try context.save()
    let observer = try CountObserver(From<Departure>().where { $0.airline.name == "BB" }, in: context)
    airline.name = "BB"
    context.processPendingChanges()
    #expect(observer.count == 1)
    context.delete(airline)
    context.processPendingChanges()
    #expect(observer.count == 0)
  }

  @Test func anOwnerMayBeToldAtOnce() throws {
    let log = Log<String>()
    let observer = try ObjectObserver(flight)
    let counter = try CountObserver(From<Departure>(), in: context)
    let list = try FetchedResults(From<Departure>(), in: context)
    observer.addObserver(log, notifyInitial: true) { $0.events.append("\($1)") }
    counter.addObserver(log, notifyInitial: true) { $0.events.append("\($1)") }
    list.addObserver(log, notifyInitial: true) {
      $0.events.append($1.isReload ? "reload" : "\($1.changes.count)")
    }
    #expect(log.take() == ["initial", "1", "reload"])
    context.insert(Departure(1, "x"))
    context.processPendingChanges()
    #expect(log.take().sorted() == ["1", "2"])
    list.removeObserver(log)
    counter.removeObserver(log)
    context.insert(Departure(2, "x"))
    context.processPendingChanges()
    #expect(log.take() == [])
  }

  // MARK: Lists

  @Test func snapshotsAreKeptAndCompared() async throws {
    for minute in [60, 120, 180, 61] { context.insert(Departure(minute, "x")) }
    let request = From<Departure>().orderBy(\.hour, \.minute)
    var list: FetchedResults? = try FetchedResults(request, sectionedBy: SectionedBy(\.hour), in: context)
    let old = try list!.snapshot()
    #expect(old.sectionNames == ["1", "2", "3", "10"])
    #expect(old.section(3).range == 4..<5)
    #expect(try list!.snapshot() == old)
    let snapshots = try list!.snapshots()
    flight.hour = 0
    context.processPendingChanges()
    let new = try list!.snapshot()
    #expect(new != old)
    #expect(old.count == 5)
    let changes = new.changes(from: old)
    #expect(changes.applied(to: Array(old), { $0 }) == Array(new))
    #expect(changes.deletedSections.map(\.name) == ["10"])
    #expect(changes.insertedSections.map(\.name) == ["0"])
    list = nil
    var seen: [ListSnapshot<Departure>] = []
    for await snapshot in snapshots { seen.append(snapshot) }
    #expect(seen == [new])
  }

  @Test func aListThatIsPausedOrRefetchedTellsOfAReload() throws {
    let list = try FetchedResults(From<Departure>().orderBy(\.minute), in: context)
    let log = Log<ListChanges>()
    let subscription = list.onChange { log.events.append($0) }
    list.pause()
    context.insert(Departure(1, "x"))
    context.processPendingChanges()
    #expect(list.count == 1)
    try list.resume()
    #expect(list.count == 2)
    #expect(log.take().map(\.isReload) == [true])
    try list.refetch(From<Departure>().where { $0.minute > 5 }.orderBy(\.minute))
    #expect(list.map(\.minute) == [600])
    #expect(throws: ContextError.self) { try list.refetch(From<Departure>().limit(-1)) }
    #expect(list.map(\.minute) == [600])
    #expect(log.take().map(\.isReload) == [true])
    context.reset()
    #expect(log.take().map(\.isReload) == [true])
    withExtendedLifetime(subscription) {}
  }

  @Test func aListenerMayBeCalledAtOnce() throws {
    let list = try FetchedResults(From<Departure>().orderBy(\.minute), in: context)
    let log = Log<(isReload: Bool, count: Int)>()
    let subscription = list.onChange(notifyInitial: true) { log.events.append(($0.isReload, list.count)) }
    #expect(log.take().map { "\($0)" } == ["(isReload: true, count: 1)"])
    context.insert(Departure(1, "x"))
    context.processPendingChanges()
    #expect(log.take().map { "\($0)" } == ["(isReload: false, count: 2)"])
    withExtendedLifetime(subscription) {}
  }

  @Test func anOrderBySomethingElseThanTheSectionsIsRefused() throws {
    let letters = SectionedBy<Departure>.firstLetter(of: \.city)
    #expect(throws: ContextError.self) {
      try FetchedResults(From<Departure>().orderBy(\.minute), sectionedBy: letters, in: context)
    }
  }

  @Test func theWayToPositionsIsExplained() throws {
    let ranked = try FetchedResults(From<Departure>().orderBy(\.minute), in: context)
    #expect(try ranked.explain().listing == .byRank)
    #expect(try ranked.explain().description.contains("list: positions by rank"))
    let numbered = try FetchedResults(From<Departure>().orderBy(\.city), in: context)
    #expect(try numbered.explain().listing == .byNumbers(1))
  }

  /// Each change costs the same, however long the list is, and the list holds nothing for its objects.
  @Test(arguments: [1_000, 20_000]) func aListByRankWalksFewEntries(count: Int) async throws {
    let values = (1...count).map { Departure.Values(hour: $0 / 60, minute: $0, status: nil, city: "x") }
    try await container.batchInsert(values)
    try context.refresh()
    let list = try FetchedResults(From<Departure>().orderBy(\.minute), in: context)
    #expect(list.count == count + 1)
    #expect(list.byteCount == 0)
    let before = list.entriesWalked
    flight.minute = count / 2
    context.processPendingChanges()
    #expect(list.entriesWalked - before <= 10)
    #expect(list[count / 2 - 1].objectID == flight.objectID || list[count / 2].objectID == flight.objectID)
    try context.save()
    #expect(list.byteCount == 0)
  }

  @Test func aListEndsWithItsContext() async throws {
    var context: ManagedObjectContext? = try container.context()
    let list = try FetchedResults(From<Departure>().orderBy(\.minute), in: context!)
    let changes = list.changes()
    #expect(list.count == 1)
    context = nil
    #expect(list.isEmpty)
    #expect(throws: ContextError.self) { try list.refetch() }
    withExtendedLifetime(changes) {}
  }

  // MARK: Undo

  /// A turn continues when an observer begins during it.
  @Test func anObserverLeavesTheUndoGroupOpen() throws {
    let manager = try #require(context.undoManager)
    let known = manager.undoCount
    let child = context.makeChild()
    defer { child.end() }
    child.undoManager = ContextUndoManager()
    let same: Departure = try child.existingObject(with: flight.objectID)
    flight.city = "Oslo"
    same.minute = 1
    let list = try FetchedResults(From<Departure>().orderBy(\.minute), in: context)
    let count = try CountObserver(From<Departure>(), in: context)
    flight.status = "late"
    same.minute = 2
    context.processPendingChanges()
    #expect(manager.undoCount == known + 1 && child.undoManager?.undoCount == 1)
    context.undo()
    #expect(flight.status == nil && flight.city == "Basel")
    child.undo()
    #expect(same.minute == 600)
    withExtendedLifetime((list, count)) {}
  }

  // MARK: Costs

  /// The cost of a change of a related object depends on the length of the list, not on the number of objects that
  /// lead to it.
  @Test(arguments: [nil, 5]) func aRenameCostsWhatTheListHas(limit: Int?) async throws {
    let container = try await Airport.open(count: 4_000)
    let context = try container.context()
    defer { context.end() }
    let airlines = [Airline("AA"), Airline("BB")]
    airlines.forEach { context.insert($0) }
    for flight in try context.fetch(From<Departure>()) { flight.airline = airlines[flight.minute % 2] }
    try context.save()
    var few = From<Departure>().where { $0.minute <= 10 }.orderBy(\.airline?.name, \.minute)
    if let limit { few = few.limit(limit) }
    let list = try FetchedResults(few, in: context)
    var told: [ListChanges] = []
    let subscription = list.onChange { told.append($0) }
    let before = list.entriesWalked
    airlines[0].name = "ZZ"
    context.processPendingChanges()
    #expect(list.entriesWalked - before < 400)
    #expect(list.map(\.objectID) == (try context.fetch(few).map(\.objectID)))
    #expect(told.first?.changes.contains { $0.isMove || $0.newPosition == nil } == true)
    withExtendedLifetime(subscription) {}
  }

  /// A merge without changes for a list still moves the list to the new snapshot.
  @Test func aListMovesOnWithoutNews() throws {
    let own = try container.context()
    defer { own.end() }
    let same: Departure = try own.existingObject(with: flight.objectID)
    let list = try FetchedResults(From<Departure>().orderBy(\.minute), in: own)
    let passing = Departure(1, "x")
    context.insert(passing)
    try context.save()
    context.delete(passing)
    try context.save()
    try own.refresh()
    let held = try container.statistics.snapshots
    same.city = "y"
    own.processPendingChanges()
    #expect(try container.statistics.snapshots >= held)
    list.pause()
    try own.save()
    try list.resume()
    let resumed = try container.statistics.snapshots
    same.city = "z"
    own.processPendingChanges()
    #expect(try container.statistics.snapshots >= resumed)
    withExtendedLifetime(list) {}
  }
}
