/// The events of a context and its children that have happened and that are yet to be told.
///
/// Each is told to all who listen to it before the next one is. What a listener changes is an event of its own, after the one that it is told of: everybody hears of events in the order
/// in which they happened.
final class EventQueue {
  private var waiting: [() -> Void] = []
  /// The number of calls of ``hold()`` that no ``release()`` has followed.
  private var holderCount = 0

  /// Has `tell` called once all that wait have been told: at once if there are none.
  func add(_ tell: @escaping () -> Void) {
    waiting.append(tell)
    tellWaiting()
  }

  /// Has events wait until ``release()``, which each call of this needs.
  func hold() { holderCount += 1 }

  /// Tells what has waited, unless it has to wait for others.
  func release() {
    holderCount -= 1
    tellWaiting()
  }

  /// Runs `body`; what it changes is told afterwards.
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
