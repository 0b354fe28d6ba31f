import Foundation
import Predicates

/// A query for values of objects instead of the objects: typed rows, for which no object is made.
///
/// ```swift
/// let late = From<Flight>().where { $0.arrDelay > 60 }.select(\.flight, \.origin?.name)
/// for (flight, origin) in try context.fetch(late) { print(flight, origin ?? "?") }
/// ```
///
/// A value, like ``From``; a mistake in a key path is thrown when it is used.
public struct Selection<Root: ManagedObject, each Value: ColumnType>: Sendable {
  let request: From<Root>
  let keyPaths: [Result<[String], QueryError>]
  private(set) var isDistinct = false

  init(_ request: From<Root>, _ keyPaths: [Result<[String], QueryError>]) {
    self.request = request
    self.keyPaths = keyPaths
  }

  /// Returns the selection that has each row of values once, at its first position in the query's order. Limit and
  /// offset count the remaining rows.
  ///
  /// nil equals nil and NaN equals NaN, −0.0 equals 0.0, and strings are equal if their UTF-8 bytes are equal.
  public func distinct() -> Selection {
    var copy = self
    copy.isDistinct = true
    return copy
  }
}

extension From {
  /// Returns the selection of the values of some attributes, of these objects or of those that their to-one
  /// relationships lead to: `select(\.flight, \.origin?.name)` gives rows of type `(Int, String?)`. An object itself is
  /// selected by its ID: `select(\.objectID, \.origin?.objectID)`. Only the selected values are read; where an index
  /// has all of them, only the index is read.
  public func select<each Value: ColumnType>(
    _ keyPaths: repeat KeyPath<Root, each Value>
  ) -> Selection<Root, repeat each Value> {
    var names: [Result<[String], QueryError>] = []
    for keyPath in repeat each keyPaths { names.append(Root.names(of: keyPath)) }
    return Selection(self, names)
  }
}

extension Selection {
  func resolved(
    for entity: EntitySchema,
    in schema: Schema,
    store: UUID
  ) throws(QueryError) -> ResolvedSelection {
    let paths = PathResolver(entity: entity, schema: schema)
    var columns: [QueryColumn] = []
    for names in keyPaths { columns.append(try QueryColumn(names.get(), paths, store: store)) }
    return try ResolvedSelection(
      query: try request.untyped.resolved(for: entity, in: schema, store: store),
      columns: columns,
      isDistinct: isDistinct
    )
  }

  /// Returns the values of the row that the reader has begun.
  func row(
    _ reader: inout RowReader,
    _ fields: [RowField],
    _ columns: [QueryColumn]
  ) throws -> (repeat each Value) {
    var place = 0
    func next<Next: ColumnType>(_ type: Next.Type) throws -> Next {
      defer { place += 1 }
      let column = columns[place]
      guard let value = try reader.value(of: fields[place], as: type, in: column.origin) else {
        throw column.holdsNone(type, of: Root.entityName)
      }
      return value
    }
    return (repeat try next((each Value).self))
  }
}
