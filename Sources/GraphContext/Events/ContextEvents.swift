import Synchronization

/// Code that hears of a context's events, as long as the program holds this.
public final class ContextSubscription: Sendable {
  private let flag: SubscriptionFlag

  init(_ flag: SubscriptionFlag) { self.flag = flag }

  deinit { flag.cancel() }

  /// Ends the subscription. An event that is being delivered still arrives.
  public func cancel() { flag.cancel() }
}

/// Whether somebody still listens. The context looks; whoever listens may be on another thread.
final class SubscriptionFlag: Sendable {
  private let isCancelledFlag = Atomic(false)

  var isCancelled: Bool { isCancelledFlag.load(ordering: .relaxed) }

  func cancel() { isCancelledFlag.store(true, ordering: .relaxed) }
}

/// Those who hear of one kind of event of a context, in the order in which they subscribed.
struct EventListeners<Event> {
  private var listeners: [(flag: SubscriptionFlag, body: (Event) -> Void)] = []

  mutating func add(_ body: @escaping (Event) -> Void) -> SubscriptionFlag {
    let flag = SubscriptionFlag()
    removeCancelled()
    listeners.append((flag, body))
    return flag
  }

  /// Lets go of what those who have cancelled have captured.
  mutating func removeCancelled() { listeners.removeAll(where: \.flag.isCancelled) }

  /// Those who listen now: a listener that is added meanwhile hears of the next event.
  func tell(_ event: Event) {
    for listener in listeners where !listener.flag.isCancelled { listener.body(event) }
  }
}

/// Who hears of a context's events, and what there is to tell at the next one.
struct ContextEvents {
  var willSave = EventListeners<Void>()
  var didSave = EventListeners<ObjectChanges>()
  var objectsDidChange = EventListeners<ObjectChanges>()
  /// Where the changes come from that are noted now.
  var origin = ObjectChanges.Origin.context
  /// Objects that were deleted below the context and that it shows all the same, because they have unsaved changes.
  var kept: Set<ManagedObjectID> = []
  /// The objects that have changed since the last event.
  private var noted: [ObjectKey: NotedObject] = [:]

  private struct NotedObject {
    /// Whether the context showed the object at the last event.
    let wasThere: Bool
    /// Whether anything has set a value, instead of only reading it anew.
    var isEdited: Bool
  }

  var hasNoted: Bool { !noted.isEmpty }

  mutating func note(_ key: ObjectKey, wasThere: Bool, isEdited: Bool) {
    noted[key, default: NotedObject(wasThere: wasThere, isEdited: isEdited)].isEdited =
      isEdited || noted[key]?.isEdited == true
  }

  /// Returns what has become of the noted objects, and forgets them.
  ///
  /// - Parameter isThere: whether the context shows an object.
  mutating func takeNoted(isThere: (ObjectKey) -> Bool) -> [ObjectKey: ObjectChange] {
    defer { noted = [:] }
    var changes: [ObjectKey: ObjectChange] = [:]
    for (key, object) in noted {
      switch (object.wasThere, isThere(key)) {
      case (false, true): changes[key] = .inserted
      case (true, false): changes[key] = .deleted
      case (true, true): changes[key] = object.isEdited ? .updated : .refreshed
      case (false, false): break
      }
    }
    return changes
  }

  mutating func forgetNoted() { noted = [:] }
}
