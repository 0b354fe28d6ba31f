import Predicates

extension ManagedObject {
  /// Calls `body` after each turn of the object's context that has changed a property, with the value that it had and the one that it has.
  ///
  /// ```swift
  /// let subscription = try song.observe(\.title) { old, new in print("\(old) is now called \(new)") }
  /// ```
  ///
  /// A change back within one turn is none. What has become of the whole object is what ``ObjectObserver`` tells. The context's executor calls `body`.
  ///
  /// - Parameters:
  ///   - property: a property of the model, stored or computed.
  ///   - body: the listener. It is not called after the object is deleted.
  /// - Returns: the subscription. It ends when the program releases it, and keeps the object until then.
  /// - Throws: `objectNotFound` for an object that is in no context.
  public func observe<Value: Equatable>(
    _ property: KeyPath<Self, Value>,
    _ body: @escaping (_ old: Value, _ new: Value) -> Void
  ) throws(ContextError) -> ContextSubscription {
    guard let context = _$state.host as? ManagedObjectContext else {
      throw ContextError(.objectNotFound, "an object of \(Self.entityName) is observed that is in no context")
    }
    context.tellBeforeObserving()
    var last = self[keyPath: property]
    let subscription = context.onObjectsDidChange { [weak self] _ in
      guard let self, _$state.host != nil, !isDeleted else { return }
      let value = self[keyPath: property]
      // NaN counts as equal to NaN here.
      if value == last || value != value && last != last { return }
      let old = last
      last = value
      body(old, value)
    }
    // An object to which nothing refers leaves the context's memory sooner or later.
    context.keep(self, for: subscription)
    return subscription
  }
}
