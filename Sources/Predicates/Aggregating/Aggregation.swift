/// The computation of aggregates of groups of rows, in one pass over the rows' bytes.
package struct Aggregation {
  private let steps: [AggregateStep]
  /// The groups; nil where all rows are one group.
  private var groups: RowGroups?
  private var groupCount = 0
  /// The accumulators of the first group, one for each aggregate, those of the second, …
  private var accumulators: [Accumulator] = []

  /// Makes the computation.
  ///
  /// - Parameter paths: receives the paths that are read of the rows.
  package init(
    _ aggregates: [ResolvedAggregate],
    by keys: [ResolvedPath],
    _ paths: inout RowPaths
  ) {
    var fields: [RowField] = []
    for key in keys { fields.append(paths.field(for: key)) }
    var steps: [AggregateStep] = []
    for aggregate in aggregates {
      let field = aggregate.path.map { paths.field(for: $0) }
      steps.append(AggregateStep(aggregate.function.aggregate, of: field))
    }
    self.steps = steps
    groups = keys.isEmpty ? nil : RowGroups(fields, paths)
    if keys.isEmpty { addGroup() }
  }

  private mutating func addGroup() {
    groupCount += 1
    for _ in steps { accumulators.append(Accumulator()) }
  }

  /// Adds the row that the reader has begun.
  package mutating func add(_ row: inout RowReader) throws {
    let group = try groups?.group(of: &row) ?? 0
    if group == groupCount { addGroup() }
    let first = group * steps.count
    for place in steps.indices { try steps[place].add(&row, to: &accumulators[first + place]) }
  }
}

// MARK: - Results

extension Aggregation {
  /// The number of groups. Groups are numbered in the order in which they were first seen.
  package var count: Int { groupCount }

  /// Returns the row of a group: the values of the keys first, and then the aggregates.
  package func row(of group: Int) -> [AttributeValue] {
    var row = groups?.values(of: group) ?? []
    row.reserveCapacity(row.count + steps.count)
    for place in steps.indices { row.append(result(place, of: group)) }
    return row
  }

  /// Returns one value of a group's row.
  package func value(_ column: Int, of group: Int) -> AttributeValue {
    let keyCount = groups?.keyCount ?? 0
    if column < keyCount { return groups?.values(of: group)[column] ?? .null }
    return result(column - keyCount, of: group)
  }

  private func result(_ place: Int, of group: Int) -> AttributeValue {
    steps[place].value(of: accumulators[group * steps.count + place])
  }
}
