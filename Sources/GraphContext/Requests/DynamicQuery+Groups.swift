import Foundation
import Predicates

extension DynamicQuery {
  /// A value to compute from the objects of a group.
  public struct Aggregate: Sendable, Hashable {
    /// The function that is computed.
    public var function: AggregateFunction
    /// The attribute that the function is computed from; nil for the objects themselves, which can only be counted.
    public var keyPath: String?
    /// The name of the column; nil for the default, such as `count` or `avg(arrDelay)`.
    public var name: String?

    /// Makes a column: `Aggregate(.average, "arrDelay", named: "delay")`.
    public init(_ function: AggregateFunction, _ keyPath: String? = nil, named name: String? = nil) {
      self.function = function
      self.keyPath = keyPath
      self.name = name
    }

    /// Makes a column from text: `count`, `avg(arrDelay)`, `max(dest.altitude) as highest`.
    ///
    /// - Throws: `QueryError` of code `syntax`.
    public init(_ text: String) throws(QueryError) {
      var words = text.split(separator: " ", omittingEmptySubsequences: true).map(String.init)
      if words.count == 3, words[1].lowercased() == "as" {
        name = words[2]
        words.removeLast(2)
      }
      guard words.count == 1 else { throw Self.mistake(text) }
      let parts = words[0].split(separator: "(", omittingEmptySubsequences: false).map(String.init)
      guard let function = AggregateFunction(rawValue: parts[0].lowercased()) else {
        throw Self.mistake(text)
      }
      self.function = function
      if parts.count == 1 { return }
      guard parts.count == 2, parts[1].hasSuffix(")"), parts[1].count > 1 else { throw Self.mistake(text) }
      keyPath = String(parts[1].dropLast())
    }

    private static func mistake(_ text: String) -> QueryError {
      let names = AggregateFunction.allCases.map(\.rawValue).joined(separator: ", ")
      let message =
        "“\(text)” is no aggregate such as count, avg(delay) or avg(delay) as late; there are \(names)."
      return QueryError(.syntax, message, source: text, column: 0)
    }
  }

  /// True if the results are groups.
  public var isGrouped: Bool { !groupBy.isEmpty || !aggregates.isEmpty }

  /// Returns the grouped query with its names found in the schema.
  func resolvedGroups(in schema: Schema, store: UUID) throws(QueryError) -> ResolvedGrouping {
    guard select.isEmpty, !isDistinct else {
      throw QueryError(
        .arguments,
        "A query for groups can't select columns or be distinct: its columns are its keys and aggregates."
      )
    }
    try QueryError.checkWindow(limit: limit, offset: offset)
    var rows = self
    rows.sort = []
    rows.limit = nil
    rows.offset = 0
    let query = try rows.resolved(in: schema, store: store).query
    let paths = PathResolver(entity: query.entity, schema: schema)
    var keys: [QueryColumn] = []
    for keyPath in groupBy { keys.append(try QueryColumn(Self.names(keyPath), paths, store: store)) }
    var resolved: [ResolvedAggregate] = []
    for aggregate in aggregates {
      let path = try aggregate.keyPath.map { keyPath throws(QueryError) in try Self.path(keyPath, paths) }
      resolved.append(try ResolvedAggregate(aggregate.function, of: path, named: aggregate.name))
    }
    let options = ResolvedGrouping.Options(
      condition: having,
      sort: sort.map { ($0.keyPath, $0.isAscending) },
      limit: limit,
      offset: offset
    )
    return try ResolvedGrouping(query, by: keys, resolved, options: options, in: schema)
  }
}

/// A group as a tool sees it.
public struct GroupRecord: Sendable {
  /// The values that the group's objects have in common, then the aggregates.
  public let values: [AttributeValue]
  private let columns: QueryRecord.Columns

  init(values: [AttributeValue], columns: QueryRecord.Columns) {
    self.values = values
    self.columns = columns
  }

  /// The columns' names, in the order of ``values``.
  public var names: [String] { columns.names }

  /// Returns the value of a column; nil when the query doesn't have it.
  public func value(of name: String) -> AttributeValue? { columns.place(of: name).map { values[$0] } }

  /// Returns the value of a column as a type, as `AttributeValue.converted(to:)` makes it; nil also when the query
  /// doesn't have the column.
  public func value<Value: AttributeType>(of name: String, as type: Value.Type) -> Value? {
    value(of: name)?.converted(to: type)
  }
}
