import Predicates

// Queries for values. They see unsaved changes as fetches do, and make no objects. The memory that a query reads into
// is released when the query ends.

extension ManagedObjectContext {
  /// Returns the rows of values that the selection describes, in its order: tuples with an element for each column.
  ///
  /// - Throws: What ``fetch(_:)-(From<Root>)`` throws; `corrupt` also where the store holds no value of a column's
  ///   type: nil, because an object on the way is missing, for a type without nil.
  public func fetch<Root: ManagedObject, each Value: ColumnType>(
    _ selection: Selection<Root, repeat each Value>
  ) throws(ContextError) -> [(repeat each Value)] {
    var rows: [(repeat each Value)] = []
    try forEachRow(of: selection) { (value: repeat each Value) in
      rows.append((repeat each value))
      return true
    }
    return rows
  }

  /// Returns the values of a selection with one column, in its order:
  /// `Set(try context.fetch(From<Song>().select(\.title)))`.
  ///
  /// - Throws: What the variant for several columns throws.
  public func fetch<Root: ManagedObject, Value: ColumnType>(
    _ selection: Selection<Root, Value>
  ) throws(ContextError) -> [Value] {
    // The compiler takes the one element of a pack for a tuple. With a type parameter of its own, the element is the
    // value.
    var values: [Value] = []
    try forEachRow(of: selection) { (value: Value) in
      values.append(value)
      return true
    }
    return values
  }

  /// Calls `body` with the columns of each row, until `body` returns false.
  func forEachRow<Root: ManagedObject, each Value: ColumnType>(
    of selection: Selection<Root, repeat each Value>,
    _ body: (repeat each Value) -> Bool
  ) throws(ContextError) {
    let resolved = try resolved(selection)
    try source.another().forEachRow(of: resolved, over: layers(for: resolved.query)) { _, reader, fields in
      let row = try selection.row(&reader, fields, resolved.columns)
      return body(repeat each row)
    }
  }

  /// Returns the plan by which the selection would be fetched.
  ///
  /// - Parameters:
  ///   - selection: the query for values.
  ///   - analyze: true if the query is run and measured.
  public func explain<Root: ManagedObject, each Value: ColumnType>(
    _ selection: Selection<Root, repeat each Value>,
    analyze: Bool = false
  ) throws(ContextError) -> QueryPlan {
    try explain(.values(resolved(selection)), analyze: analyze)
  }

  func resolved<Root: ManagedObject, each Value: ColumnType>(
    _ selection: Selection<Root, repeat each Value>
  ) throws(ContextError) -> ResolvedSelection {
    try checkUsable()
    let entity = try modelEntity(of: Root.self)
    return try ContextError.resolving { () throws(QueryError) in
      try selection.resolved(
        for: coordinator.schema.entitySchema(of: Root.self, entity),
        in: coordinator.schema.schema,
        store: storeID
      )
    }
  }

  /// Returns the plan by which the source answers a request. It uses a source of its own, with which the memory that
  /// the query keeps is released.
  func explain(_ request: ResolvedRequest, analyze: Bool) throws(ContextError) -> QueryPlan {
    try source.another().explain(request, over: layers(for: request.query), analyze: analyze)
  }
}
