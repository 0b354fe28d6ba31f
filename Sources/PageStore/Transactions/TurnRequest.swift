/// How a write transaction gets the writer lock for a turn.
package enum TurnRequest {
  /// Waits for the lock on this thread, for `timeout` at most; nil for as long as it takes.
  case waiting(timeout: Duration?)
  /// Never waits: if another thread holds the lock, nothing happens.
  case ifFree
  /// Takes the turn that ``Store/reserveTurn(timeout:patience:)`` has reserved. Never waits. If the
  /// reservation has ended, nothing happens.
  case reserved(TurnReservation)
}

/// The writer lock, waited for on one thread and held for another that claims it.
package struct TurnReservation: Equatable, Sendable {
  let number: UInt64
}

extension Store {
  /// Waits for the writer lock on this thread, in the queue of all writers, and reserves it for a thread that
  /// claims it with ``TurnRequest/reserved(_:)``.
  ///
  /// - Parameters:
  ///   - timeout: the longest wait; then this throws `timedOut`. Nil for as long as it takes.
  ///   - patience: how long the lock stays reserved while other writers wait for it. Then one of them takes
  ///     it, and the reservation has ended.
  package func reserveTurn(
    timeout: Duration?,
    patience: Duration
  ) throws(StoreError) -> TurnReservation {
    try checkWritable()
    try writerLock.acquire(timeout: timeout)
    return writerLock.reserve(patience: patience)
  }

  /// Gives a reserved turn back. Does nothing if it was claimed, or if the reservation has ended.
  package func cancel(_ reservation: TurnReservation) { writerLock.cancel(reservation) }
}
