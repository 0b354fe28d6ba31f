import Foundation
import Predicates
import Testing

/// The grammar, a row a test.
@Suite struct FormatGrammarTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let text: String
    let tree: PredicateTree
    init(_ text: String, _ tree: PredicateTree) {
      self.text = text
      self.tree = tree
    }
    var testDescription: String { text }
  }

  private static func compare(
    _ names: String,
    _ comparison: ComparisonOperator,
    _ value: AttributeValue,
    _ options: StringOptions = []
  ) -> PredicateTree {
    .comparison(
      .path(names.split(separator: ".").map(String.init)),
      comparison,
      .value(value),
      options
    )
  }

  private static func isIn(_ name: String, _ values: [AttributeValue]) -> PredicateTree {
    .membership(.path([name]), values.map(PredicateOperand.value), [])
  }

  private static let one = compare("a", .equal, .int(1))
  private static let two = compare("b", .equal, .int(2))
  private static let three = compare("c", .equal, .int(3))

  static let comparisons: [Row] = [
    Row("a = 1", one), Row("a == 1", one), Row("a==1", one), Row("(a) == 1", one), Row("((a == (1)))", one),
    Row("a != 1", compare("a", .notEqual, .int(1))), Row("a <> 1", compare("a", .notEqual, .int(1))),
    Row("a < 1", compare("a", .less, .int(1))),
    Row("a <= 1", compare("a", .lessOrEqual, .int(1))), Row("a =< 1", compare("a", .lessOrEqual, .int(1))),
    Row("a > 1", compare("a", .greater, .int(1))),
    Row("a >= 1", compare("a", .greaterOrEqual, .int(1))),
    Row("a => 1", compare("a", .greaterOrEqual, .int(1))),
    Row("5 < a", .comparison(.value(.int(5)), .less, .path(["a"]), [])),
    Row("a == b", .comparison(.path(["a"]), .equal, .path(["b"]), [])),
    Row("a.b.c == 1", compare("a.b.c", .equal, .int(1))), Row("a . b == 1", compare("a.b", .equal, .int(1))),
    Row("a BEGINSWITH 'x'", compare("a", .beginsWith, .string("x"))),
    Row("a beginswith[c] 'x'", compare("a", .beginsWith, .string("x"), .caseInsensitive)),
    Row("a EndsWith [ C ] 'x'", compare("a", .endsWith, .string("x"), .caseInsensitive)),
    Row("a CONTAINS[cc] 'x'", compare("a", .contains, .string("x"), .caseInsensitive)),
    Row("a ==[c] 'x'", compare("a", .equal, .string("x"), .caseInsensitive)),
    Row("a IN {}", isIn("a", [])), Row("a in {1}", isIn("a", [.int(1)])),
    Row("a IN {1, 'x', nil, TRUE}", isIn("a", [.int(1), .string("x"), .null, .bool(true)])),
    Row("a IN {b}", .membership(.path(["a"]), [.path(["b"])], [])),
    Row("a IN 'xyz'", .comparison(.value(.string("xyz")), .contains, .path(["a"]), [])),
    Row("a BETWEEN {1, 5}", .between(.path(["a"]), .value(.int(1)), .value(.int(5)))),
    Row("a between {-1, b}", .between(.path(["a"]), .value(.int(-1)), .path(["b"]))),
    Row("SELF == a", .comparison(.object, .equal, .path(["a"]), [])), Row("SELF.a == 1", one),
    Row("self.a == 1", one),
    Row("isLate", compare("isLate", .equal, .bool(true))),
    Row("(isLate)", compare("isLate", .equal, .bool(true))),
    Row("NOT isLate", .not(compare("isLate", .equal, .bool(true)))),
    Row("TRUEPREDICATE", .constant(true)), Row("falsepredicate", .constant(false)),
    Row("TRUE", .constant(true)),
  ]

  static let combinations: [Row] = [
    Row("a == 1 AND b == 2", .and([one, two])), Row("a == 1 && b == 2", .and([one, two])),
    Row("a == 1&&b == 2", .and([one, two])), Row("a == 1 and b == 2 And c == 3", .and([one, two, three])),
    Row("a == 1 OR b == 2", .or([one, two])), Row("a == 1 || b == 2 or c == 3", .or([one, two, three])),
    Row("NOT a == 1", .not(one)), Row("! a == 1", .not(one)), Row("!(a == 1)", .not(one)),
    Row("not not a == 1", .not(.not(one))), Row("!!a == 1", .not(.not(one))),
    Row("a == 1 OR b == 2 AND c == 3", .or([one, .and([two, three])])),
    Row("a == 1 AND b == 2 OR c == 3", .or([.and([one, two]), three])),
    Row("(a == 1 OR b == 2) AND c == 3", .and([.or([one, two]), three])),
    Row("NOT a == 1 AND b == 2", .and([.not(one), two])),
    Row("NOT (a == 1 AND b == 2)", .not(.and([one, two]))),
    Row("(a == 1 OR b == 2) OR c == 3", .or([one, two, three])),
    Row(" \n\t( a == 1 )\r\n", one),
  ]

  private static let literalValues: [(text: String, value: AttributeValue)] = [
    ("0", .int(0)), ("-1", .int(-1)), ("- 1", .int(-1)), ("0x1F", .int(31)), ("0o17", .int(15)),
    ("0b101", .int(5)), ("-0x10", .int(-16)), ("007", .int(7)),
    ("9223372036854775807", .int(.max)), ("-9223372036854775808", .int(.min)),
    ("9223372036854775808", .uint(1 << 63)), ("18446744073709551615", .uint(.max)),
    ("1.5", .double(1.5)), (".5", .double(0.5)), ("5.", .double(5)), ("1e3", .double(1000)),
    ("9.2e-5", .double(9.2e-5)), ("1E+2", .double(100)), ("-2.5", .double(-2.5)), ("1.0", .double(1)),
    ("100000000000000000000", .double(1e20)), ("0.1", .double(0.1)),
    ("'x'", .string("x")), ("\"x\"", .string("x")), ("''", .string("")), ("\"it's\"", .string("it's")),
    ("'100%'", .string("100%")), ("'%@'", .string("%@")), ("'Zoë 🎉'", .string("Zoë 🎉")),
    (#"'\n\t\r\\\'\"'"#, .string("\n\t\r\\'\"")), (#"'\101\x41\u0041\U0041'"#, .string("AAAA")),
    (#"'\ud83c\udf89'"#, .string("🎉")), (#"'\0'"#, .string("\0")),
    ("TRUE", .bool(true)), ("yes", .bool(true)), ("False", .bool(false)), ("NO", .bool(false)),
    ("nil", .null), ("NULL", .null), ("Nil", .null),
    ("CAST(5, 'NSDate')", .date(Date(timeIntervalSinceReferenceDate: 5))),
    ("CAST(-0.5, 'Date')", .date(Date(timeIntervalSinceReferenceDate: -0.5))),
    ("CAST('nan', 'Double')", .double(.nan)), ("CAST('-inf', 'Double')", .double(-.infinity)),
    ("CAST('AAEC', 'NSData')", .data(Data([0, 1, 2]))), ("CAST('42', 'ObjectID')", .reference(42)),
  ]

  static let literals: [Row] = literalValues.map { Row("a == \($0.text)", compare("a", .equal, $0.value)) }

  private static let escapedNames: [(text: String, name: String)] = [
    ("#in", "in"), ("#NOT", "NOT"), ("#a", "a"), ("first", "first"), ("size", "size"), ("_x1", "_x1"),
    ("größe", "größe"), ("数量", "数量"), ("`two words`", "two words"), ("`a\\`b`", "a`b"), ("AND_", "AND_"),
    ("inside", "inside"), ("ın", "ın"), ("union", "union"),
  ]

  static let names: [Row] = escapedNames.map {
    Row("\($0.text) == 1", .comparison(.path([$0.name]), .equal, .value(.int(1)), []))
  }

  static let paths: [Row] = [
    Row("a.first == 1", compare("a.first", .equal, .int(1))),
    Row("a.in == 1", compare("a.in", .equal, .int(1))),
    Row("a.#in == 1", compare("a.in", .equal, .int(1))),
  ]

  static let allRows: [Row] = [comparisons, combinations, literals, names, paths].flatMap { $0 }

  @Test(arguments: allRows)
  func theTextMakesTheTree(_ row: Row) throws {
    #expect(try PredicateTree(format: row.text) == row.tree)
  }

  @Test(arguments: allRows)
  func whatIsPrintedParsesToTheSameTree(_ row: Row) throws {
    #expect(try PredicateTree(format: row.tree.description) == row.tree)
  }

  @Test func digitsThatADoubleRoundsAreKept() throws {
    let tree = try PredicateTree(format: "a == 1.00000005960464480001")
    guard case .comparison(_, _, let literal, _) = tree, case .digits(let digits) = literal.content else {
      Issue.record("\(tree)")
      return
    }
    #expect(digits.description == "1.00000005960464480001")
    #expect(digits.nearestFloat == Float(1).nextUp)
    #expect(Float(digits.nearestDouble) == 1)
  }
}
