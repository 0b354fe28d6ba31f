import Foundation
import PageStore
import Predicates

/// A store opened without its model classes: the schema is the one that the store holds.
///
/// Tools read through it. Everything is read from the newest commit at the time of the call.
public final class DynamicStore: Sendable {
  /// The store itself.
  public let store: Store
  /// The entities of the store.
  public let schema: Schema
  private let storedSchema: ResolvedSchema
  private let storeID: UUID

  /// Opens the store's file for reading only.
  ///
  /// - Throws: `ContextError`: `store` when the file can't be opened, `schemaMismatch` when it holds no models or
  ///   this library doesn't read its format, `corrupt` when its schema is damaged, `invalidURL` for a URL that isn't
  ///   a file's.
  public convenience init(at url: URL) throws(ContextError) { try self.init(Store.openToRead(url)) }

  /// Makes a dynamic store from an open store.
  public init(_ store: Store) throws(ContextError) {
    let snapshot = try ContextError.mapping { () throws(StoreError) in try store.snapshot() }
    guard let readable = try SchemaTree.readableSchema(in: snapshot) else {
      throw ContextError(.schemaMismatch, "the store holds no models")
    }
    self.store = store
    schema = readable.schema
    storedSchema = readable
    storeID = UUID(store.uuid)
  }

  private func view() throws(ContextError) -> StoreView {
    try ContextError.mapping { () throws(StoreError) in
      StoreView(schema: storedSchema, snapshot: try store.snapshot())
    }
  }
}

extension DynamicStore {
  /// Returns the number of objects of an entity, or of a class and its subclasses; nil for an unknown name. O(1),
  /// or O(log n) for a class.
  public func count(of entity: String) throws(ContextError) -> Int? {
    guard let found = storedSchema.entity(named: entity) else { return nil }
    if found.name != entity { return try self.count(DynamicQuery(entity)) }
    let view = try view()
    return try ContextError.mapping { () throws(StoreError) in try view.records(of: found)?.count ?? 0 }
  }

  /// Calls `body` with the transactions of the history that a query asks for, in the query's order, until `body`
  /// returns false.
  ///
  /// - Throws: `noHistory` if the store keeps none; `historyExpired` for a token from which the history can't be
  ///   read; `store` when the store can't be read; what `body` throws.
  public func forEachTransaction(
    _ query: HistoryQuery = HistoryQuery(),
    _ body: (HistoryTransaction) throws -> Bool
  ) throws {
    guard let reader = try HistoryReader(store.snapshot(), storedSchema.catalogue, storeID) else {
      throw ContextError.noHistory()
    }
    try reader.forEach(query, body)
  }

  /// Returns the number of rows, or groups, of the query; limit and offset count.
  ///
  /// - Throws: `invalidQuery` for a mistake in the query; `store` or `corrupt` when the store can't be read;
  ///   `cancelled` when the task that it runs in is cancelled.
  public func count(_ query: DynamicQuery) throws(ContextError) -> Int {
    if query.isGrouped { return try groups(of: query).count }
    let selection = try selection(query)
    if selection.isDistinct { return try selection.count(in: view()) }
    return try view().count(of: selection.query, over: nil)
  }

  /// Returns how the query would be answered.
  ///
  /// - Parameters:
  ///   - query: the query to explain.
  ///   - analyze: whether to run the query and measure what it does.
  public func explain(_ query: DynamicQuery, analyze: Bool = false) throws(ContextError) -> QueryPlan {
    let request: ResolvedRequest =
      try query.isGrouped ? .groups(grouping(query)) : .values(selection(query))
    return try view().explain(request, over: nil, analyze: analyze)
  }

  /// Returns the names of the query's columns: key paths and, for groups, aggregates.
  public func columns(of query: DynamicQuery) throws(ContextError) -> [String] {
    if query.isGrouped { return try grouping(query).names }
    return try selection(query).columns.map(\.name)
  }

  /// Returns the groups of a query with ``DynamicQuery/groupBy`` or ``DynamicQuery/aggregates``; without the former,
  /// one.
  ///
  /// - Throws: What ``count(_:)`` throws.
  public func groups(of query: DynamicQuery) throws(ContextError) -> [GroupRecord] {
    try grouping(query).records(in: view())
  }

  /// Calls `body` with each row of the query, in order, until it returns false. Values are decoded row by row.
  ///
  /// - Throws: What ``rows(of:)`` and `body` throw.
  public func forEach(_ query: DynamicQuery, _ body: (QueryRecord) throws -> Bool) throws {
    var outcome = BodyOutcome()
    try forEachRow(of: query) { row in outcome.goesOn { try body(row) } }
    try outcome.get()
  }

  private func forEachRow(of query: DynamicQuery, _ body: (QueryRecord) -> Bool) throws(ContextError) {
    try selection(query).forEachRecord(in: view(), of: storeID, body)
  }

  private func grouping(_ query: DynamicQuery) throws(ContextError) -> ResolvedGrouping {
    try query.grouping(in: schema, store: storeID)
  }

  private func selection(_ query: DynamicQuery) throws(ContextError) -> ResolvedSelection {
    try query.selection(in: schema, store: storeID)
  }

  /// Returns the rows of the query. Use ``forEach(_:_:)`` where they are many.
  ///
  /// - Throws: The errors of ``count(_:)``; `invalidQuery` also for a query for groups.
  public func rows(of query: DynamicQuery) throws(ContextError) -> [QueryRecord] {
    try selection(query).records(in: view(), of: storeID)
  }
}
