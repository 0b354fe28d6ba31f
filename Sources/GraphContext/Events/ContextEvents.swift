import Synchronization

/// A listener of a context's events, or of a list's, a count's or an object's. It is called for as long as the program holds this object.
///
/// The subscription keeps the list, the count or the observer of the object, but not the context. It may be released on any thread: what it has kept
/// goes with the next event of the context, on the context's executor.
public final class ContextSubscription: Sendable {
  let flag: SubscriptionFlag

  init(_ flag: SubscriptionFlag) { self.flag = flag }

  deinit { flag.cancel() }

  /// Ends the subscription. An event that is being delivered still arrives.
  public func cancel() { flag.cancel() }
}

/// Tells the context that a subscription has been cancelled, perhaps on another thread.
final class SubscriptionFlag: Sendable {
  private let isCancelledFlag = Atomic(false)

  var isCancelled: Bool { isCancelledFlag.load(ordering: .relaxed) }

  func cancel() { isCancelledFlag.store(true, ordering: .relaxed) }
}

/// The listeners of one kind of event of a context, in the order of their subscriptions.
struct EventListeners<Event> {
  private var listeners: [(flag: SubscriptionFlag, body: (Event) -> Void)] = []

  mutating func add(_ body: @escaping (Event) -> Void) -> SubscriptionFlag {
    let flag = SubscriptionFlag()
    removeCancelled()
    listeners.append((flag, body))
    return flag
  }

  /// True if every subscription has ended.
  var isEmpty: Bool { listeners.allSatisfy(\.flag.isCancelled) }

  /// Releases the closures of cancelled subscriptions.
  mutating func removeCancelled() { listeners.removeAll(where: \.flag.isCancelled) }

  /// Calls every listener. One that is added meanwhile is called from the next event on.
  func tell(_ event: Event) {
    for listener in listeners where !listener.flag.isCancelled { listener.body(event) }
  }
}

extension EventListeners {
  /// A sequence of what `element` makes of the events from now on, after a first one if it is given. Events that it makes nil of are left out. It ends when the listeners are
  /// released.
  mutating func stream<Element: Sendable>(
    from first: Element? = nil,
    _ policy: AsyncStream<Element>.Continuation.BufferingPolicy = .unbounded,
    _ element: @escaping (Event) -> Element?
  ) -> AsyncStream<Element> {
    let (stream, continuation) = AsyncStream<Element>.makeStream(bufferingPolicy: policy)
    if let first { continuation.yield(first) }
    let flag = add { [end = StreamEnd(continuation)] event in
      if let element = element(event) { end.continuation.yield(element) }
    }
    continuation.onTermination = { _ in flag.cancel() }
    return stream
  }
}

/// Finishes a stream when what feeds it lets go.
private final class StreamEnd<Event: Sendable>: Sendable {
  let continuation: AsyncStream<Event>.Continuation

  init(_ continuation: AsyncStream<Event>.Continuation) { self.continuation = continuation }

  deinit { continuation.finish() }
}

/// The listeners of a context, and the changes for the next event.
struct ContextEvents {
  var willSave = EventListeners<Void>()
  var didSave = EventListeners<ObjectChanges>()
  /// A save has brought the context up to date, its own or a parent's. Told before the hooks of the objects and `didSave`.
  var didSettle = EventListeners<Void>()
  var objectsDidChange = EventListeners<ObjectChanges>()
  /// The origin of the changes that the context is recording.
  var origin = ObjectChanges.Origin.context
  /// Objects that the store or the parent has deleted. The context still shows them, because they have unsaved changes.
  var kept: Set<ManagedObjectID> = []
  /// The objects that have changed since the last event.
  private var noted: [ObjectKey: NotedObject] = [:]
  /// Observers, each with a subscription that keeps it.
  private var keptObservers: [(flag: SubscriptionFlag, observer: AnyObject)] = []

  private struct NotedObject {
    /// True if the object was in the context at the time of the last event.
    let wasThere: Bool
    /// True if code has set a value; false if values were only read again.
    var isEdited = false
    /// What was set, as far as the context records that.
    var properties = ChangedProperties()
  }

  var hasNoted: Bool { !noted.isEmpty }

  /// - Parameter properties: what code sets; nil if values are only read again.
  mutating func note(_ key: ObjectKey, wasThere: Bool, _ properties: ChangedProperties?) {
    var object = noted[key] ?? NotedObject(wasThere: wasThere)
    if let properties {
      object.isEdited = true
      object.properties.formUnion(properties)
    }
    noted[key] = object
  }

  /// Returns the kind of change of each noted object, and clears the list.
  ///
  /// - Parameter isThere: whether the context shows an object.
  mutating func takeNoted(isThere: (ObjectKey) -> Bool) -> [ObjectKey: ObjectChange] {
    defer { noted = [:] }
    var changes: [ObjectKey: ObjectChange] = [:]
    for (key, object) in noted {
      switch (object.wasThere, isThere(key)) {
      case (false, true): changes[key] = .inserted
      case (true, false): changes[key] = .deleted
      case (true, true): changes[key] = object.isEdited ? .updated(object.properties) : .refreshed
      case (false, false): break
      }
    }
    return changes
  }

  mutating func forgetNoted() { noted = [:] }

  /// The noted objects were read anew since: no property is to be named.
  mutating func noteRereading() {
    noted = noted.mapValues { NotedObject(wasThere: $0.wasThere) }
  }

  mutating func keep(_ observer: AnyObject, for flag: SubscriptionFlag) {
    keptObservers.append((flag, observer))
  }

  /// Returns the observers whose subscriptions have ended, and keeps them no longer. The caller releases them: what ends with them may use the context.
  mutating func takeUnsubscribed() -> [AnyObject] {
    var ended: [AnyObject] = []
    keptObservers.removeAll { kept in
      guard kept.flag.isCancelled else { return false }
      ended.append(kept.observer)
      return true
    }
    return ended
  }

  /// Nothing is noted any more.
  mutating func stopNoting() {
    noted = [:]
    kept = []
  }
}
