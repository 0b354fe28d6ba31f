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
    let (stream, continuation) = AsyncThrowingStream<ListUpdate<Value>, any Error>.makeStream()
    let feed = try ViewFeed<Value>(request, of: self, continuation)
    // The sequence keeps the feed.
    continuation.onTermination = { _ in withExtendedLifetime(feed) {} }
    return stream
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
  typealias Continuation = AsyncThrowingStream<ListUpdate<Value>, any Error>.Continuation

  private let list: FetchedResults<Value.Object>
  private let continuation: Continuation
  private var subscriptions: [ContextSubscription] = []
  private var listening: CommitListening?

  init(_ request: Value.Request, of container: PersistentContainer, _ continuation: Continuation) throws {
    self.continuation = continuation
    let context = container.viewContext
    list = try FetchedResults(request.orderedQuery, sectionedBy: request.sections, in: context)
    try tellAll()
    subscriptions = [
      list.onChange { [weak self] changes in
        MainActor.assumeIsolated { self?.finishingOnFailure { try $0.tell(changes) } }
      },
      // The list has processed the event by then.
      context.onObjectsDidChange { [weak self] _ in
        MainActor.assumeIsolated {
          self?.finishingOnFailure { if let failure = $0.list.failure { throw failure } }
        }
      },
    ]
    // A context doesn't report that its store was closed.
    let news = PendingTurn()
    listening = container.onCommit { [weak self] in
      guard news.begin() else { return }
      Task { @MainActor in
        news.end()
        self?.finishingOnFailure { try $0.list.context?.checkCanMove() }
      }
    }
  }

  isolated deinit {}

  private func tell(_ changes: ListChanges) throws {
    if changes.isReload { return try tellAll() }
    let values = try reading {
      var values: [ManagedObjectID: Value] = [:]
      for (position, id) in changes.newPositions { values[id] = try value(list[position]) }
      return values
    }
    continuation.yield(.changes(changes, values: values))
  }

  private func tellAll() throws { continuation.yield(.all(try reading { try list.map(value) })) }

  /// Makes values of objects. A getter that can't read returns a placeholder, which must not be emitted: in this
  /// case the method throws the cause. It doesn't throw an error that the context had before.
  private func reading<Values>(_ body: () throws -> Values) throws -> Values {
    let wasUsable = (try? list.context?.checkUsable()) != nil
    let values = try body()
    if wasUsable { try list.context?.checkUsable() }
    return values
  }

  private func value(_ object: Value.Object) throws(FlowError) -> Value { try ofValue { try Value(object) } }

  private func finishingOnFailure(_ body: (ViewFeed) throws -> Void) {
    do { try body(self) } catch { continuation.finish(throwing: error) }
  }
}
