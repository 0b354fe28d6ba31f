/// Those whom an observer tells: closures that are kept for as long as their subscription, and owners that are held weakly.
struct Audience<Event> {
  private var listeners = EventListeners<Event>()
  private var owners: [ObjectIdentifier: ContextSubscription] = [:]

  mutating func add(_ body: @escaping (Event) -> Void) -> ContextSubscription {
    ContextSubscription(listeners.add(body))
  }

  /// Tells an owner until it is released. One that is added again is told once.
  mutating func add<Owner: AnyObject>(_ owner: Owner, _ body: @escaping (Owner, Event) -> Void) {
    owners[ObjectIdentifier(owner)] = add { [weak owner] event in if let owner { body(owner, event) } }
  }

  mutating func remove(_ owner: AnyObject) { owners[ObjectIdentifier(owner)] = nil }

  /// Tells everybody who is in the audience at the beginning. A listener may change the audience: the copy stays as it is.
  static func tell(_ audience: Audience, _ event: Event) { audience.listeners.tell(event) }

  mutating func removeCancelled() { listeners.removeCancelled() }

  /// A sequence of what `element` makes of the events from now on, after a first one if it is given. It ends when the audience is released.
  mutating func stream<Element: Sendable>(
    from first: Element?,
    _ policy: AsyncStream<Element>.Continuation.BufferingPolicy = .unbounded,
    _ element: @escaping (Event) -> Element?
  ) -> AsyncStream<Element> { listeners.stream(from: first, policy, element) }
}
