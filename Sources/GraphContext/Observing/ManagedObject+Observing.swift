import Dispatch
import Predicates

extension ManagedObject {
  /// Calls `body` after each turn of the object's context that has changed a property, with the old and the new value.
  ///
  /// ```swift
  /// let subscription = try song.observe(\.title) { old, new in print("\(old) is now called \(new)") }
  /// ```
  ///
  /// A change that is undone within one turn isn't reported. ``ObjectObserver`` reports changes of the whole object.
  /// The context's executor calls `body`.
  ///
  /// - Parameters:
  ///   - property: a property of the model, stored or computed.
  ///   - body: the listener. It is not called after the object is deleted or its context was reset, nor while the
  ///     context has an error to throw. After a save that has unified a new object with an existing one, it is told of
  ///     that.
  /// - Returns: the subscription. It ends when the program releases it, and keeps the object until then.
  /// - Throws: `objectNotFound` for an object that is in no context.
  public func observe<Value: Equatable>(
    _ property: KeyPath<Self, Value>,
    _ body: @escaping (_ old: Value, _ new: Value) -> Void
  ) throws(ContextError) -> ContextSubscription {
    guard let context = _$state.host as? ManagedObjectContext else {
      throw ContextError(
        .objectNotFound,
        "an object of \(Self.entityName) that is in no context can't be observed"
      )
    }
    context.tellBeforeObserving()
    return PropertyObserver(self, property, body).start(in: context)
  }

  /// Calls `body` with both values of a property that has changed, on an actor: `observe(_:_:)` for values that can be
  /// sent.
  ///
  /// The changes arrive in their order, some time after they have happened.
  ///
  /// - Parameters:
  ///   - property: a property of the model, stored or computed.
  ///   - actor: the actor, which is held weakly. An actor with an executor of its own is told on that.
  ///   - body: the listener. No call begins after the subscription was cancelled on this actor.
  /// - Returns: the subscription. It ends when the program releases it, and keeps the object until then.
  /// - Throws: `objectNotFound` for an object that is in no context.
  public func observe<Value: Equatable & Sendable, Listener: Actor>(
    _ property: KeyPath<Self, Value>,
    on actor: Listener,
    _ body: @escaping @Sendable (_ actor: isolated Listener, _ old: Value, _ new: Value) -> Void
  ) throws(ContextError) -> ContextSubscription {
    try EventReceiver.actor(actor) { body($0, $1.0, $1.1) }.subscribed { tell throws(ContextError) in
      try observe(property) { old, new in tell((old, new)) }
    }
  }

  /// Calls `body` with both values of a property that has changed, on the main actor. As `observe(_:on:_:)` for other
  /// actors.
  public func observe<Value: Equatable & Sendable>(
    _ property: KeyPath<Self, Value>,
    on actor: MainActor,
    _ body: @escaping @MainActor @Sendable (_ old: Value, _ new: Value) -> Void
  ) throws(ContextError) -> ContextSubscription {
    try EventReceiver.mainActor { body($0.0, $0.1) }.subscribed { tell throws(ContextError) in
      try observe(property) { old, new in tell((old, new)) }
    }
  }

  /// Calls `body` with both values of a property that has changed, on a queue. As `observe(_:on:_:)` for actors.
  public func observe<Value: Equatable & Sendable>(
    _ property: KeyPath<Self, Value>,
    on queue: DispatchQueue,
    _ body: @escaping @Sendable (_ old: Value, _ new: Value) -> Void
  ) throws(ContextError) -> ContextSubscription {
    try EventReceiver.queue(queue) { body($0.0, $0.1) }.subscribed { tell throws(ContextError) in
      try observe(property) { old, new in tell((old, new)) }
    }
  }
}
