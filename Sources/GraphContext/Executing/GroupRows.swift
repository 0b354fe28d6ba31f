import Predicates

/// Groups whose rows are made on demand, because only few rows of many groups may be wanted.
struct GroupRows {
  let count: Int
  /// A function that returns the row of a group, counted from 0.
  private let row: (Int) -> [AttributeValue]
  /// A function that returns one column of a group's row.
  private let value: (_ column: Int, _ group: Int) -> AttributeValue

  init(_ rows: [[AttributeValue]]) {
    count = rows.count
    row = { rows[$0] }
    value = { column, group in rows[group][column] }
  }

  init(_ aggregation: Aggregation) {
    count = aggregation.count
    row = { aggregation.row(of: $0) }
    value = { column, group in aggregation.value(column, of: group) }
  }

  var rows: [[AttributeValue]] { (0..<count).map(row) }

  /// Returns the candidates for the first `wanted` rows in an order that begins with a column: every row that can
  /// be one of these, ties included. O(groups) as a rule.
  func candidates(_ wanted: Int, by column: Int, isAscending: Bool) -> [[AttributeValue]] {
    if wanted >= count / 2 { return rows }
    func isBefore(_ a: AttributeValue, _ b: AttributeValue) -> Bool {
      let order = ValueComparison.sortOrder(a, b)
      return isAscending ? order < 0 : order > 0
    }
    let values = (0..<count).map { value(column, $0) }
    // The first values met so far, and some more; values after `last` are not among them.
    var first: [AttributeValue] = []
    var last: AttributeValue?
    for value in values {
      if let last, !isBefore(value, last) { continue }
      first.append(value)
      guard first.count == 2 * wanted else { continue }
      first.sort(by: isBefore)
      first.removeLast(wanted)
      last = first.last
    }
    first.sort(by: isBefore)
    let bound = first[wanted - 1]
    return values.indices.filter { !isBefore(bound, values[$0]) }.map(row)
  }
}
