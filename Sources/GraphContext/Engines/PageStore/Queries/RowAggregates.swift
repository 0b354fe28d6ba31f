import Predicates

/// Aggregates of all rows of a query. Aggregates that follow from an index or its counts are read there, in
/// O(log n). The others are computed in one pass over the rows.
struct RowAggregates {
  private let query: ResolvedQuery
  private let aggregates: [ResolvedAggregate]
  private let view: StoreView
  private let layers: UnsavedLayers?

  init(
    _ query: ResolvedQuery,
    _ aggregates: [ResolvedAggregate],
    in view: StoreView,
    over layers: UnsavedLayers?
  ) {
    self.query = query
    self.aggregates = aggregates
    self.view = view
    self.layers = layers
  }

  /// Returns the values, in the order of the aggregates.
  func values() throws -> [AttributeValue] {
    var values: [AttributeValue?] = []
    for aggregate in aggregates { values.append(try lookup(aggregate)?.value()) }
    let rest = aggregates.indices.filter { values[$0] == nil }
    if !rest.isEmpty {
      let row = try scan(rest)
      for (place, value) in zip(rest, row) { values[place] = value }
    }
    return values.map { $0 ?? .null }
  }

  private func scan(_ places: [Int]) throws -> [AttributeValue] {
    let aggregates = places.map { self.aggregates[$0] }
    var executor = try QueryExecutor(
      query,
      for: .aggregates(aggregates, by: [], of: query),
      in: view,
      over: layers
    )
    return try executor.aggregate(aggregates, by: []).row(of: 0)
  }

  /// Returns how the query is answered: the plan of the pass over the rows if there is one, else that of the first
  /// lookup.
  func plan() throws -> QueryPlan {
    let lookups = try aggregates.map { try lookup($0) }
    let rest = aggregates.indices.filter { lookups[$0] == nil }.map { aggregates[$0] }
    var plan: QueryPlan
    if rest.isEmpty, let first = lookups.first.flatMap({ $0 }) {
      plan = first.executor.plan.explanation
    } else {
      plan = try QueryExecutor(
        query,
        for: .aggregates(rest, by: [], of: query),
        in: view,
        over: layers
      ).plan.explanation
    }
    plan.grouping = QueryPlan.Grouping(
      keys: [],
      aggregates: zip(aggregates, lookups).map { .init(name: $0.name, source: $1?.source) },
      condition: nil,
      order: [],
      limit: nil,
      offset: 0
    )
    return plan
  }
}

// MARK: - Lookups

extension RowAggregates {
  /// A lookup of an aggregate, which reads at most a few entries.
  private struct Lookup {
    let function: AggregateFunction
    let path: ResolvedPath?
    var executor: QueryExecutor

    /// The name of the source that is read.
    var source: String {
      // Every index has all objects, so its count is the number of objects.
      guard case .index(let scan) = executor.plan.access, function != .count || !scan.isWhole else {
        return "the number of objects"
      }
      return "index \(scan.index.name)"
    }

    func value() throws -> AttributeValue {
      switch function {
      case .count: return .int(Int64(try executor.count()))
      case .median: return try median()
      default: return try entries(from: 0, count: 1).first ?? .null
      }
    }

    private func median() throws -> AttributeValue {
      let count = executor.plan.access.rowCount
      if count == 0 { return .null }
      let middle = try entries(from: (count - 1) / 2, count: 2 - count % 2)
      guard let first = middle.first, let last = middle.last else { return .null }
      return .mean(first, last)
    }

    private func entries(from offset: Int, count: Int) throws -> [AttributeValue] {
      guard let path else { return [] }
      let part = executor.slice(offset, count)
      var paths = part.emptyPaths()
      let field = paths.field(for: path)
      var values: [AttributeValue] = []
      var results = try part.results(&paths, records: .always)
      var reader = part.reader(paths)
      while try results.next(&reader) != nil { values.append(try reader.value(of: field).withOneSpelling) }
      return values
    }
  }

  /// Returns the lookup for an aggregate; nil if the rows have to be read.
  private func lookup(_ aggregate: ResolvedAggregate) throws -> Lookup? {
    guard let path = aggregate.path else {
      let executor = try lookup(query, for: .count)
      return executor.plan.isCountExact ? Lookup(function: .count, path: nil, executor: executor) : nil
    }
    guard query.limit == nil, query.offset == 0, path.hops.isEmpty else { return nil }
    var part = query
    switch aggregate.function {
    case .sum, .average: return nil
    case .count:
      part.predicate = .all([query.predicate, Normaliser.normalise(.not(.isNull(path)))])
      let executor = try lookup(part, for: .count)
      return executor.plan.isCountExact ? Lookup(function: .count, path: path, executor: executor) : nil
    case .minimum, .maximum, .median:
      let comparable = ResolvedPredicate.within(path, ValueRange(lower: nil, upper: nil))
      part.predicate = .all([query.predicate, Normaliser.normalise(comparable)])
      part.sort = [ResolvedSort(path, ascending: aggregate.function != .maximum)]
      var executor = try lookup(part, for: .values([path], isOrdered: true))
      executor.covering = .values
      let isReadable = executor.plan.isCovering && executor.plan.isInRankOrder
      // If unsaved rows lie among the others, ranks don't give the median.
      guard isReadable, aggregate.function != .median || executor.ownChanges == nil else { return nil }
      return Lookup(function: aggregate.function, path: path, executor: executor)
    }
  }

  /// Returns an executor whose planner reads no rows: a lookup uses indexes only, and the pass over the rows has a
  /// separate plan.
  private func lookup(
    _ query: ResolvedQuery,
    for purpose: QueryPlanner.Purpose
  ) throws -> QueryExecutor {
    try QueryExecutor(query, for: purpose, in: view, over: layers, samplingCost: .infinity)
  }
}
