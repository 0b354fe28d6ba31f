/// The events of a context and its children that have happened and that are yet to be told.
///
/// All listeners of an event are called before the next event is delivered. Changes by a listener are an event of their
/// own, after the current one: so every listener hears of events in the order in which they happened.
final class EventQueue {
  private var waiting: [() -> Void] = []
  /// The number of calls of ``hold()`` that no ``release()`` has followed.
  private var holderCount = 0

  /// Adds an event: `tell` is called after all waiting events have been delivered, at once if there are none.
  func add(_ tell: @escaping () -> Void) {
    waiting.append(tell)
    tellWaiting()
  }

  /// Makes events wait until ``release()``. Each call needs one call of ``release()``.
  func hold() { holderCount += 1 }

  /// Delivers the waiting events, unless another ``hold()`` has not been released.
  func release() {
    holderCount -= 1
    tellWaiting()
  }

  /// Runs `body`; the events of its changes are delivered afterwards.
  func holding<Result, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    hold()
    defer { release() }
    return try body()
  }

  private func tellWaiting() {
    while holderCount == 0, !waiting.isEmpty {
      let events = waiting
      waiting = []
      hold()
      for tell in events { tell() }
      holderCount -= 1
    }
  }
}
