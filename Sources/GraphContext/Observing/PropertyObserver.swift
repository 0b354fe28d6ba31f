/// Tells of the values of one property of an object. Kept by the context for as long as the subscription to it.
final class PropertyObserver<Object: ManagedObject, Value: Equatable> {
  private let property: KeyPath<Object, Value>
  private let body: (_ old: Value, _ new: Value) -> Void
  /// Held, because an object to which nothing refers leaves the context's memory sooner or later.
  private var object: Object
  private var objectID: ManagedObjectID
  private var last: Value
  private var ofSettling: ContextSubscription?
  /// That of the program's subscription.
  private var flag: SubscriptionFlag?

  init(
    _ object: Object,
    _ property: KeyPath<Object, Value>,
    _ body: @escaping (_ old: Value, _ new: Value) -> Void
  ) {
    (self.object, objectID, self.property, self.body) = (object, object.objectID, property, body)
    last = object[keyPath: property]
  }

  /// Follows the context until the program releases the subscription.
  func start(in context: ManagedObjectContext) -> ContextSubscription {
    ofSettling = context.onDidSettle { [weak self, weak context] in
      if let context { self?.followSettled(in: context) }
    }
    let subscription = context.onObjectsDidChange { [weak self, weak context] _ in
      if let context { self?.follow(context) }
    }
    flag = subscription.flag
    context.keep(self, for: subscription)
    return subscription
  }

  /// A save that has settled a new object with an existing one is done. The existing one is observed from now on.
  private func followSettled(in context: ManagedObjectContext) {
    if flag?.isCancelled == true { return }
    let settled = context.storedID(objectID)
    guard settled != objectID, let object = try? context.existingObject(Object.self, with: settled) else {
      return
    }
    (self.object, objectID) = (object, settled)
    follow(context)
  }

  /// Tells the value that the property has after an event of the context, if it is another one than after the event before.
  private func follow(_ context: ManagedObjectContext) {
    guard object._$state.host === context, !object.isDeleted else { return }
    let value = object[keyPath: property]
    // A getter that can't read gives a placeholder.
    if context.deferred.error != nil { return }
    // NaN counts as equal to NaN here.
    if value == last || value != value && last != last { return }
    let old = last
    last = value
    body(old, value)
  }
}
