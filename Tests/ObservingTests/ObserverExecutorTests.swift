import Cambium
import Dispatch
import Synchronization
import Testing

@testable import GraphContext

/// Observers that tell an actor, on its executor.
@Suite(.timeLimit(.minutes(60))) struct ObserverExecutorTests {
  private let container: PersistentContainer
  private let context: ManagedObjectContext
  private let flight = Departure(600, "Basel")

  init() async throws {
    container = try await Airport.open()
    context = try container.context()
    context.insert(flight)
    try context.save()
  }

  /// Hears of events on its own executor.
  fileprivate actor Listener {
    var heard: [String] = []

    func hear(_ text: String) {
      assertIsolated()
      heard.append(text)
    }

    /// Waits until `count` texts have arrived.
    func texts(_ count: Int) async throws -> [String] {
      while heard.count < count { try await Task.sleep(for: .milliseconds(1)) }
      return heard
    }
  }

  @Test func everyObserverTellsAnActor() async throws {
    let listener = Listener()
    let counter = try CountObserver(From<Departure>(), in: context)
    let object = try ObjectObserver(flight)
    let list = try FetchedResults(From<Departure>().orderBy(\.minute), in: context)
    let subscriptions = [
      counter.onChange(on: listener, notifyInitial: true) { $0.hear("count \($1)") },
      object.onChange(on: listener) { $0.hear("object \($1)") },
      list.onChange(on: listener) { $0.hear("list \(Self.kinds(of: $1))") },
      try flight.observe(\.city, on: listener) { $0.hear("city \($1) \($2)") },
    ]
    flight.city = "Bern"
    context.insert(Departure(700, "Genf"))
    context.processPendingChanges()
    let heard = try await listener.texts(5)
    #expect(
      heard.sorted() == [
        "city Basel Bern", "count 1", "count 2", "list insert, update", #"object updated(["city"])"#,
      ]
    )
    withExtendedLifetime(subscriptions) {}
  }

  private static func kinds(of changes: ListChanges) -> String {
    changes.changes.map(\.kind.rawValue).sorted().joined(separator: ", ")
  }

  @Test func eventsArriveInTheirOrder() async throws {
    let listener = Listener()
    let subscription = try CountObserver(From<Departure>(), in: context)
      .onChange(on: listener, notifyInitial: true) { $0.hear("\($1)") }
    for minute in 0..<200 {
      context.insert(Departure(minute, "x"))
      context.processPendingChanges()
    }
    #expect(try await listener.texts(201) == (1...201).map { "\($0)" })
    withExtendedLifetime(subscription) {}
  }

  @Test func theMainActorIsTold() async throws {
    let screen = Screen()
    let counter = try CountObserver(From<Departure>(), in: context)
    let subscriptions = [
      counter.onChange(on: MainActor.shared, notifyInitial: true) { screen.show("\($0)") },
      try flight.observe(\.city, on: MainActor.shared) { screen.show("\($0) \($1)") },
    ]
    flight.city = "Bern"
    context.processPendingChanges()
    while await screen.texts.count < 2 { try await Task.sleep(for: .milliseconds(1)) }
    #expect(await screen.texts.sorted() == ["1", "Basel Bern"])
    withExtendedLifetime(subscriptions) {}
  }

  @MainActor private final class Screen {
    var texts: [String] = []
    func show(_ text: String) { texts.append(text) }
  }

  /// A concurrent queue gets one event at a time.
  @Test func aQueueIsTold() async throws {
    let queue = DispatchQueue(label: "observers", attributes: .concurrent)
    let key = DispatchSpecificKey<Bool>()
    queue.setSpecific(key: key, value: true)
    let notes = Notes()
    let counter = try CountObserver(From<Departure>(), in: context)
    let subscriptions = [
      counter.onChange(on: queue, notifyInitial: true) { count in
        notes.add("\(count) \(DispatchQueue.getSpecific(key: key) == true)")
      },
      try flight.observe(\.city, on: queue) { notes.add("\($0) \($1)") },
    ]
    flight.city = "Bern"
    for minute in 0..<50 {
      context.insert(Departure(minute, "x"))
      context.processPendingChanges()
    }
    let texts = try await notes.texts(52)
    #expect(texts.filter { $0 != "Basel Bern" } == (1...51).map { "\($0) true" })
    withExtendedLifetime(subscriptions) {}
  }

  /// Texts that several threads add.
  private final class Notes: Sendable {
    private let all = Mutex<[String]>([])

    func add(_ text: String) { all.withLock { $0.append(text) } }

    func texts(_ count: Int) async throws -> [String] {
      while true {
        let texts = all.withLock { $0 }
        if texts.count >= count { return texts }
        try await Task.sleep(for: .milliseconds(1))
      }
    }
  }

  // MARK: Owners

  @Test func ownersAreToldOnTheirExecutors() async throws {
    let (listener, screen, notes) = (Listener(), Screen(), Notes())
    let queue = DispatchQueue(label: "owners")
    let counter = try CountObserver(From<Departure>(), in: context)
    counter.addObserver(listener, notifyInitial: true) { $0.hear("\($1)") }
    counter.addObserver(screen, on: MainActor.shared) { $0.show("\($1)") }
    counter.addObserver(notes, on: queue) { $0.add("\($1)") }
    for minute in 0..<3 {
      context.insert(Departure(minute, "x"))
      context.processPendingChanges()
    }
    #expect(try await listener.texts(4) == ["1", "2", "3", "4"])
    #expect(try await notes.texts(3) == ["2", "3", "4"])
    while await screen.texts.count < 3 { try await Task.sleep(for: .milliseconds(1)) }
    #expect(await screen.texts == ["2", "3", "4"])
    withExtendedLifetime((counter, listener, screen, notes)) {}
  }

  /// Changes from before the end of an observer are still reported.
  @Test func ownersHearWhatHappenedBeforeTheEnd() async throws {
    let notes = Notes()
    let queue = DispatchQueue(label: "owners")
    queue.suspend()
    var counter: CountObserver<Departure>? = try CountObserver(From<Departure>(), in: context)
    counter?.addObserver(notes, on: queue, notifyInitial: true) { $0.add("\($1)") }
    context.insert(Departure(1, "x"))
    context.processPendingChanges()
    counter = nil
    queue.resume()
    #expect(try await notes.texts(2) == ["1", "2"])
  }

  /// Events that wait for an owner are dropped once the owner is removed.
  @Test func anOwnerThatIsRemovedIsToldNoMore() async throws {
    let notes = Notes()
    let queue = DispatchQueue(label: "owners")
    let counter = try CountObserver(From<Departure>(), in: context)
    counter.addObserver(notes, on: queue) { $0.add("\($1)") }
    queue.suspend()
    context.insert(Departure(1, "x"))
    context.processPendingChanges()
    counter.removeObserver(notes)
    counter.addObserver(notes, on: queue, notifyInitial: true) { $0.add("again \($1)") }
    queue.resume()
    context.insert(Departure(2, "x"))
    context.processPendingChanges()
    #expect(try await notes.texts(2) == ["again 2", "again 3"])
    withExtendedLifetime((counter, notes)) {}
  }

  /// The release of an owner ends its listener, and so does the release of an actor that a subscription calls.
  @Test func ownersAreHeldWeakly() async throws {
    final class Token: Sendable {}
    var (listener, notes): (Listener?, Notes?) = (Listener(), Notes())
    weak let (released, other) = (listener, notes)
    var tokens: [Token] = [Token(), Token(), Token()]
    weak let (first, second, third) = (tokens[0], tokens[1], tokens[2])
    let counter = try CountObserver(From<Departure>(), in: context)
    counter.addObserver(try #require(listener)) { [token = tokens[0]] _, _ in _ = token }
    counter.addObserver(try #require(notes), on: DispatchQueue(label: "owners")) {
      [token = tokens[1]] _, _ in _ = token
    }
    let subscription = counter.onChange(on: try #require(listener)) { [token = tokens[2]] _, _ in
      _ = token
    }
    (listener, notes, tokens) = (nil, nil, [])
    var minute = 0
    // Closures are released with an event after the end of their owners.
    while released != nil || other != nil || first != nil || second != nil || third != nil {
      context.insert(Departure(minute, "x"))
      context.processPendingChanges()
      minute += 1
      try await Task.sleep(for: .milliseconds(1))
    }
    withExtendedLifetime(subscription) {}
  }

  // MARK: Ends

  @Test func aSubscriptionThatEndsOnItsActorIsToldNoMore() async throws {
    let listener = Listener()
    let counter = try CountObserver(From<Departure>(), in: context)
    let subscription = counter.onChange(on: listener) { listener, count in
      listener.hear("\(count)")
    }
    context.insert(Departure(1, "x"))
    context.processPendingChanges()
    _ = try await listener.texts(1)
    await listener.cancel(subscription)
    context.insert(Departure(2, "x"))
    context.processPendingChanges()
    let other = counter.onChange(on: listener, notifyInitial: true) { $0.hear("other \($1)") }
    #expect(try await listener.texts(2) == ["2", "other 3"])
    withExtendedLifetime(other) {}
  }

  /// An actor may keep the subscription that tells it: neither of them keeps the other for ever.
  @Test func anActorIsHeldWeakly() async throws {
    var listener: Listener? = Listener()
    weak let released = listener
    let counter = try CountObserver(From<Departure>(), in: context)
    let subscription = counter.onChange(on: try #require(listener)) { $0.hear("\($1)") }
    listener = nil
    while released != nil { try await Task.sleep(for: .milliseconds(1)) }
    context.insert(Departure(1, "x"))
    context.processPendingChanges()
    withExtendedLifetime(subscription) {}
  }
}

extension ObserverExecutorTests.Listener {
  fileprivate func cancel(_ subscription: ContextSubscription) { subscription.cancel() }
}
