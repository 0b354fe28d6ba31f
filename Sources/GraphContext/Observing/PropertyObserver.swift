/// An observer that reports the values of one property of an object. The context keeps it for as long as its
/// subscription.
final class PropertyObserver<Object: ManagedObject, Value: Equatable> {
  private let property: KeyPath<Object, Value>
  private let body: (_ old: Value, _ new: Value) -> Void
  /// The object; held, because the context sooner or later releases an object to which nothing refers.
  private var object: Object
  private var objectID: ManagedObjectID
  private var last: Value
  private var ofCompletion: ContextSubscription?
  /// The flag of the program's subscription.
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
    ofCompletion = context.onDidComplete { [weak self, weak context] in
      if let context { self?.followUnified(in: context) }
    }
    let subscription = context.onObjectsDidChange { [weak self, weak context] _ in
      if let context { self?.follow(context) }
    }
    flag = subscription.flag
    context.keep(self, for: subscription)
    return subscription
  }

  /// Handles the end of a save that has unified a new object with an existing one. The existing one is observed from
  /// now on.
  private func followUnified(in context: ManagedObjectContext) {
    if flag?.isCancelled == true { return }
    let unified = context.storedID(objectID)
    guard unified != objectID, let object = try? context.existingObject(Object.self, with: unified) else {
      return
    }
    (self.object, objectID) = (object, unified)
    follow(context)
  }

  /// Reports the value that the property has after an event of the context, if it differs from the value after the
  /// event before.
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
