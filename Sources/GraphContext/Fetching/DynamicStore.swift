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
  private let storedSchema: StoredSchema
  private let storeID: UUID

  /// Opens the file for reading only.
  ///
  /// - Throws: `ContextError`: `store` when the file can't be opened, `schemaMismatch` when it is newer than this library or
  ///   holds no models, `corrupt` when its schema is damaged.
  public convenience init(at path: String) throws(ContextError) {
    var options = StoreOptions()
    options.isReadOnly = true
    options.createsIfMissing = false
    let store: Store
    do throws(StoreError) { store = try Store.open(at: path, options: options) } catch {
      throw ContextError(error)
    }
    try self.init(store)
  }

  /// The dynamic face of a store that is open.
  public init(_ store: Store) throws(ContextError) {
    let snapshot: Snapshot
    do throws(StoreError) { snapshot = try store.snapshot() } catch { throw ContextError(error) }
    guard let schema = try Catalogue.readableSchema(in: snapshot) else {
      throw ContextError(.schemaMismatch, "the store holds no models")
    }
    self.store = store
    self.schema = schema
    storedSchema = try StoredSchema(schema)
    storeID = UUID(store.uuid)
  }

  private func view() throws(ContextError) -> StoreView {
    do throws(StoreError) {
      return StoreView(schema: storedSchema, snapshot: try store.snapshot())
    } catch {
      throw ContextError(error)
    }
  }
}

extension DynamicStore {
  /// How many objects an entity has; nil for an unknown one. O(1).
  public func count(of entity: String) throws -> Int? {
    guard let entity = storedSchema.entity(named: entity) else { return nil }
    return try view().records(of: entity)?.count ?? 0
  }

  /// How many rows the query has; limit and offset count.
  ///
  /// - Throws: `QueryError` for a mistake in the query; `ContextError` when the store can't be read.
  public func count(_ query: DynamicQuery) throws -> Int {
    try QueryExecutor(query.resolved(in: schema, store: storeID).query, for: .count, in: view()).count()
  }

  /// How the query would be answered.
  public func explain(_ query: DynamicQuery) throws -> QueryPlan {
    try QueryExecutor(query.resolved(in: schema, store: storeID).query, for: .objects, in: view()).plan
      .explanation
  }

  /// The key paths of the query's columns.
  public func columns(of query: DynamicQuery) throws(QueryError) -> [String] {
    try query.resolved(in: schema, store: storeID).columns.map(\.name)
  }

  /// Calls `body` with each row of the query, in order, until it returns false. Values are decoded row by row.
  ///
  /// - Throws: `QueryError` for a mistake in the query; `ContextError` when the store can't be read; what `body` throws.
  public func forEach(_ query: DynamicQuery, _ body: (ManagedRecord) throws -> Bool) throws {
    let (resolved, columns) = try query.resolved(in: schema, store: storeID)
    let view = try view()
    let executor = try QueryExecutor(resolved, for: .objects, in: view)
    var paths = RowPaths(resolved.entity, in: schema)
    var fields: [RowField] = []
    for column in columns { fields.append(try paths.field(for: column)) }
    let names = ManagedRecord.Columns(columns.map(\.name))
    var reader = RowReader(paths, source: ViewRecordSource(paths, in: view, pending: nil))
    for row in try executor.rows(needsRecords: true) {
      guard let record = row.record else { continue }
      let id = ManagedObjectID(entityName: resolved.entity.name, number: row.number, storeID: storeID)
      let values = try ContextError.mapping {
        try reader.begin(row.number, record)
        return try fields.map { try reader.value(of: $0) }
      }
      guard try body(ManagedRecord(objectID: id, values: values, columns: names)) else { return }
    }
  }

  /// The rows of the query. Use ``forEach(_:_:)`` where they are many.
  public func rows(_ query: DynamicQuery) throws -> [ManagedRecord] {
    var rows: [ManagedRecord] = []
    try forEach(query) { row in
      rows.append(row)
      return true
    }
    return rows
  }
}
