import Foundation
import Predicates

/// A query for the values of objects instead of the objects: ``From/values()``, ``From/values(_:)``.
///
/// ```swift
/// let values = try context.fetch(From<Song>().where { $0.rating > 3 }.orderBy(\.title).values())
/// ```
public struct ValuesSelection<Values: ModelValues>: Sendable {
  let request: From<Values._$Model>
}

extension From where Root: ModelWithValues {
  /// Returns a query for the values of these objects. They are read in one pass over the records, like those of
  /// ``select(_:)``, and no objects are made. Externally stored attributes aren't read.
  public func values() -> ValuesSelection<Root.Values> { ValuesSelection(request: self) }
}

extension From {
  /// Does what ``values()`` does, for models that inherit from each other: `From<Dog>().values(Dog.Values.self)`.
  public func values<Values: ModelValues>(_ type: Values.Type) -> ValuesSelection<Values>
  where Values._$Model == Root { ValuesSelection(request: self) }
}

extension ValuesSelection {
  /// Returns a column for the ID, then one for each name.
  fileprivate func resolved(
    for entity: EntitySchema,
    in schema: Schema,
    store: UUID
  ) throws(QueryError) -> ResolvedSelection {
    let paths = PathResolver(entity: entity, schema: schema)
    var columns = [try QueryColumn([PathResolver.objectIDName], paths, store: store)]
    for name in Values._$names {
      columns.append(try QueryColumn(ValuesName(name).path, paths, store: store))
    }
    return try ResolvedSelection(
      query: try request.untyped.resolved(for: entity, in: schema, store: store),
      columns: columns,
      isDistinct: false
    )
  }
}

extension ManagedObjectContext {
  /// Returns the values of the objects that the query describes, in its order, with unsaved changes.
  ///
  /// - Throws: What ``fetch(_:)-(From<Root>)`` throws; `corrupt` also where the store holds no value of a property's
  ///   type.
  public func fetch<Values: ModelValues>(
    _ selection: ValuesSelection<Values>
  ) throws(ContextError) -> [Values] {
    var all: [Values] = []
    try forEachRow(of: selection) { values in
      all.append(values)
      return true
    }
    return all
  }

  /// Calls `body` with the values of each object that the query describes, in its order. The stored rows are those of
  /// the start, as with a selection of columns.
  public func forEach<Values: ModelValues>(
    _ selection: ValuesSelection<Values>,
    _ body: (Values) throws -> Void
  ) throws {
    var outcome = BodyOutcome()
    try forEachRow(of: selection) { values in outcome.goesOn(after: { try body(values) }) }
    try outcome.get()
  }

  /// Explains how the values would be fetched.
  ///
  /// - Parameters:
  ///   - selection: the query for values.
  ///   - analyze: whether to run the query and measure what it does.
  public func explain<Values: ModelValues>(
    _ selection: ValuesSelection<Values>,
    analyze: Bool = false
  ) throws(ContextError) -> QueryPlan {
    try explain(.values(resolved(selection)), analyze: analyze)
  }

  private func forEachRow<Values: ModelValues>(
    of selection: ValuesSelection<Values>,
    _ body: (Values) -> Bool
  ) throws(ContextError) {
    let resolved = try resolved(selection)
    try source.another().forEachRow(of: resolved, over: layers(for: resolved.query)) { _, reader, fields in
      try withUnsafeMutablePointer(to: &reader) { row in
        var reader = RowValuesReader(
          row: row,
          fields: fields,
          columns: resolved.columns,
          entity: Values._$Model.entityName
        )
        return body(try Values(_$from: &reader))
      }
    }
  }

  private func resolved<Values: ModelValues>(
    _ selection: ValuesSelection<Values>
  ) throws(ContextError) -> ResolvedSelection {
    try checkUsable()
    let entity = try modelEntity(of: Values._$Model.self)
    return try ContextError.resolving { () throws(QueryError) in
      try selection.resolved(
        for: coordinator.schema.entitySchema(of: Values._$Model.self, entity),
        in: coordinator.schema.schema,
        store: storeID
      )
    }
  }
}

/// Reads values of the row that a reader has begun.
private struct RowValuesReader: ValuesReader {
  // Safety: the reader stays where it is while the values of one row are read, and nothing else has hold of it.
  let row: UnsafeMutablePointer<RowReader>
  let fields: [RowField]
  let columns: [QueryColumn]
  let entity: String
  private var place = 0

  init(row: UnsafeMutablePointer<RowReader>, fields: [RowField], columns: [QueryColumn], entity: String) {
    (self.row, self.fields, self.columns, self.entity) = (row, fields, columns, entity)
  }

  mutating func objectID() throws -> ManagedObjectID? { try next() as ManagedObjectID }
  mutating func attribute<Value: AttributeType>() throws -> Value { try next() }
  mutating func toOne() throws -> ManagedObjectID? { try next() }
  mutating func requiredToOne() throws -> ManagedObjectID { try next() }
  mutating func skip() { place += 1 }

  private mutating func next<Value: ColumnType>() throws -> Value {
    let (field, column) = (fields[place], columns[place])
    place += 1
    if let value = try row.pointee.value(of: field, as: Value.self, in: column.origin) { return value }
    throw column.holdsNone(Value.self, of: entity)
  }
}
