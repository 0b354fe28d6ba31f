import GraphContext

/// The context in which a live request follows its list.
public enum FollowingPlace: Sendable, Hashable {
  /// In a context of its own, on a queue of its own: it shows what is saved.
  case store
  /// In the view context, on the main actor: it shows unsaved changes of that context, too. The program has to
  /// leave the main actor free, as an asynchronous `main` does.
  case viewContext
}

extension PersistentContainer {
  /// Follows the list of a request, until the task is cancelled.
  func follow<Value: PersistableValue>(
    _ request: Value.Request,
    in place: FollowingPlace,
    receive: @Sendable (PersistenceFetchResult<Value>) -> Void
  ) async throws(FlowError) {
    var elements: [Value] = []
    do {
      let updates: AsyncThrowingStream<ListUpdate<Value>, any Error>
      switch place {
      case .store:
        updates = follow(request.orderedQuery, sectionedBy: request.sections) { object in
          try ofValue { try Value(object) }
        }
      case .viewContext: updates = try await viewUpdates(request)
      }
      for try await update in updates {
        switch update {
        case .all(let values):
          elements = values
          receive(.elements(values))
        case .changes(let changes, let values):
          let difference = changes.difference(from: elements, to: values)
          elements = difference.flatMap(elements.applying) ?? []
          receive(.difference(difference))
        }
      }
    } catch {
      if error is CancellationError { return }
      throw error as? FlowError ?? .request(error)
    }
  }

  /// The updates of a list in the view context.
  @MainActor private func viewUpdates<Value: PersistableValue>(
    _ request: Value.Request
  ) throws -> AsyncThrowingStream<ListUpdate<Value>, any Error> {
    // A signal says that the feed has an update.
    let (signals, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    let feed = try ViewFeed<Value>(request, of: self, continuation)
    // The sequence keeps the feed.
    return ListUpdate.sequence(after: signals) { try await feed.next() }
  }
}

extension ListChanges {
  /// The difference between lists of values.
  ///
  /// - Parameters:
  ///   - old: the old list.
  ///   - new: the new values of the objects that were added, moved or changed.
  func difference<Value>(
    from old: [Value],
    to new: [ManagedObjectID: Value]
  ) -> CollectionDifference<Value>? {
    guard let difference = collectionDifference else { return nil }
    var steps: [CollectionDifference<Value>.Change] = []
    for step in difference {
      switch step {
      case .remove(let offset, _, let place):
        guard old.indices.contains(offset) else { return nil }
        steps.append(.remove(offset: offset, element: old[offset], associatedWith: place))
      case .insert(let offset, let id, let place):
        guard let element = new[id] else { return nil }
        steps.append(.insert(offset: offset, element: element, associatedWith: place))
      }
    }
    return CollectionDifference(steps)
  }
}

/// A live list in the view context that feeds a sequence.
@MainActor private final class ViewFeed<Value: PersistableValue> {
  private let list: FetchedResults<Value.Object>
  private let signals: AsyncStream<Void>.Continuation
  private var subscriptions: [ContextSubscription] = []
  private var listening: CommitListening?
  /// The updates that the consumer has not fetched.
  private var waiting = WaitingUpdates<Value>()
  /// The error that ends the sequence, once the consumer has fetched the differences before it.
  private var failure: (any Error)?

  /// - Parameter signals: receives a signal whenever ``next()`` has something to return or to throw.
  init(
    _ request: Value.Request,
    of container: PersistentContainer,
    _ signals: AsyncStream<Void>.Continuation
  ) throws {
    self.signals = signals
    let context = container.viewContext
    list = try FetchedResults(request.orderedQuery, sectionedBy: request.sections, in: context)
    subscriptions = [
      list.onChange { [weak self] changes in
        MainActor.assumeIsolated { self?.keepingFailure { try $0.add(changes) } }
      },
      // The list has processed the event by then.
      context.onObjectsDidChange { [weak self] _ in
        MainActor.assumeIsolated {
          self?.keepingFailure { if let failure = $0.list.failure { throw failure } }
        }
      },
    ]
    // A context doesn't report that its store was closed.
    let news = PendingTurn()
    listening = container.onCommit { [weak self] in
      guard news.begin() else { return }
      Task { @MainActor in
        news.end()
        self?.keepingFailure { try $0.list.context?.checkCanMove() }
      }
    }
    signals.yield()
  }

  // The sequence may be released on any thread, and the list belongs to the main actor.
  isolated deinit {}

  /// The next update for the consumer; nil if there is none before the next signal.
  func next() throws -> ListUpdate<Value>? {
    let update = try nextWaiting()
    // One signal may stand for several differences.
    if update != nil { signals.yield() }
    return update
  }

  private func nextWaiting() throws -> ListUpdate<Value>? {
    if let difference = waiting.takeFirst() { return difference }
    // The list then shows what the context shows.
    if waiting.isBehind { list.context?.tellBeforeObserving() }
    if let failure { throw failure }
    guard waiting.isBehind else { return nil }
    let values = try reading { try list.map(value) }
    waiting.didCatchUp()
    return .all(values)
  }

  /// Keeps a difference for the consumer.
  private func add(_ changes: ListChanges) throws {
    guard failure == nil, !waiting.isBehind else { return }
    waiting.makeRoom(for: changes, inListOf: list.count)
    if !waiting.isBehind {
      let values = try reading {
        var values: [ManagedObjectID: Value] = [:]
        for (position, id) in changes.newPositions { values[id] = try value(list[position]) }
        return values
      }
      waiting.add(changes, values)
    }
    signals.yield()
  }

  /// Makes values of objects. A getter that can't read returns a placeholder, which must not be emitted: in this
  /// case the method throws the cause. It doesn't throw an error that the context had before.
  private func reading<Values>(_ body: () throws -> Values) throws -> Values {
    let wasUsable = (try? list.context?.checkUsable()) != nil
    let values = try body()
    if wasUsable { try list.context?.checkUsable() }
    return values
  }

  private func value(_ object: Value.Object) throws(FlowError) -> Value { try ofValue { try Value(object) } }

  private func keepingFailure(_ body: (ViewFeed) throws -> Void) {
    do { try body(self) } catch {
      failure = failure ?? error
      signals.yield()
    }
  }
}
