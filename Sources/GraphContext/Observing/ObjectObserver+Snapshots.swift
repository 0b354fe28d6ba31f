import Predicates

// The states of an object as values.

extension ObjectObserver where Object: ModelWithValues {
  /// Returns the object as it is now, with its to-many relationships; nil if the object is deleted.
  ///
  /// - Throws: `store` or `corrupt` if the object can't be read, what the context throws because of an earlier error,
  ///   or an error if the context was released.
  public func snapshot() throws(ContextError) -> ObjectSnapshot<Object>? { try read(ObjectSnapshot.init) }

  /// Returns a sequence of the object's snapshots: first as it is, then after each change of it, and of the members
  /// that it has; nil while the object is deleted. A slow consumer gets only the newest. A state that can't be read is
  /// left out, and read again after the next event of the context. The sequence ends when the observer or its context
  /// is released.
  ///
  /// ```swift
  /// let observer = try ObjectObserver(album)
  /// for await album in try observer.snapshots() { show(album?.title, album?.songs) }
  /// ```
  ///
  /// An event with changes of objects that may be members costs a list of the members. Values alone cost less:
  /// ``values()``.
  ///
  /// - Throws: what ``snapshot()`` throws.
  public func snapshots() throws(ContextError) -> AsyncStream<ObjectSnapshot<Object>?> {
    try stream(of: statesWithMembers) { object throws(ContextError) in try ObjectSnapshot(object) }
  }

  /// Returns a sequence of the object's values, without members: first as they are, then whenever they change; nil
  /// while the object is deleted. Otherwise as ``snapshots()``.
  ///
  /// - Throws: what ``snapshot()`` throws.
  public func values() throws(ContextError) -> AsyncStream<Object.Values?> {
    try stream(of: states) { $0.values }
  }

  private func stream<State: Sendable & Equatable>(
    of states: Audience<Void>,
    _ state: @escaping (Object) throws(ContextError) -> State
  ) throws(ContextError) -> AsyncStream<State?> {
    let first = try read(state)
    var last = first
    return states.stream(from: .some(first), .bufferingNewest(1)) { [weak self] _ in
      guard let self else { return nil }
      do throws(ContextError) {
        let new = try read(state)
        if new == last { return nil }
        last = new
        return .some(new)
      } catch {
        hasUnreadState = true
        return nil
      }
    }
  }

  private func read<State>(
    _ state: (Object) throws(ContextError) -> State
  ) throws(ContextError) -> State? {
    guard let context else { throw ContextError.contextGone() }
    let object = try context.objectIfExists(Object.self, number: objectID.number, entity)
    let read = try object.map(state)
    try context.checkUsable()
    return read
  }
}
