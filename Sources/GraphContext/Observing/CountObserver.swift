import Predicates

/// An observer that reports the number of objects that a query describes, whenever the number changes.
///
/// ```swift
/// let late = try CountObserver(From<Flight>().where { $0.delay > 15 }, in: context)
/// let subscription = late.onChange(notifyInitial: true) { count in print(count) }
/// ```
///
/// A change that can't concern the query costs a look at its entities. Any other change costs a count, O(log n) where
/// ranges of indexes are the answer. Changes of one turn are reported as one count. If the store can't be read, the
/// count stays as it is until the next event. The context throws the error at its fetches and saves until it is rolled
/// back. The observer belongs to the task of its context. It lives as long as the program holds it or a subscription of
/// ``ContextObserver/onChange(notifyInitial:_:)``, and reports nothing once its context is released.
public final class CountObserver<Object: ManagedObject>: ContextObserver<Int> {
  /// The query.
  public let request: From<Object>
  /// The number of objects at the last event of the context.
  public var count: Int { initialEvent }
  private let query: ResolvedQuery
  private let dependencies: ListDependencies
  private var subscription: ContextSubscription?
  private var isStale = false

  /// Counts the objects.
  ///
  /// - Throws: what a count of the query by the context throws; `invalidQuery` also for a request without unsaved
  ///   changes.
  public init(_ request: From<Object>, in context: ManagedObjectContext) throws(ContextError) {
    self.request = request
    context.tellBeforeObserving()
    query = try context.observedQuery(request)
    dependencies = ListDependencies(query, section: nil)
    super.init(try context.count(query), of: context)
    let end = ContextEnd { [weak self] in self?.end() }
    subscription = context.onObjectsDidChange { [weak self] changes in
      withExtendedLifetime(end) { self?.follow(changes) }
    }
  }

  /// Returns a sequence of the count as it is and each new one, for a task on any executor. A slow consumer gets only
  /// the newest. The sequence ends when the observer or its context is released.
  public func counts() -> AsyncStream<Int> { audience.stream(from: count, .bufferingNewest(1)) { $0 } }

  /// Continues counting, and reports the count if it has changed meanwhile. If a listener calls this while it handles
  /// an event, the observer counts afterwards.
  public func resume() {
    isPaused = false
    context?.eventQueue.add { [self] in recount() }
  }

  /// Handles the release of the context: listeners receive nothing any more.
  private func end() { audience.end() }

  private func follow(_ changes: ObjectChanges) {
    audience.releaseEnded()
    guard let context else { return }
    isStale = isStale || changes.invalidatesAll || isConcerned(by: changes, context)
    // The number is that of the last event.
    if isStale { context.tellOfUntold() }
    if !context.hasWaitingEvents { recount() }
  }

  private func isConcerned(by changes: ObjectChanges, _ context: ManagedObjectContext) -> Bool {
    let schema = context.coordinator.schema
    let isOwn = [changes.inserted, changes.updated, changes.deleted, changes.refreshed].contains { ids in
      ids.contains { schema.entity($0.entity)?.id == query.entity.id }
    }
    return isOwn || dependencies.isVague(changes, schema) || !dependencies.conditions(changes, schema).isEmpty
  }

  private func recount() {
    guard isStale, !isPaused, let context else { return }
    let new = context.deferringError(Int?.none) { () throws(ContextError) in
      try Cancellation.ignored { () throws(ContextError) in try context.count(query) }
    }
    // If the count fails, the observer counts again after the next event.
    guard let new else { return }
    isStale = false
    if new == count { return }
    initialEvent = new
    audience.tell(new)
  }
}
