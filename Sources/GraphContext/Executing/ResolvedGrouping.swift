import Foundation
import Predicates

/// A query for groups, or for aggregates of all rows, whose names are found in the schema.
struct ResolvedGrouping {
  /// The query for the rows that take part.
  let query: ResolvedQuery
  let keys: [ResolvedPath]
  /// Entity of each key that is a reference; nil for attributes.
  let keyOrigins: [ColumnOrigin]
  /// The aggregates: first those of the columns, then those that only the condition or the order needs.
  private(set) var aggregates: [ResolvedAggregate]
  private let aggregateColumnCount: Int
  private var condition = ResolvedPredicate.constant(true)
  private let conditionText: String
  private var columns: GroupColumns
  private var sort: [(column: Int, isAscending: Bool)] = []
  private(set) var limit: Int?
  private(set) var offset = 0

  /// The options of a grouping beyond its columns.
  struct Options {
    var condition = PredicateTree.constant(true)
    /// The order, by the names of columns.
    var sort: [(name: String, isAscending: Bool)] = []
    /// The aggregates that the condition and the order use.
    var aggregates: [ResolvedAggregate] = []
    var limit: Int?
    var offset = 0
  }

  init(
    _ query: ResolvedQuery,
    by keyColumns: [QueryColumn],
    _ aggregates: [ResolvedAggregate],
    options: Options = Options(),
    in schema: Schema
  ) throws(QueryError) {
    self.query = query
    keys = keyColumns.map(\.path)
    for key in keys { try key.checkComparable("grouped") }
    keyOrigins = keyColumns.map(\.origin)
    self.aggregates = aggregates
    aggregateColumnCount = aggregates.count
    for extra in options.aggregates where !self.aggregates.contains(extra) { self.aggregates.append(extra) }
    columns = GroupColumns(
      keyColumns.map { .init($0.name, $0.path.kind, of: $0.origin.entityName) }
        + self.aggregates.map { .init($0.name, $0.kind) },
      title: "A group of \(query.entity.name)",
      objects: schema
    )
    conditionText = options.condition.description
    condition = try options.condition.resolved(
      for: columns.entity,
      in: columns,
      store: keyOrigins.first?.storeID
    )
    try checkThatConditionIsAboutColumns()
    for key in options.sort {
      guard let column = columns.place(of: key.name) else {
        throw QueryError(
          .unknownName,
          "The groups have no key or aggregate “\(key.name)”: they can't be sorted by it.",
          keyPath: key.name
        )
      }
      try checkThatOneColumnIsCalled(key.name)
      sort.append((column, key.isAscending))
    }
    limit = options.limit
    offset = options.offset
  }

  /// Checks that the condition uses columns only. In the condition a name can also mean an object on the path of a
  /// key, which is no column: `origin` if groups are by `origin.name`.
  private func checkThatConditionIsAboutColumns() throws(QueryError) {
    var names: [String] = []
    condition.forEachPath { names.append($0.name) }
    for name in names {
      guard columns.place(of: name) != nil else {
        throw QueryError(
          .unknownName,
          "The groups have no key or aggregate “\(name)”: no condition can use it.",
          keyPath: name
        )
      }
      try checkThatOneColumnIsCalled(name)
    }
  }

  /// Checks that only one column has this name. In text, groups by an attribute `count` have a key of that name,
  /// and the column with the number of their objects has the same name.
  private func checkThatOneColumnIsCalled(_ name: String) throws(QueryError) {
    let keys = Set(keys.filter { $0.name == name })
    let aggregates = Set(aggregates.filter { $0.name == name })
    if keys.count + aggregates.count == 1 { return }
    throw QueryError(
      .arguments,
      "Two columns of the groups are called “\(name)”: neither a condition nor an order can tell them apart.",
      keyPath: name
    )
  }

  /// The names of the rows' columns.
  var names: [String] { keys.map(\.name) + aggregates.prefix(aggregateColumnCount).map(\.name) }

  /// Returns the rows: keys, then aggregates.
  func rows(
    in source: any ObjectSource,
    over layers: UnsavedLayers? = nil
  ) throws(ContextError) -> [[AttributeValue]] {
    if window.isOver { return [] }
    let groups = try source.groups(of: self, over: layers)
    var rows: [[AttributeValue]]
    if condition == .constant(true) {
      rows = groups.candidates(window.end ?? .max, by: order[0].column, isAscending: order[0].isAscending)
    } else {
      rows = groups.rows
      let condition = SubjectCondition(condition)
      rows.removeAll { !condition.matches(columns.row($0)) }
    }
    sort(&rows)
    let columnCount = keys.count + aggregateColumnCount
    return window.rows(of: rows).map { Array($0.prefix(columnCount)) }
  }

  private var window: RowWindow { RowWindow(offset: offset, limit: limit) }

  /// The order of the groups: by the sort keys, then by the group keys, or by the first column if all rows are one
  /// group.
  private var order: [(column: Int, isAscending: Bool)] {
    sort + (keys.isEmpty ? 0..<1 : keys.indices).map { (column: $0, isAscending: true) }
  }

  private func sort(_ rows: inout [[AttributeValue]]) {
    let order = order
    rows.sort { a, b in
      for key in order {
        let order = ValueComparison.sortOrder(a[key.column], b[key.column])
        if order != 0 { return (order < 0) == key.isAscending }
      }
      return false
    }
  }

  /// Returns the part of a plan that describes the groups.
  ///
  /// - Parameter source: the source in which aggregates are looked up; nil if they are computed row by row.
  func explanation(source: String?) -> QueryPlan.Grouping {
    QueryPlan.Grouping(
      keys: keys.map(\.name),
      aggregates: aggregates.map { .init(name: $0.name, source: source) },
      condition: condition == .constant(true) ? nil : conditionText,
      order: sort.map { "\(columnName($0.column)) \($0.isAscending ? "ascending" : "descending")" },
      limit: limit,
      offset: offset
    )
  }

  private func columnName(_ column: Int) -> String {
    column < keys.count ? keys[column].name : aggregates[column - keys.count].name
  }
}
