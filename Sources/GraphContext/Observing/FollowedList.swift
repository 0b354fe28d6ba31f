/// A live list whose updates wait for a consumer on another executor: first all its values, then differences, and all
/// values again if the consumer is far behind. It belongs to the task of the list's context.
final class FollowedList<Object: ManagedObject, Value: Sendable> {
  private let signals: AsyncStream<Void>.Continuation
  private let value: @Sendable (Object) throws -> Value
  private let ownsContext: Bool
  private var listening: CommitListening?
  private var list: FetchedResults<Object>?
  private var subscriptions: [ContextSubscription] = []
  /// The updates that the consumer has not fetched.
  private var waiting = WaitingUpdates<Value>()
  /// The error that ends the sequence, once the consumer has fetched the differences before it.
  private var failure: (any Error)?
  /// True once the consumer has received the failure.
  private var hasThrown = false

  /// - Parameters:
  ///   - signals: receives a signal whenever ``next(_:)`` has something to return or to throw.
  ///   - value: makes the value of an object.
  ///   - ownsContext: true if no other code uses the list's context. In another context, an error that was there before
  ///     the list reads values doesn't concern the list.
  init(
    _ signals: AsyncStream<Void>.Continuation,
    _ value: @escaping @Sendable (Object) throws -> Value,
    ownsContext: Bool
  ) {
    (self.signals, self.value, self.ownsContext) = (signals, value, ownsContext)
  }

  /// Fetches the list and follows it.
  ///
  /// - Parameter listening: calls ``moveOn(_:)`` after commits. It has begun before the fetch, so that no commit is
  ///   missed. The fetch may already include a commit that has a turn afterwards.
  func begin(_ listening: CommitListening, _ fetch: () throws -> FetchedResults<Object>) {
    self.listening = listening
    keepingFailure {
      let list = try fetch()
      subscriptions = [
        list.onChange { [weak self] changes in
          guard let self else { return }
          keepingFailure { try add(changes) }
        },
        list.onFailure { [weak self] error in self?.endWith(error) },
      ]
      self.list = list
    }
    signals.yield()
  }

  /// Begins the turn after commits.
  ///
  /// - Parameter move: moves the list's context on, or throws the reason why it can't move.
  func moveOn(_ move: () throws -> Void) {
    guard let listening else { return }
    listening.beginTurn()
    keepingFailure(move)
  }

  /// Returns the next update for the consumer; nil if there is none before the next signal.
  ///
  /// - Parameter perform: calls its argument once the list shows what its context shows.
  /// - Throws: the error that ends the sequence, once. No signal comes after that.
  func next(_ perform: (() throws -> [Value]) throws -> [Value]) throws -> ListUpdate<Value>? {
    do {
      let update = try nextWaiting(perform)
      // One signal may stand for several differences.
      if update != nil { signals.yield() }
      return update
    } catch {
      fail(error)
      if hasThrown { return nil }
      hasThrown = true
      signals.finish()
      throw error
    }
  }

  /// Ends the sequence.
  func end() {
    stopFollowing()
    signals.finish()
  }

  private func nextWaiting(_ perform: (() throws -> [Value]) throws -> [Value]) throws -> ListUpdate<Value>? {
    if let difference = waiting.takeFirst() { return difference }
    if let failure { throw failure }
    guard waiting.isBehind else { return nil }
    // The context reports what it has to report first. While the consumer is behind, that difference is dropped.
    let values = try perform {
      if let failure { throw failure }
      return try reading { list in try list.map(value) }
    }
    waiting.didCatchUp()
    return .all(values)
  }

  /// Keeps a difference for the consumer.
  private func add(_ changes: ListChanges) throws {
    guard let list, !waiting.isBehind else { return }
    waiting.makeRoom(for: changes, inListOf: list.count)
    if !waiting.isBehind {
      let values: [ManagedObjectID: Value] = try reading { list in
        var values: [ManagedObjectID: Value] = [:]
        for (position, id) in changes.newPositions { values[id] = try value(list[position]) }
        return values
      }
      waiting.add(changes, values)
    }
    signals.yield()
  }

  /// Makes values of objects. A getter that can't read gives a placeholder, which the consumer must not receive: in
  /// this case the method throws the cause.
  private func reading<Values>(_ body: (FetchedResults<Object>) throws -> Values) throws -> Values {
    guard let list, let context = list.context else { throw ContextError.contextGone() }
    let isChecked = ownsContext || context.deferred.error == nil
    let values = try body(list)
    if isChecked { try context.checkUsable() }
    return values
  }

  private func keepingFailure(_ body: () throws -> Void) {
    do { try body() } catch { endWith(error) }
  }

  private func endWith(_ error: any Error) {
    fail(error)
    signals.yield()
  }

  /// Ends the sequence here: later differences belong to a state that the consumer doesn't know.
  private func fail(_ error: any Error) {
    failure = failure ?? error
    stopFollowing()
  }

  private func stopFollowing() { (listening, subscriptions, list) = (nil, [], nil) }
}
