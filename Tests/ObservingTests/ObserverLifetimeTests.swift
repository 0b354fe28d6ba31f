import Cambium
import Testing

@testable import GraphContext

/// The times at which closures of listeners are released, and the calls that are possible then.
struct ObserverLifetimeTests {
  private let container: PersistentContainer
  private let context: ManagedObjectContext
  private let flight = Departure(600, "Basel")

  init() async throws {
    container = try await Airport.open()
    context = try container.context()
    context.insert(flight)
    try context.save()
  }

  private final class Sentinel {
    let atEnd: (Sentinel) -> Void

    init(_ atEnd: @escaping (Sentinel) -> Void = { _ in }) { self.atEnd = atEnd }

    deinit { atEnd(self) }
  }

  private func turn() {
    flight.minute += 1
    context.processPendingChanges()
  }

  @Test func closuresOfDeadOwnersAreReleased() throws {
    let observer = try ObjectObserver(flight)
    let counter = try CountObserver(From<Departure>().where { $0.minute < 0 }, in: context)
    let other = Departure(1, "x")
    context.insert(other)
    try context.save()
    let observerOfOther = try ObjectObserver(other)
    weak var living: Sentinel?
    func observe() -> Sentinel {
      let (owner, sentinel) = (Sentinel(), Sentinel())
      observer.addObserver(owner) { _, _ in _ = sentinel }
      observerOfOther.addObserver(owner) { _, _ in _ = sentinel }
      counter.addObserver(owner) { _, _ in _ = sentinel }
      living = sentinel
      return owner
    }
    var owner: Sentinel? = observe()
    turn()
    #expect(living != nil)
    withExtendedLifetime(owner) {}
    owner = nil
    turn()
    #expect(living == nil, "also by observers that have nothing to tell")
  }

  @Test func aClosureMayUseItsContextAtItsEnd() throws {
    var ended = 0
    func sentinel() -> Sentinel {
      Sentinel { [unowned context] _ in
        ended += 1
        _ = context.onObjectsDidChange { _ in }
        _ = context.onWillSave {}
        _ = context.onDidSave { _ in }
      }
    }
    var subscriptions: [ContextSubscription] = []
    subscriptions.append(context.onObjectsDidChange { [last = sentinel()] _ in _ = last })
    subscriptions.append(context.onWillSave { [last = sentinel()] in _ = last })
    subscriptions.append(context.onDidSave { [last = sentinel()] _ in _ = last })
    let listening = [context.onObjectsDidChange { _ in }, context.onDidSave { _ in }]
    subscriptions = []
    turn()
    try context.save()
    #expect(ended == 3)
    withExtendedLifetime(listening) {}
  }

  @Test func aClosureMayUseItsObserverAtItsEnd() throws {
    let observer = try ObjectObserver(flight)
    let counter = try CountObserver(From<Departure>(), in: context)
    let list = try FetchedResults(From<Departure>().orderBy(\.minute), in: context)
    var ended = 0
    func sentinel() -> Sentinel {
      Sentinel { last in
        ended += 1
        observer.removeObserver(last)
        counter.removeObserver(last)
        _ = list.onChange { _ in }
      }
    }
    var subscriptions: [ContextSubscription] = []
    subscriptions.append(observer.onChange { [last = sentinel()] _ in _ = last })
    subscriptions.append(counter.onChange { [last = sentinel()] _ in _ = last })
    subscriptions.append(list.onChange { [last = sentinel()] _ in _ = last })
    let owner = Sentinel()
    observer.addObserver(owner) { [last = sentinel()] _, _ in _ = last }
    subscriptions = []
    observer.removeObserver(owner)
    context.insert(Departure(1, "x"))
    turn()
    #expect(ended == 4)
  }

  @Test func aClosureMayUseItsContextWhenThatEnds() throws {
    let other = try container.context()
    var ended = 0
    func subscribe() -> ContextSubscription {
      let last = Sentinel { [unowned other] _ in
        ended += 1
        _ = other.onObjectsDidChange { _ in }
      }
      return other.onObjectsDidChange { _ in _ = last }
    }
    withExtendedLifetime(subscribe()) {}
    other.end()
    #expect(ended == 1)
  }

  /// Many new subscriptions also release ended closures without an event: each subscription checks a few of the others.
  @Test func closuresDoNotPileUp() throws {
    var (living, most) = (0, 0)
    let observer = try ObjectObserver(flight)
    for _ in 0..<1_000 {
      living += 1
      let last = Sentinel { _ in living -= 1 }
      _ = observer.onChange { _ in _ = last }
      _ = context.onDidSave { _ in _ = last }
      most = max(most, living)
    }
    #expect(most < 100)
  }
}
