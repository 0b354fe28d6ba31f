import Predicates
import Testing

@Suite struct VariableTests {
  private static var values: [String: (any PredicateArgument)?] {
    ["N": 5, "T": "x", "LIST": [1, 2], "RANGE": 1...3, "NIL": Int?.none, "A": AirportID(number: 7)]
  }

  static let rows: [(template: String, result: String)] = [
    ("month > $N", "month > 5"), ("month + $N > $N * 2", "month + 5 > 5 * 2"),
    ("month IN $LIST", "month IN {1, 2}"),
    ("month IN $RANGE", "month BETWEEN {1, 3}"), ("month IN {$N, 6}", "month IN {5, 6}"),
    ("month BETWEEN {$N, 9}", "month BETWEEN {5, 9}"), ("title CONTAINS[c] $T", "title CONTAINS[c] 'x'"),
    ("delay == $NIL", "delay == nil"), ("origin == $A", "origin == CAST('Airport/7', 'ObjectID')"),
    ("NOT (month == $N OR month == $LATER)", "NOT (month == 5 OR month == $LATER)"),
    ("ANY legs.minutes > $N", "ANY legs.minutes > 5"),
    ("TERNARY(month == $N, 1, $N) == 1", "TERNARY(month == 5, 1, 5) == 1"),
    ("SUBQUERY(legs, $N, $N.minutes > $T).@count > $N", "SUBQUERY(legs, $N, $N.minutes > 'x').@count > 5"),
  ]

  @Test(arguments: rows)
  func variablesAreReplacedByValues(_ row: (template: String, result: String)) throws {
    let template = try PredicateTree(format: row.template)
    #expect(try template.replacingVariables(Self.values) == PredicateTree(format: row.result))
    #expect(
      try Where<Flight>(template).replacingVariables(Self.values).tree == PredicateTree(format: row.result)
    )
  }

  @Test func valuesThatDoNotGoAreAnError() throws {
    for text in ["month == $LIST", "month > $RANGE", "$A.name == 'x'"] {
      let template = try PredicateTree(format: text)
      let error = performing { () throws(QueryError) in _ = try template.replacingVariables(Self.values) }
      #expect(error?.code == .arguments, "\(text)")
      #expect(error?.column != nil)
    }
  }
}
