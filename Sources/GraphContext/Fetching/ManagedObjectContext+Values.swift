import Predicates

// Queries for values. They see unsaved changes as fetches do, and make no objects. What they read is given back when they end.

extension ManagedObjectContext {
  /// The rows of values that the selection describes, in its order.
  ///
  /// - Throws: `QueryError` for a mistake in the query; `ContextError` when the store can't be read, or holds no value of a column's
  ///   type: nil, because an object on the way is missing, for a type without nil.
  public func fetch<Root: ManagedObject, each Value: ColumnType>(
    _ selection: Selection<Root, repeat each Value>
  ) throws -> [(repeat each Value)] {
    var rows: [(repeat each Value)] = []
    let resolved = try resolved(selection)
    try resolved.forEachRow(in: viewForValues(), context: self) { _, reader, fields in
      rows.append(try selection.row(&reader, fields, resolved.columns))
      return true
    }
    return rows
  }

  /// How ``fetch(_:)`` would go about the selection.
  ///
  /// - Parameter analyze: whether to run the query and measure what it does.
  public func explain<Root: ManagedObject, each Value: ColumnType>(
    _ selection: Selection<Root, repeat each Value>,
    analyze: Bool = false
  ) throws -> QueryPlan {
    try resolved(selection).plan(in: viewForValues(), context: self, analyze: analyze)
  }

  func resolved<Root: ManagedObject, each Value: ColumnType>(
    _ selection: Selection<Root, repeat each Value>
  ) throws -> ResolvedSelection {
    try checkUsable()
    return try selection.resolved(
      for: modelEntity(of: Root.self).schema,
      in: coordinator.schema.schema,
      store: storeID
    )
  }

  /// The snapshot, with memory of its own: what a query keeps goes with it.
  func viewForValues() -> StoreView {
    let values = view.another()
    values.cancellation = cancellation
    return values
  }
}
