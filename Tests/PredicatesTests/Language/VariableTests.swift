import Predicates
import Testing

struct VariableTests {
  private static var values: [String: (any PredicateArgument)?] {
    [
      "N": 5, "T": "x", "LIST": [1, 2], "RANGE": 1...3, "NIL": Int?.none, "A": AirportID(number: 7),
      "HALF": 1..<3, "THREE": [1, 2, 3], "NESTED": [[1], [2]],
    ]
  }

  static let rows: [(template: String, result: String)] = [
    ("month > $N", "month > 5"), ("month + $N > $N * 2", "month + 5 > 5 * 2"),
    ("month IN $LIST", "month IN {1, 2}"),
    ("month IN $RANGE", "month BETWEEN {1, 3}"), ("month IN {$N, 6}", "month IN {5, 6}"),
    ("month BETWEEN $LIST", "month BETWEEN {1, 2}"), ("month BETWEEN $RANGE", "month BETWEEN {1, 3}"),
    ("ANY legs.minutes BETWEEN $LIST", "ANY legs.minutes BETWEEN {1, 2}"),
    ("month IN $HALF", "month >= 1 AND month < 3"),
    ("ANY legs.minutes IN $RANGE", "ANY legs.minutes BETWEEN {1, 3}"),
    ("ANY legs.minutes IN $HALF", "ANY (legs.minutes >= 1 AND legs.minutes < 3)"),
    ("NOT NONE legs.minutes IN $HALF", "NOT NONE (legs.minutes >= 1 AND legs.minutes < 3)"),
    ("month + $N BETWEEN $LATER", "month + 5 BETWEEN $LATER"),
    ("month BETWEEN {$N, $N}", "month BETWEEN {5, 5}"),
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

  @Test func aRangeToComePrintsAsItIsRead() throws {
    let tree = try PredicateTree(format: "month BETWEEN $R")
    #expect(tree.description == "month BETWEEN $R")
    #expect(try PredicateTree(format: tree.description) == tree)
    #expect(tree != (try PredicateTree(format: "month BETWEEN {$R, $R}")))
    #expect(throws: QueryError.self) { try PredicateTree(format: "month BETWEEN $R.bounds") }
    let flight = try FlightSchema.flight
    let error = performing { () throws(QueryError) in
      _ = try tree.resolved(for: flight, in: FlightSchema.shared)
    }
    #expect(error?.message == "The variable $R has no value.")
    #expect(error?.column == 14)
  }

  @Test func valuesThatDoNotGoAreAnError() throws {
    for text in [
      "month == $LIST", "month > $RANGE", "$A.name == 'x'", "month BETWEEN $N", "month BETWEEN $NIL",
      "month BETWEEN $A", "month BETWEEN $HALF", "month BETWEEN $THREE", "month BETWEEN $NESTED",
      "month BETWEEN {$LIST, 3}",
    ] {
      let template = try PredicateTree(format: text)
      let error = performing { () throws(QueryError) in _ = try template.replacingVariables(Self.values) }
      #expect(error?.code == .arguments, "\(text)")
      #expect(error?.column != nil)
    }
  }
}
