import Dispatch
import PageStore

/// The wait of a save on an actor, in the queue of all writers.
///
/// A thread waits for the turn and passes it to the actor as a reservation. If the actor is busy then, all writers
/// have to wait. So a reservation ends after a while if other writers want the turn, and the next reservation lasts
/// twice as long. In between, the other writers have at least as much time as they have lost.
struct SaveQueue {
  private static let shortestPatience = Duration.milliseconds(2)
  private static let longestPatience = Duration.milliseconds(64)

  private let store: Store
  private let deadline: ContinuousClock.Instant?
  private var patience: Duration
  private var isFirst = true
  /// A serial queue gets a thread even if all threads of the global queues are busy.
  private let thread = DispatchQueue(label: "cambium.save")

  init(_ store: Store, timeout: Duration?, patience: Duration = Self.shortestPatience) {
    self.store = store
    self.patience = patience
    deadline = timeout.map { .now + $0 }
  }

  /// Returns when the turn is reserved. Throws `timedOut` when others write for too long.
  nonisolated(nonsending) mutating func reserveTurn() async throws(ContextError) -> TurnReservation {
    if !isFirst {
      // Cancelling the task doesn't cancel the save: in a cancelled task this call returns without sleeping.
      try? await Task.sleep(for: patience)
      patience = min(patience * 2, Self.longestPatience)
    }
    isFirst = false
    return try await thread.run { [store, deadline, patience] () throws(ContextError) in
      let timeout = deadline.map { ContinuousClock.now.duration(to: $0) }
      return try ContextError.mapping { () throws(StoreError) in
        try store.reserveTurn(timeout: timeout, patience: patience)
      }
    }
  }
}
