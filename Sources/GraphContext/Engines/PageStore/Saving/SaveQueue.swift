import Dispatch
import PageStore

/// The wait of a save on an actor, in the queue of all writers.
///
/// A thread waits for the turn and leaves it to the actor as a reservation. An actor that is busy then
/// would keep all writers waiting. So a reservation that others want ends after a while, and the next one lasts twice as
/// long; in between, the others have at least as much time as they have lost.
struct SaveQueue {
  private static let shortestPatience = Duration.milliseconds(2)
  private static let longestPatience = Duration.milliseconds(64)

  private let store: Store
  private let deadline: ContinuousClock.Instant?
  private var patience: Duration
  private var isFirst = true
  /// A serial queue has a thread whatever keeps those of the global queues busy.
  private let thread = DispatchQueue(label: "cambium.save")

  init(_ store: Store, timeout: Duration?, patience: Duration = Self.shortestPatience) {
    self.store = store
    self.patience = patience
    deadline = timeout.map { .now + $0 }
  }

  /// Returns when the turn is reserved. Throws `timedOut` when others write for too long.
  nonisolated(nonsending) mutating func reserveTurn() async throws(ContextError) -> TurnReservation {
    if !isFirst {
      // Cancelling the task doesn't cancel the save: then this doesn't sleep.
      try? await Task.sleep(for: patience)
      patience = min(patience * 2, Self.longestPatience)
    }
    isFirst = false
    return try await thread.run { [store, deadline, patience] () throws(ContextError) in
      do throws(StoreError) {
        let timeout = deadline.map { ContinuousClock.now.duration(to: $0) }
        return try store.reserveTurn(timeout: timeout, patience: patience)
      } catch {
        throw ContextError(error)
      }
    }
  }
}
