import Cambium
import Dispatch
import Foundation
import GraphTestSupport
import Synchronization
import Testing

@testable import GraphContext
@testable import PageStore

/// Saves that wait for their turn without holding a thread.
@MainActor struct SaveQueueTests {
  /// Eight writers take the turn from one another without a pause. The save waits among them, and no other writer
  /// comes first once the turn is reserved for the save.
  @Test func aSaveThatDoesNotBlockWaitsInTheQueueOfAllWriters() async throws {
    let library = try await PersistentContainer("Library", models: Library.models, at: .inMemory)
    let store = library.store
    let turn = try await reservedTurn(of: store)
    let turns = Turns()
    for _ in 0..<8 {
      Thread.detachNewThread {
        while !turns.isOver {
          try? store.write { _ in
            turns.count.add(1, ordering: .relaxed)
            usleep(1_000)
          }
        }
      }
    }
    try await sleepers(8, in: store)
    let save = Task {
      var queue = SaveQueue(store, timeout: nil, patience: .seconds(86_400))
      return try await queue.reserveTurn()
    }
    try await sleepers(9, in: store)
    store.cancel(turn)
    let reservation = try await save.value
    let count = turns.count.load(ordering: .relaxed)
    // Each sleeping thread may be passed over sixteen times.
    #expect(count <= 17 * 9)
    try await Task.sleep(for: .milliseconds(20))
    #expect(turns.count.load(ordering: .relaxed) == count)
    turns.end.store(true, ordering: .relaxed)
    store.cancel(reservation)
  }

  /// Returns when `count` threads wait for the turn.
  private func sleepers(_ count: Int, in store: Store) async throws {
    while store.writerLock.sleeperCount < count { try await Task.sleep(for: .milliseconds(1)) }
  }

  @Test func aSaveThatDoesNotBlockHasATimeoutToo() async throws {
    let library = try await PersistentContainer("Library", models: Library.models, at: .inMemory)
    let context = library.viewContext
    context.saveTimeout = .milliseconds(20)
    let store = library.store
    try library.leaseNumbers()
    let turn = try await reservedTurn(of: store)
    context.insert(Writer("A", rank: 1))
    let refusal = await #expect(throws: ContextError.self) { try await context.saveWithoutBlocking() }
    #expect(refusal?.storeError?.code == .timedOut)
    #expect(context.hasChanges)
    store.cancel(turn)
    try await context.saveWithoutBlocking()
    #expect(!context.hasChanges)
  }

  /// Two contexts on one actor. The save that blocks the actor can't wait for the save that has the turn.
  @Test func aSaveThatBlocksTheActorTakesTheTurnOfOneThatDoesNot() async throws {
    let library = try await PersistentContainer("Library", models: Library.models, at: .inMemory)
    let store = library.store
    try library.leaseNumbers()
    let turn = try await reservedTurn(of: store)
    let other = try ManagedObjectContext(coordinator: library.coordinator)
    let first = Task { @MainActor in
      library.viewContext.insert(Writer("A", rank: 1))
      try await library.viewContext.saveWithoutBlocking()
    }
    let second = Task { @MainActor in
      // The first save's turn may be reserved by now or not. The second save has to work in both cases.
      store.cancel(turn)
      other.insert(Writer("B", rank: 2))
      try other.save()
    }
    try await second.value
    try await first.value
    #expect(try library.viewContext.fetch(From<Writer>()).count == 2)
    other.end()
  }

  /// Hooks run once for a save, however often it asks for its turn, unless the context changes while it waits.
  @Test(arguments: [false, true]) func hooksRunAgainOnlyAfterAChange(changes: Bool) async throws {
    let trips = try await PersistentContainer("Trips", models: [Trip.self, TripStop.self], at: .inMemory)
    let (context, store, calls) = (trips.viewContext, trips.store, HookCalls())
    // The other tests may hold the main actor for longer.
    context.saveTimeout = nil
    let trip = Trip("A")
    context.insert(trip)
    try context.save()
    trip.stars = 1
    var count = 0
    let subscription = context.onWillSave { count += 1 }
    defer { withExtendedLifetime(subscription) {} }
    let turn = try await reservedTurn(of: store)
    let save = HookCalls.$current.withValue(calls) {
      Task { @MainActor in try await context.saveWithoutBlocking() }
    }
    try await sleepers(1, in: store)
    if changes { trip.stars = 2 }
    store.cancel(turn)
    try await save.value
    #expect(count == (changes ? 2 : 1))
    let hooks = ["willSave A", "validateForUpdate A"]
    #expect(calls.take() == hooks + (changes ? hooks : []) + ["didSave A"])
    #expect(!context.hasChanges && trip.committedValues["stars"] == .double(changes ? 2 : 1))
  }

  /// A turn that lasts until it is cancelled.
  private func reservedTurn(of store: Store) async throws -> TurnReservation {
    try await Task.detached { try store.reserveTurn(timeout: nil, patience: .seconds(86_400)) }.value
  }

  private final class Turns: Sendable {
    let count = Atomic(0)
    let end = Atomic(false)
    var isOver: Bool { end.load(ordering: .relaxed) }
  }
}
