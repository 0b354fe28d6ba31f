import Foundation
import Predicates

// Queries in words for values and for groups: of a store without classes, and of a context.

extension DynamicQuery {
  /// Returns the query for groups with its names found in the schema.
  func grouping(in schema: Schema, store: UUID) throws(ContextError) -> ResolvedGrouping {
    try ContextError.resolving { () throws(QueryError) in try resolvedGroups(in: schema, store: store) }
  }

  /// Returns the query for values with its names found in the schema.
  func selection(in schema: Schema, store: UUID) throws(ContextError) -> ResolvedSelection {
    try ContextError.resolving { () throws(QueryError) in
      if isGrouped { throw QueryError(.arguments, "The query is for groups: groups(of:) returns them.") }
      let (resolved, columns) = try resolved(in: schema, store: store)
      return try ResolvedSelection(query: resolved, columns: columns, isDistinct: isDistinct)
    }
  }
}

extension ResolvedGrouping {
  /// Returns the rows with the names of their columns.
  func records(
    in source: any ObjectSource,
    over layers: UnsavedLayers? = nil
  ) throws(ContextError) -> [GroupRecord] {
    let names = QueryRecord.Columns(names)
    return try rows(in: source, over: layers).map { GroupRecord(values: $0, columns: names) }
  }
}

extension ResolvedSelection {
  /// Calls `body` with each row, in order, until `body` returns false.
  func forEachRecord(
    in source: any ObjectSource,
    of storeID: UUID,
    over layers: UnsavedLayers? = nil,
    _ body: (QueryRecord) -> Bool
  ) throws(ContextError) {
    let names = QueryRecord.Columns(columns.map(\.name))
    let entity = source.schema[query.entity.id]
    try source.forEachRow(of: self, over: layers) { row, reader, fields in
      let id = entity.objectID(row.number, in: storeID)
      let values = try fields.map { try reader.value(of: $0) }
      return body(QueryRecord(objectID: id, values: values, columns: names))
    }
  }

  /// Returns the rows, in order.
  func records(
    in source: any ObjectSource,
    of storeID: UUID,
    over layers: UnsavedLayers? = nil
  ) throws(ContextError) -> [QueryRecord] {
    var rows: [QueryRecord] = []
    try forEachRecord(in: source, of: storeID, over: layers) { row in
      rows.append(row)
      return true
    }
    return rows
  }
}

extension ManagedObjectContext {
  /// Returns the values that a query in words selects, a row for each object, in the query's order: the equivalent of a
  /// selection of a typed request for key paths that are text.
  ///
  /// ```swift
  /// var query = DynamicQuery("Song", where: try PredicateTree(format: "seconds > 180"))
  /// query.select = ["title", "album.title"]
  /// let titles = try context.rows(of: query).map { $0.value(forKeyPath: "title", as: String.self) }
  /// ```
  ///
  /// - Throws: `invalidQuery` for a mistake in the query, or one for groups; else what ``fetch(_:)-(From<Root>)``
  ///   throws.
  public func rows(of query: DynamicQuery) throws(ContextError) -> [QueryRecord] {
    try checkUsable()
    let selection = try query.selection(in: coordinator.schema.schema, store: storeID)
    return try selection.records(in: source.another(), of: storeID, over: layers(for: selection.query))
  }

  /// Returns the groups of a query with ``DynamicQuery/groupBy`` or ``DynamicQuery/aggregates``, in its order; without
  /// ``DynamicQuery/groupBy``, one group.
  ///
  /// - Throws: as ``rows(of:)``.
  public func groups(of query: DynamicQuery) throws(ContextError) -> [GroupRecord] {
    try checkUsable()
    let grouping = try query.grouping(in: coordinator.schema.schema, store: storeID)
    return try grouping.records(in: source.another(), over: layers(for: grouping.query))
  }
}
