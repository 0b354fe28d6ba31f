/// How a write transaction comes by the writer's turn.
package enum TurnRequest {
  /// Waits for the turn on this thread, at most as long as `timeout` says; nil for as long as it takes.
  case waiting(timeout: Duration?)
  /// Never waits: without the turn, nothing happens.
  case ifFree
  /// Takes the turn that ``Store/reserveTurn(timeout:patience:)`` waited for; never waits. If the reservation has ended,
  /// nothing happens.
  case reserved(TurnReservation)
}

/// A turn to write that was waited for on one thread and is used on another.
package struct TurnReservation: Equatable, Sendable {
  let number: UInt64
}

extension Store {
  /// Waits for the writer's turn on this thread, in the queue of all writers, and keeps it for a thread that claims it
  /// with ``TurnRequest/reserved(_:)``.
  ///
  /// - Parameters:
  ///   - timeout: the longest wait; then this throws `timedOut`. Nil for as long as it takes.
  ///   - patience: how long the turn is kept unused while others want it. Then one of them takes it, and the reservation
  ///     has ended.
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
