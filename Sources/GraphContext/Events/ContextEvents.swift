import Synchronization

/// A listener of a context's events, or of a list's, a count's or an object's. It is called for as long as the program
/// holds this object.
///
/// The subscription keeps the list, the count or the observer of the object, but not the context. It may be released on
/// any thread: the objects that it has kept are released with the next event of the context, on the context's executor.
public final class ContextSubscription: Sendable {
  let flag: SubscriptionFlag

  init(_ flag: SubscriptionFlag) { self.flag = flag }

  deinit { flag.cancel() }

  /// Ends the subscription. A call of its closure that has begun continues, and no other begins.
  public func cancel() { flag.cancel() }
}

/// A flag that tells the context that a subscription has been cancelled, perhaps on another thread.
final class SubscriptionFlag: Sendable {
  private let isCancelledFlag = Atomic(false)

  var isCancelled: Bool { isCancelledFlag.load(ordering: .relaxed) }

  func cancel() { isCancelledFlag.store(true, ordering: .relaxed) }
}

/// The rule for when to look for ended subscriptions: each time that there are twice as many subscriptions as were left
/// the last time.
struct AmortisedCleaning {
  private var limit = 16

  func isDue(_ count: Int) -> Bool { count >= limit }

  mutating func didClean(_ count: Int) { limit = max(16, 2 * count) }
}

/// The listeners of a context, and the changes for the next event.
struct ContextEvents {
  let willSave = EventListeners<Void>()
  let didSave = EventListeners<ObjectChanges>()
  /// The listeners for the end of a save, the context's own or a parent's, that has brought the context up to date.
  /// They are called after the events that the save leads to, before `didSave`.
  let didComplete = EventListeners<Void>()
  let objectsDidChange = EventListeners<ObjectChanges>()
  /// The origin of the changes that the context is recording.
  var origin = ObjectChanges.Origin.context
  /// Objects that the store or the parent has deleted. The context still shows them, because they have unsaved changes.
  var kept: Set<ManagedObjectID> = []
  /// The objects that have changed since the last event.
  private var noted: [ObjectKey: NotedObject] = [:]
  /// Observers, each with a subscription that keeps it.
  private var keptObservers: [(flag: SubscriptionFlag, observer: AnyObject)] = []
  private var cleaning = AmortisedCleaning()

  private struct NotedObject {
    /// True if the object was in the context at the time of the last event.
    let wasThere: Bool
    /// True if code has set a value; false if values were only read again.
    var isEdited = false
    /// The properties that were set, as far as the context records them.
    var properties = ChangedProperties()
  }

  var hasNoted: Bool { !noted.isEmpty }

  /// - Parameter properties: the properties that code sets; nil if values are only read again.
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

  /// Makes the next event name no properties of the noted objects, because these have been read again since.
  mutating func noteRereading() {
    noted = noted.mapValues { NotedObject(wasThere: $0.wasThere) }
  }

  mutating func keep(_ observer: AnyObject, for flag: SubscriptionFlag) {
    keptObservers.append((flag, observer))
  }

  /// True if so many observers are kept that the context should look for those whose subscriptions have ended.
  var mayKeepUnsubscribed: Bool { cleaning.isDue(keptObservers.count) }

  /// Returns the observers whose subscriptions have ended, and keeps them no longer. The caller releases them: objects
  /// that are released with them may use the context.
  mutating func takeUnsubscribed() -> [AnyObject] {
    if keptObservers.isEmpty { return [] }
    var ended: [AnyObject] = []
    keptObservers.removeAll { kept in
      guard kept.flag.isCancelled else { return false }
      ended.append(kept.observer)
      return true
    }
    cleaning.didClean(keptObservers.count)
    return ended
  }

  /// Forgets everything that was noted.
  mutating func stopNoting() {
    noted = [:]
    kept = []
  }
}
