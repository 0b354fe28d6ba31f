import Foundation
import Predicates

/// A query for groups, or for aggregates of all rows, whose names are found in the schema.
struct ResolvedGrouping {
  /// Which rows take part.
  let query: ResolvedQuery
  let keys: [ResolvedPath]
  /// Whose objects the keys are that are objects.
  let keyOrigins: [ColumnOrigin]
  /// Those of the columns first, then those that only the condition or the order need.
  private(set) var aggregates: [ResolvedAggregate]
  private let aggregateColumnCount: Int
  private var condition = ResolvedPredicate.constant(true)
  private let conditionText: String
  private var columns: GroupColumns
  private var sort: [(column: Int, isAscending: Bool)] = []
  private(set) var limit: Int?
  private(set) var offset = 0

  /// What a grouping says beyond its columns.
  struct Options {
    var condition = PredicateTree.constant(true)
    /// By the names of columns.
    var sort: [(name: String, isAscending: Bool)] = []
    /// Aggregates that these are about.
    var aggregates: [ResolvedAggregate] = []
    var limit: Int?
    var offset = 0
  }

  init(
    _ query: ResolvedQuery,
    by keyColumns: [QueryColumn],
    _ aggregates: [ResolvedAggregate],
    options: Options = Options()
  ) throws(QueryError) {
    self.query = query
    keys = keyColumns.map(\.path)
    keyOrigins = keyColumns.map(\.origin)
    self.aggregates = aggregates
    aggregateColumnCount = aggregates.count
    for extra in options.aggregates where !self.aggregates.contains(extra) { self.aggregates.append(extra) }
    columns = GroupColumns(
      keys.map { .init($0.name, $0.kind) } + self.aggregates.map { .init($0.name, $0.kind) },
      title: "A group of \(query.entity.name)"
    )
    conditionText = options.condition.description
    condition = try options.condition.resolved(for: columns.entity, in: columns)
    try checkThatConditionIsAboutColumns()
    for key in options.sort {
      guard let column = columns.place(of: key.name) else {
        throw QueryError(
          .unknownName,
          "The groups are neither by “\(key.name)” nor have such an aggregate: they can't be sorted by it.",
          keyPath: key.name
        )
      }
      try checkThatOneColumnIsCalled(key.name)
      sort.append((column, key.isAscending))
    }
    limit = options.limit
    offset = options.offset
  }

  /// The condition finds the objects on the way to a key too, which are no columns: `origin` where groups are by `origin.name`.
  private func checkThatConditionIsAboutColumns() throws(QueryError) {
    var names: [String] = []
    condition.forEachPath { names.append($0.name) }
    for name in names {
      guard columns.place(of: name) != nil else {
        throw QueryError(
          .unknownName,
          "The groups are neither by “\(name)” nor have such an aggregate: no condition can be about it.",
          keyPath: name
        )
      }
      try checkThatOneColumnIsCalled(name)
    }
  }

  /// In text, groups by an attribute `count` have a key of that name, and how many objects they have is called so too.
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

  /// What the rows are made of.
  var names: [String] { keys.map(\.name) + aggregates.prefix(aggregateColumnCount).map(\.name) }

  /// The rows: keys, then aggregates.
  func rows(in view: StoreView, context: ManagedObjectContext? = nil) throws -> [[AttributeValue]] {
    if limit == 0 { return [] }
    let groups = try groups(in: view, context)
    var rows: [[AttributeValue]]
    if condition == .constant(true) {
      rows = groups.candidates(wanted, by: order[0].column, isAscending: order[0].isAscending)
    } else {
      rows = groups.rows
      rows.removeAll { !condition.matches(columns.row($0)) }
    }
    sort(&rows)
    let columnCount = keys.count + aggregateColumnCount
    let rest = rows.dropFirst(offset)
    return (limit.map { rest.prefix($0) } ?? rest).map { Array($0.prefix(columnCount)) }
  }

  private func groups(in view: StoreView, _ context: ManagedObjectContext?) throws -> GroupRows {
    if keys.isEmpty {
      return GroupRows([try RowAggregates(query, aggregates).values(in: view, context: context)])
    }
    var executor = try executor(in: view, context)
    if let counted = try IndexGroups(executor, by: keys, aggregates)?.rows() { return GroupRows(counted) }
    return GroupRows(try executor.aggregate(aggregates, by: keys))
  }

  /// How many rows, in their order, can be among the results.
  private var wanted: Int {
    guard let sum = limit?.addingReportingOverflow(offset), !sum.overflow else { return .max }
    return sum.partialValue
  }

  private func executor(in view: StoreView, _ context: ManagedObjectContext?) throws -> QueryExecutor {
    try QueryExecutor(
      query,
      for: .aggregates(aggregates, by: keys, of: query),
      in: view,
      context: context
    )
  }

  /// By the sort keys, then by the groups' own, or what there is where all rows are one group.
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

  /// How the query is answered.
  func plan(
    in view: StoreView,
    context: ManagedObjectContext? = nil,
    analyze: Bool = false
  ) throws -> QueryPlan {
    let plan = try plan(in: view, context)
    return try analyze ? plan.measured(in: view) { try rows(in: view, context: context).count } : plan
  }

  private func plan(in view: StoreView, _ context: ManagedObjectContext?) throws -> QueryPlan {
    if keys.isEmpty { return try RowAggregates(query, aggregates).plan(in: view, context: context) }
    let executor = try executor(in: view, context)
    var plan = executor.plan.explanation
    let source = try IndexGroups(executor, by: keys, aggregates).map { "index \($0.index.name)" }
    plan.grouping = QueryPlan.Grouping(
      keys: keys.map(\.name),
      aggregates: aggregates.map { .init(name: $0.name, source: source) },
      condition: condition == .constant(true) ? nil : conditionText,
      order: sort.map { "\(columnName($0.column)) \($0.isAscending ? "ascending" : "descending")" },
      limit: limit,
      offset: offset
    )
    return plan
  }

  private func columnName(_ column: Int) -> String {
    column < keys.count ? keys[column].name : aggregates[column - keys.count].name
  }
}

extension QueryPlanner.Purpose {
  /// To read what aggregates and their keys are of.
  static func aggregates(
    _ aggregates: [ResolvedAggregate],
    by keys: [ResolvedPath],
    of query: ResolvedQuery
  ) -> QueryPlanner.Purpose {
    // Which rows a limit leaves depends on their order.
    .values(keys + aggregates.compactMap(\.path), isOrdered: query.limit != nil || query.offset > 0)
  }
}

extension QueryExecutor {
  /// The groups, or the one group of all results: in one pass over the results' bytes.
  mutating func aggregate(
    _ aggregates: [ResolvedAggregate],
    by keys: [ResolvedPath]
  ) throws -> Aggregation {
    covering = .values
    var paths = RowPaths(entity.schema, in: view.schema.schema)
    var aggregation = Aggregation(aggregates, by: keys, &paths)
    try forEachResultInAnyOrder(&paths) { try aggregation.add(&$0) }
    return aggregation
  }
}
