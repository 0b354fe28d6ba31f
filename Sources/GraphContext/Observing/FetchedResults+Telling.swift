// Telling observers and listeners of a list's differences and failures.

extension FetchedResults {
  /// A sequence of the values that ``ContextObserver/onChange(notifyInitial:_:)`` delivers, for a task on any executor. It ends when the list or its context is released.
  ///
  /// Each call makes a sequence of its own. Differences that the consumer has not read yet stay in memory.
  public func changes() -> AsyncStream<ListChanges> { audience.stream(from: nil) { $0 } }

  /// Tells an observer of every difference until it is released or removed. Many observers are told in the order in which they were added. One that is added
  /// again is told once.
  ///
  /// The list doesn't keep the observer.
  public func addObserver(_ observer: some ListObserver<Object>) {
    // One that is there already may be in the middle of a difference.
    let box = observers.first { $0.isOf(observer) } ?? ObserverBox(observer)
    observers.removeAll { $0.isGone || $0 === box }
    observers.append(box)
  }

  /// Calls `body` with the error when the list can't be read any more, on the context's executor. ``failure`` has one of before. Once the list can be read again, listeners are told of a
  /// reload.
  ///
  /// - Returns: the subscription. It ends when the program releases it, and keeps the list until then.
  public func onFailure(_ body: @escaping (ContextError) -> Void) -> ContextSubscription {
    failureAudience.add(body, keeping: self, in: context)
  }

  /// A sequence of the errors that ``onFailure(_:)`` delivers, for a task on any executor. It ends when the list or its context is released.
  public func failures() -> AsyncStream<ContextError> { failureAudience.stream(from: nil) { $0 } }

  /// Runs `change`, which shows another state and returns the difference, and tells of it those who have been there before.
  func telling(_ change: () -> ListChanges) {
    isTelling = true
    defer { isTelling = false }
    observers.removeAll(where: \.isGone)
    var told: [ObserverBox<Object>] = []
    var known: Set<ObjectIdentifier> = []
    // One that has come meanwhile has seen the old state, so it hears of the difference. One that removes and adds itself each time would count as new every time.
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

  /// Tells observers and listeners why the list can't be read. If one of them fetches it again, they hear of that afterwards.
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
