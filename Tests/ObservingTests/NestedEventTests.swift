import Cambium
import Testing

@testable import GraphContext

/// Listeners that change their context while they are told of a change. All listeners are told of both changes, in
/// the order in which they happened.
struct NestedEventTests {
  private let container: PersistentContainer
  private let context: ManagedObjectContext
  private let byMinute = From<Departure>().orderBy(\.minute)
  private let byCity = From<Departure>().orderBy(\.city)

  init() async throws {
    container = try await Airport.open()
    context = try container.context()
  }

  private func add(_ minute: Int, _ city: String = "Basel") {
    context.insert(Departure(minute, city))
  }

  /// Returns a closure that inserts a departure and saves, the first time that it is called.
  private func insertingOnce(_ minute: Int) -> () -> Void {
    var isDone = false
    return { [unowned context] in
      if isDone { return }
      isDone = true
      context.insert(Departure(minute, "Rome"))
      do { try context.save() } catch { Issue.record("\(error)") }
    }
  }

  // MARK: Events

  @Test func eventsArriveInTheirOrder() throws {
    var told: [String] = []
    let save = insertingOnce(2)
    let subscriptions = [
      context.onObjectsDidChange { _ in
        save()
        told.append("first")
      },
      context.onObjectsDidChange { told.append("\($0.inserted.count) inserted") },
      context.onDidSave { told.append("\($0.inserted.count) saved") },
    ]
    let flight = Departure(1, "Basel")
    context.insert(flight)
    context.processPendingChanges()
    #expect(
      told == [
        "first", "1 inserted", "first", "1 inserted", "2 saved",
      ]
    )
    #expect(!context.hasChanges)
    withExtendedLifetime(subscriptions) {}
  }

  @Test func savesOfListenersOfSavesArriveInTheirOrder() throws {
    var told: [Int] = []
    let save = insertingOnce(3)
    let subscriptions = [
      context.onDidSave { _ in save() }, context.onDidSave { told.append($0.inserted.count) },
    ]
    add(1)
    add(2)
    try context.save()
    #expect(told == [2, 1])
    withExtendedLifetime(subscriptions) {}
  }

  /// The child also gets the event of the listener's change, after the event during which the listener made it.
  @Test func childrenHearInTheSameOrder() throws {
    let child = context.makeChild()
    var told: [[Int]] = []
    let save = insertingOnce(2)
    let subscriptions = [
      context.onObjectsDidChange { _ in save() },
      child.onObjectsDidChange { [unowned child] changes in
        let flights = changes.inserted.compactMap { try? child.existingObject(Departure.self, with: $0) }
        told.append(flights.map(\.minute))
      },
    ]
    add(1)
    context.processPendingChanges()
    #expect(told == [[1], [2]])
    withExtendedLifetime(subscriptions) {}
  }

  /// A listener that subscribes within an event is told only of later changes.
  @Test func aNewListenerHearsNothingThatHappenedBefore() throws {
    var told: [Int] = []
    var late: ContextSubscription?
    let save = insertingOnce(2)
    let subscription = context.onObjectsDidChange { [unowned context] _ in
      save()
      if late == nil { late = context.onObjectsDidChange { told.append($0.inserted.count) } }
    }
    add(1)
    context.processPendingChanges()
    #expect(told == [])
    add(3)
    add(4)
    context.processPendingChanges()
    #expect(told == [2])
    withExtendedLifetime((subscription, late)) {}
  }

  /// Before a merge, the context reports its own changes. A listener that saves these moves the context on.
  @Test func aListenerCanSaveWhileTheContextMerges() throws {
    let other = try container.context()
    let subscription = context.onObjectsDidChange { [unowned context] _ in
      if context.hasChanges { try? context.save() }
    }
    other.insert(Departure(1, "A"))
    try other.save()
    context.insert(Departure(2, "B"))
    try context.refresh()
    #expect(try context.fetch(byMinute).map(\.minute) == [1, 2])
    #expect(!context.hasChanges)
    withExtendedLifetime(subscription) {}
  }

  // MARK: Lists and counts

  @Test func listsFollowAListenerThatSaves() throws {
    add(5)
    try context.save()
    for requests in [[byMinute, byCity], [byCity, byMinute]] {
      let lists = try requests.map { try FetchedResults($0, in: context) }
      let save = insertingOnce(2)
      let subscription = lists[0].onChange { _ in save() }
      let mirrors = lists.map { ListMirror($0) }
      add(1)
      context.processPendingChanges()
      for (mirror, request) in zip(mirrors, requests) {
        let expected = try context.fetchIDs(request)
        #expect(mirror.hasMatched)
        #expect(mirror.ids == expected)
        #expect(mirror.shown == expected)
      }
      withExtendedLifetime(subscription) {}
    }
  }

  @Test func allListenersOfAListHearItsDifferencesInOrder() throws {
    let list = try FetchedResults(byMinute, in: context)
    let save = insertingOnce(2)
    var counts: [Int] = []
    let first = list.onChange { [unowned list] _ in
      save()
      counts.append(list.count)
    }
    let mirror = ListMirror(list)
    add(1)
    context.processPendingChanges()
    #expect(mirror.hasMatched)
    #expect(mirror.changes.map(\.changes.count) == [1, 1])
    #expect(mirror.shown.count == 2)
    #expect(counts == [1, 2], "a list shows what it has told of")
    withExtendedLifetime(first) {}
  }

  @Test func aListThatAListenerFetchesAgainTellsOfItAfterwards() throws {
    let list = try FetchedResults(byMinute, in: context)
    var isDone = false
    let first = list.onChange { [unowned list] _ in
      if isDone { return }
      isDone = true
      do { try list.refetch(From<Departure>().orderBy(.descending(\.minute))) } catch {
        Issue.record("\(error)")
      }
    }
    let mirror = ListMirror(list)
    add(1)
    add(2)
    context.processPendingChanges()
    #expect(mirror.hasMatched)
    #expect(mirror.changes.map(\.isReload) == [false, true])
    #expect(list.map(\.minute) == [2, 1])
    withExtendedLifetime(first) {}
  }

  /// A listener of the context that fetches another list again sees it at once.
  @Test func anotherListIsFetchedAgainAtOnce() throws {
    let list = try FetchedResults(byMinute.where { $0.minute > 5 }, in: context)
    let mirror = ListMirror(list)
    var counts: [Int] = []
    let subscription = context.onObjectsDidChange { [unowned list, byMinute] _ in
      try? list.refetch(byMinute)
      counts.append(list.count)
    }
    add(1)
    context.processPendingChanges()
    #expect(counts == [1])
    #expect(mirror.hasMatched)
    #expect(mirror.shown.count == 1)
    withExtendedLifetime(subscription) {}
  }

  @Test func aCountEndsWithTheLastNumber() throws {
    let counter = try CountObserver(From<Departure>(), in: context)
    let save = insertingOnce(2)
    var told: [Int] = []
    let subscriptions = [counter.onChange { _ in save() }, counter.onChange { told.append($0) }]
    add(1)
    context.processPendingChanges()
    #expect(told == [1, 2])
    #expect(counter.count == 2)
    withExtendedLifetime(subscriptions) {}
  }

  @Test func whatTheFirstCallChangesIsTold() throws {
    let counter = try CountObserver(From<Departure>(), in: context)
    let save = insertingOnce(1)
    var told: [Int] = []
    let subscription = counter.onChange(notifyInitial: true) { count in
      save()
      told.append(count)
    }
    #expect(told == [0, 1])
    withExtendedLifetime(subscription) {}
  }

  @Test func aCountThatAListenerResumesTellsAfterwards() throws {
    let counter = try CountObserver(From<Departure>(), in: context)
    var told: [Int] = []
    let first = counter.onChange { [unowned counter, unowned context] count in
      guard count == 1 else { return }
      counter.pause()
      context.insert(Departure(2, "Rome"))
      context.processPendingChanges()
      counter.resume()
    }
    let second = counter.onChange { told.append($0) }
    add(1)
    context.processPendingChanges()
    #expect(told == [1, 2])
    withExtendedLifetime((first, second)) {}
  }

  // MARK: Observers of lists

  private final class Saver: ListObserver {
    let save: () -> Void

    init(_ save: @escaping () -> Void) { self.save = save }

    func listWillChange(_ list: FetchedResults<Departure>) { save() }
  }

  @Test(arguments: [true, false]) func anObserverCanSaveBeforeTheListChanges(isRanked: Bool) throws {
    let request = isRanked ? byMinute : byCity
    let list = try FetchedResults(request, in: context)
    let saver = Saver(insertingOnce(2))
    list.addObserver(saver)
    let mirror = ListMirror(list)
    add(1)
    context.processPendingChanges()
    let expected = try context.fetchIDs(request)
    #expect(mirror.hasMatched)
    #expect(mirror.shown == expected)
    #expect(list.count == 2)
  }

  @Test func twoSurfacesOfOneListStayInStep() throws {
    add(5)
    let list = try FetchedResults(byMinute, in: context)
    let targets = [RecordingListTarget { $0 }, RecordingListTarget { $0 }]
    let sources = targets.map { ListDataSource(list, target: $0) }
    let save = insertingOnce(2)
    sources[0].onDidChangeContent = { _ in save() }
    add(1)
    context.processPendingChanges()
    let expected = try context.fetchIDs(byMinute)
    for target in targets {
      #expect(target.violations == [])
      #expect(target.shown == [expected])
    }
    withExtendedLifetime(sources) {}
  }

  /// Records its calls, and runs closures in them.
  private final class Noter: ListObserver {
    var told: [String] = []
    var will: (FetchedResults<Departure>) -> Void = { _ in }
    var did: (FetchedResults<Departure>) -> Void = { _ in }

    func listWillChange(_ list: FetchedResults<Departure>) {
      told.append("will")
      will(list)
    }

    func list(_ list: FetchedResults<Departure>, didChange event: ListChanges.Event) { told.append("step") }

    func listDidChange(_ list: FetchedResults<Departure>, _ changes: ListChanges) {
      told.append("did")
      did(list)
    }
  }

  @Test func anObserverThatIsRemovedHearsNoMore() throws {
    let list = try FetchedResults(byMinute, in: context)
    let (first, second) = (Noter(), Noter())
    list.addObserver(first)
    list.addObserver(second)
    first.did = { $0.removeObserver(second) }
    add(1)
    context.processPendingChanges()
    #expect(first.told == ["will", "step", "did"])
    #expect(second.told == ["will"])
    add(2)
    context.processPendingChanges()
    #expect(second.told == ["will"])
  }

  /// The observer has seen the list before the difference.
  @Test func anObserverThatComesBeforeADifferenceHearsIt() throws {
    let list = try FetchedResults(byMinute, in: context)
    let (first, second) = (Noter(), Noter())
    list.addObserver(first)
    first.will = { $0.addObserver(second) }
    add(1)
    context.processPendingChanges()
    #expect(second.told == ["will", "step", "did"])
    add(2)
    context.processPendingChanges()
    #expect(first.told.count == 6)
    #expect(second.told.count == 6, "it was added again, and goes on being told")
  }

  /// A closure that comes while observers are told of a difference begins with the state after it.
  @Test func aClosureThatComesDuringADifferenceHearsTheNext() throws {
    let list = try FetchedResults(byMinute, in: context)
    let observer = Noter()
    var mirror: ListMirror<Departure>?
    observer.did = { list in if mirror == nil { mirror = ListMirror(list) } }
    list.addObserver(observer)
    add(1)
    context.processPendingChanges()
    add(2)
    context.processPendingChanges()
    #expect(mirror?.changes.count == 1)
    #expect(mirror?.hasMatched == true)
  }

  // MARK: Fetching again

  /// A listener fetches again twice, and pauses. The list shows the last request.
  @Test func theLastRequestOfAListenerStays() throws {
    let list = try FetchedResults(byMinute, in: context)
    let descending = From<Departure>().orderBy(.descending(\.minute))
    var isDone = false
    let subscription = list.onChange { [unowned list] _ in
      if isDone { return }
      isDone = true
      do {
        try list.refetch(descending, sectionedBy: SectionedBy(\.minute))
        try list.refetch()
      } catch { Issue.record("\(error)") }
      list.pause()
    }
    add(1)
    add(2)
    context.processPendingChanges()
    #expect(list.map(\.minute) == [2, 1] && list.sections.map(\.name) == ["2", "1"])
    #expect(list.isPaused)
    add(3)
    context.processPendingChanges()
    #expect(list.count == 2)
    try list.resume()
    #expect(list.map(\.minute) == [3, 2, 1] && !list.isPaused)
    try list.refetch(byMinute)
    #expect(list.map(\.minute) == [1, 2, 3])
    withExtendedLifetime(subscription) {}
  }

  /// Objects that listeners insert in answer to each other are reported before a list is read. Otherwise the list
  /// would never be told of their removal, and would keep them.
  @Test func aListMadeAmongAnsweringListenersForgetsWhatGoes() throws {
    var answers = 0
    let subscription = context.onObjectsDidChange { [unowned context] _ in
      if answers == 4 { return }
      answers += 1
      context.insert(Departure(100 + answers, "x"))
    }
    add(1)
    let list = try FetchedResults(byMinute, in: context)
    let count = try CountObserver(byMinute, in: context)
    #expect(list.map(\.minute) == [1, 101, 102, 103, 104])
    context.delete(list[4])
    context.delete(list[2])
    context.processPendingChanges()
    #expect(try context.count(byMinute) == 3 && count.count == 3)
    #expect(list.map(\.minute) == [1, 101, 103])
    withExtendedLifetime(subscription) {}
  }
}
