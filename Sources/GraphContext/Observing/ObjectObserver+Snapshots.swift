import Predicates

// The states of an object as values.

extension ObjectObserver where Object: ModelWithValues {
  /// The values of the object as it is now; nil if it is gone.
  ///
  /// - Throws: `store` or `corrupt` if the object can't be read, what the context throws because of an earlier error, and that the context is gone.
  public func snapshot() throws(ContextError) -> Object.Values? {
    guard let context else { throw ContextError.contextGone() }
    let object = try context.objectIfExists(Object.self, number: objectID.number, entity)
    let values = object?.values
    try context.checkUsable()
    return values
  }

  /// A sequence of the object's values: first as they are, then after each change; nil while the object is gone. A consumer that is slow gets the newest. A state that can't be read is left out. The sequence ends when
  /// the observer or its context is released.
  ///
  /// ```swift
  /// let observer = try ObjectObserver(song)
  /// for await values in try observer.snapshots() { show(values?.title) }
  /// ```
  ///
  /// - Throws: `store` or `corrupt` if the object can't be read.
  public func snapshots() throws(ContextError) -> AsyncStream<Object.Values?> {
    let first = try snapshot()
    return states.stream(from: .some(first), .bufferingNewest(1)) { [weak self] _ in
      guard let self else { return nil }
      // What can't be read is left out.
      return try? .some(snapshot())
    }
  }
}
