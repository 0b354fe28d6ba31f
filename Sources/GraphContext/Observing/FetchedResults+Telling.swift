// Telling observers and listeners of a list's differences and failures.

extension FetchedResults {
  /// Returns a sequence of the values that ``ContextObserver/onChange(notifyInitial:_:)`` delivers, for a task on any
  /// executor. It ends when the list or its context is released.
  ///
  /// Each call makes a sequence of its own. Differences that the consumer has not read yet stay in memory.
  public func changes() -> AsyncStream<ListChanges> { audience.stream(from: nil) { $0 } }

  /// Tells an observer of every difference until it is released or removed. Several observers are told in the order in
  /// which they were added. An observer that is added again is told once.
  ///
  /// The list doesn't keep the observer.
  public func addObserver(_ observer: some ListObserver<Object>) {
    // An observer that was added before may be receiving a difference at this moment.
    let box = observers.first { $0.isOf(observer) } ?? ObserverBox(observer)
    observers.removeAll { $0.isGone || $0 === box }
    observers.append(box)
  }

  /// Calls `body` with the error when the list can't be read any more, on the context's executor. An error from before
  /// this call is in ``failure``. Once the list can be read again, it reports a reload to listeners.
  ///
  /// - Returns: the subscription. It ends when the program releases it, and keeps the list until then.
  public func onFailure(_ body: @escaping (ContextError) -> Void) -> ContextSubscription {
    failureAudience.add(body, keeping: self, in: context)
  }

  /// Returns a sequence of the errors that ``onFailure(_:)`` delivers, for a task on any executor. It ends when the
  /// list or its context is released.
  public func failures() -> AsyncStream<ContextError> { failureAudience.stream(from: nil) { $0 } }

  /// Runs `change`, which shows another state and returns the difference, and reports the difference to the observers
  /// and listeners that were added before.
  func telling(_ change: () -> ListChanges) {
    isTelling = true
    defer { isTelling = false }
    observers.removeAll(where: \.isGone)
    var told: [ObserverBox<Object>] = []
    var known: Set<ObjectIdentifier> = []
    // An observer that was added meanwhile has seen the old state, so it receives the difference. The number of rounds
    // is limited: an observer that removes and adds itself in each round would count as new every time.
    for _ in 0..<SaveHooks.roundLimit {
      let new = observers.filter { known.insert(ObjectIdentifier($0)).inserted }
      if new.isEmpty { break }
      told += new
      for observer in new { observer.willChange(self) }
    }
    let tellListeners = audience.telling()
    let changes = change()
    for observer in told { observer.didChange(self, changes) }
    tellListeners(changes)
  }

  /// Tells observers and listeners why the list can't be read. If one of them fetches the list again, they receive that
  /// reload afterwards.
  func tellFailure(_ error: ContextError, in context: ManagedObjectContext) {
    context.eventQueue.holding {
      isTelling = true
      defer { isTelling = false }
      let told = observers
      failureAudience.tell(error)
      for observer in told { observer.didFail(self, error) }
    }
  }
}
