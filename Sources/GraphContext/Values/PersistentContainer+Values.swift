import Predicates

extension PersistentContainer {
  /// Inserts an object for each of these values, and returns their IDs. No object is made, and the IDs of the values
  /// are ignored.
  ///
  /// Everything else is as with ``batchInsert(_:from:_:chunkSize:ifExists:durability:author:)``, a column for each
  /// property of the values. So a model with a relationship that is one to one can't be inserted in this way.
  ///
  /// - Parameters:
  ///   - values: the values, iterated once, on a background queue.
  ///   - chunkSize: the number of objects in a commit, at least 1; nil for one commit with all of them.
  ///   - policy: what happens to values that have unique values of an existing object, if not what each constraint
  ///     declares.
  ///   - durability: when a commit counts as done, if not as the container's options say.
  ///   - author: who makes the changes, for the history.
  /// - Returns: the IDs of the objects, in the order of the values.
  /// - Throws: What ``batchInsert(_:from:_:chunkSize:ifExists:durability:author:)`` throws.
  @discardableResult
  public func batchInsert<Values: ModelValues>(
    _ values: some Sequence<Values> & Sendable,
    chunkSize: Int? = nil,
    ifExists policy: UniquePolicy? = nil,
    durability: Durability? = nil,
    author: String? = nil
  ) async throws(ContextError) -> [ManagedObjectID] {
    let columns = Values._$names.enumerated().map { place, name in
      BatchColumn<Values._$Model, [ListedValue]>(names: .success(ValuesName(name).path)) { $0[place].value }
    }
    return try await batchInsert(
      rows: ValueLists(values: values),
      columns,
      chunkSize: chunkSize,
      ifExists: policy,
      durability: durability,
      author: author
    )
  }
}

/// The lists of some values, made one after the other.
private struct ValueLists<Base: Sequence & Sendable>: Sequence, Sendable where Base.Element: ModelValues {
  let values: Base

  func makeIterator() -> AnyIterator<[ListedValue]> {
    var iterator = values.makeIterator()
    return AnyIterator { iterator.next()?.list }
  }
}
