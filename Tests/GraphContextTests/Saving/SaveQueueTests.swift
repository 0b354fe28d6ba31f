import Cambium
import Dispatch
import Foundation
import PageStore
import Synchronization
import Testing

@testable import GraphContext

/// Saves that wait for their turn without holding a thread.
@Suite @MainActor struct SaveQueueTests {
  /// Eight writers that take the turn from one another, until the saves are done or the turns are used up. A save that
  /// only tries now and then whether the turn is free never comes by it.
  @Test func aSaveThatDoesNotBlockGetsItsTurnAmongManyWriters() async throws {
    let library = try await PersistentContainer("Library", models: Library.models, at: .inMemory)
    let store = library.coordinator.store
    let turnLimit = 4_000
    let turns = Turns()
    let writers = (0..<8).map { _ in
      Thread {
        while !turns.isOver, turns.count.load(ordering: .relaxed) < turnLimit {
          try? store.write { _ in
            turns.count.add(1, ordering: .relaxed)
            usleep(3_000)
          }
        }
      }
    }
    for writer in writers { writer.start() }
    try await Saver(library.coordinator).save(times: 10)
    turns.end.store(true, ordering: .relaxed)
    #expect(turns.count.load(ordering: .relaxed) < turnLimit)
  }

  @Test func aSaveThatDoesNotBlockHasATimeoutToo() async throws {
    let library = try await PersistentContainer("Library", models: Library.models, at: .inMemory)
    let context = library.viewContext
    context.saveTimeout = .milliseconds(20)
    let store = library.coordinator.store
    let turn = try await reservedTurn(of: store)
    context.insert(Writer("A", rank: 1))
    let refusal = await #expect(throws: ContextError.self) { try await context.saveWithoutBlocking() }
    #expect(refusal?.storeError?.code == .timedOut)
    #expect(context.hasChanges)
    store.cancel(turn)
    try await context.saveWithoutBlocking()
    #expect(!context.hasChanges)
  }

  /// Two contexts on one actor: the one that blocks the actor can't wait for the one whose turn it is.
  @Test func aSaveThatBlocksTheActorTakesTheTurnOfOneThatDoesNot() async throws {
    let library = try await PersistentContainer("Library", models: Library.models, at: .inMemory)
    let store = library.coordinator.store
    let turn = try await reservedTurn(of: store)
    let other = try ManagedObjectContext(coordinator: library.coordinator)
    let first = Task { @MainActor in
      library.viewContext.insert(Writer("A", rank: 1))
      try await library.viewContext.saveWithoutBlocking()
    }
    let second = Task { @MainActor in
      // The first save's turn may be reserved by now, or not: this one needs no luck.
      store.cancel(turn)
      other.insert(Writer("B", rank: 2))
      try other.save()
    }
    try await second.value
    try await first.value
    #expect(try library.viewContext.fetch(From<Writer>()).count == 2)
    other.end()
  }

  /// A turn that lasts until it is cancelled.
  private func reservedTurn(of store: Store) async throws -> TurnReservation {
    try await Task.detached { try store.reserveTurn(timeout: nil, patience: .seconds(600)) }.value
  }

  /// An actor with a queue of its own: the main actor has other tests to run.
  private actor Saver {
    private let executor = QueueExecutor(label: "saver")
    private let context: ManagedObjectContext

    init(_ coordinator: StoreCoordinator) throws {
      context = try ManagedObjectContext(coordinator: coordinator)
    }

    isolated deinit { context.end() }

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    func save(times: Int) async throws {
      for rank in 0..<times {
        context.insert(Writer("A", rank: rank))
        try await context.saveWithoutBlocking()
      }
    }
  }

  private final class Turns: Sendable {
    let count = Atomic(0)
    let end = Atomic(false)
    var isOver: Bool { end.load(ordering: .relaxed) }
  }
}
