import Predicates

// The states of an object as values.

extension ObjectObserver where Object: ModelWithValues {
  /// The values of the object as it is now; nil if it is gone.
  ///
  /// - Throws: `store` or `corrupt` if the object can't be read.
  public func snapshot() throws(ContextError) -> Object.Values? {
    guard let context else { throw ContextError.contextGone() }
    guard !isDeleted else { return nil }
    try context.checkUsable()
    let values = try context.existingObject(Object.self, with: objectID).values
    try context.checkUsable()
    return values
  }

  /// A sequence of the object's values: first as they are, then after each change; nil while the object is gone. A consumer that is slow gets the newest. It ends when the observer or its
  /// context is released.
  ///
  /// ```swift
  /// for await values in try ObjectObserver(song).snapshots() { show(values?.title) }
  /// ```
  ///
  /// - Throws: `store` or `corrupt` if the object can't be read.
  public func snapshots() throws(ContextError) -> AsyncStream<Object.Values?> {
    let first = try snapshot()
    return audience.stream(from: .some(first), .bufferingNewest(1)) { [weak self] _ in
      guard let self else { return nil }
      // What can't be read is left out.
      return try? .some(snapshot())
    }
  }
}
