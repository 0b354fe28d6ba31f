/// The listeners of an observer: closures that are kept for as long as their subscription, and owners that are held
/// weakly.
final class Audience<Event> {
  private var listeners = EventListeners<Event>()
  private var hasEnded = false
  private var owners: [ObjectIdentifier: WeakOwner] = [:]

  private struct WeakOwner {
    private(set) weak var object: AnyObject?
    let flag: SubscriptionFlag

    var isGone: Bool { object == nil }
  }

  /// Tells a closure, and keeps an observer for as long as the subscription.
  ///
  /// - Parameter first: an event that the closure is told before this method returns.
  func add(
    _ body: @escaping (Event) -> Void,
    keeping observer: AnyObject,
    in context: ManagedObjectContext?,
    first: Event? = nil
  ) -> ContextSubscription {
    let subscription = ContextSubscription(add(body))
    context?.keep(observer, for: subscription)
    if let first { ManagedObjectContext.holdingEvents(of: context) { body(first) } }
    return subscription
  }

  private func add(_ body: @escaping (Event) -> Void) -> SubscriptionFlag {
    // Listeners that the program doesn't keep are told nothing.
    (hasEnded ? EventListeners() : listeners).add(body)
  }

  /// Tells an owner until it is released. An owner that is added again is told each event once.
  ///
  /// - Parameter first: an event that the owner is told before this method returns.
  /// - Returns: the flag of the owner's subscription. The end of the audience doesn't cancel events that were told
  ///   before.
  @discardableResult
  func add<Owner: AnyObject>(
    _ owner: Owner,
    in context: ManagedObjectContext?,
    first: Event?,
    _ body: @escaping (Owner, Event) -> Void
  ) -> SubscriptionFlag {
    let flag = add { [weak owner] event in if let owner { body(owner, event) } }
    remove(owner)
    owners[ObjectIdentifier(owner)] = WeakOwner(object: owner, flag: flag)
    if let first { ManagedObjectContext.holdingEvents(of: context) { body(owner, first) } }
    return flag
  }

  func remove(_ owner: AnyObject) { owners.removeValue(forKey: ObjectIdentifier(owner))?.flag.cancel() }

  /// True if every subscription has ended.
  var isEmpty: Bool { listeners.isEmpty }

  /// Delivers an event to every listener that is in the audience when the call begins.
  func tell(_ event: Event) { listeners.tell(event) }

  /// Returns a closure that delivers an event to the listeners that are in the audience at this moment.
  func telling() -> (Event) -> Void { listeners.telling() }

  /// Releases the closures of subscriptions that have ended, and of owners that have been released.
  func releaseEnded() {
    // Ending a subscription doesn't release its closure.
    for (id, owner) in owners where owner.isGone {
      owner.flag.cancel()
      owners[id] = nil
    }
    listeners.releaseEnded()
  }

  /// Tells listeners nothing from now on, and ends the sequences.
  func end() {
    hasEnded = true
    // A closure may have captured an object whose deinit uses this observer. So closures are released only after both
    // properties have been set.
    let ended = (owners, listeners)
    withExtendedLifetime(ended) { (owners, listeners) = ([:], EventListeners()) }
  }

  /// Returns a sequence of the values that `element` makes from the events from now on. If `first` is given, it comes
  /// first. The sequence ends when the audience ends or is released.
  func stream<Element: Sendable>(
    from first: Element?,
    _ policy: AsyncStream<Element>.Continuation.BufferingPolicy = .unbounded,
    _ element: @escaping (Event) -> Element?
  ) -> AsyncStream<Element> {
    // Listeners that the program doesn't keep end their sequences at once.
    (hasEnded ? EventListeners() : listeners).stream(from: first, policy, element)
  }
}
