import Cambium
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

    /// Waits until so many texts have arrived.
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
