import Foundation
import Predicates
import Testing

/// The grammar, a row a test.
struct FormatGrammarTests {
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
    Row("a ==[d] 'x'", compare("a", .equal, .string("x"), .diacriticInsensitive)),
    Row("a !=[n] 'x'", compare("a", .notEqual, .string("x"), .normalized)),
    Row("a <[cd] 'x'", compare("a", .less, .string("x"), [.caseInsensitive, .diacriticInsensitive])),
    Row(
      "a >=[dC] 'x'",
      compare("a", .greaterOrEqual, .string("x"), [.caseInsensitive, .diacriticInsensitive])
    ),
    Row("a CONTAINS[ncd] 'x'", compare("a", .contains, .string("x"), StringOptions(rawValue: 7))),
    Row("a LIKE 'x*?'", compare("a", .like, .string("x*?"))),
    Row("a like[cd] 'x'", compare("a", .like, .string("x"), [.caseInsensitive, .diacriticInsensitive])),
    Row("a LIKE 'x\\\\*'", compare("a", .like, .string("x\\*"))),
    Row("a Matches 'x+'", compare("a", .matches, .string("x+"))),
    Row("a MATCHES[c] 'x+'", compare("a", .matches, .string("x+"), .caseInsensitive)),
    Row(
      "a IN[dn] {'x'}",
      .membership(.path(["a"]), [.value(.string("x"))], [.diacriticInsensitive, .normalized])
    ),
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
    ("#like", "like"), ("inside", "inside"), ("likes", "likes"), ("ın", "ın"), ("union", "union"),
  ]

  static let names: [Row] = escapedNames.map {
    Row("\($0.text) == 1", .comparison(.path([$0.name]), .equal, .value(.int(1)), []))
  }

  static let paths: [Row] = [
    Row("a.first == 1", compare("a.first", .equal, .int(1))),
    Row("a.in == 1", compare("a.in", .equal, .int(1))),
    Row("a.#in == 1", compare("a.in", .equal, .int(1))),
  ]

  private static func more(_ left: PredicateOperand, _ bound: Int64 = 1) -> PredicateTree {
    .comparison(left, .greater, .value(.int(bound)), [])
  }
  private static func call(
    _ function: PredicateFunction,
    _ arguments: PredicateOperand...
  ) -> PredicateOperand {
    PredicateOperand(.function(function, arguments))
  }
  private static func aggregate(
    _ aggregate: PredicateAggregate,
    _ names: [String],
    _ element: [String] = [],
    variable: String? = nil,
    where condition: PredicateTree? = nil,
    isDistinct: Bool = false
  ) -> PredicateOperand {
    let filter = condition.map { PredicateCollection.Filter(variable: "x", condition: $0) }
    let collection = PredicateCollection(
      variable: variable,
      names: names,
      filter: filter,
      element: element,
      isDistinct: isDistinct
    )
    return PredicateOperand(.aggregate(aggregate, collection))
  }
  private static let a = PredicateOperand.path(["a"])
  private static let b = PredicateOperand.path(["b"])
  private static let twice = PredicateOperand.value(.int(2))
  private static let xb = PredicateOperand(.variable("x", ["b"]))

  static let arithmetic: [Row] = [
    Row("a + 2 > 1", more(call(.add, a, twice))), Row("a - b > 1", more(call(.subtract, a, b))),
    Row("a -2 > 1", more(call(.subtract, a, twice))), Row("a * 2 > 1", more(call(.multiply, a, twice))),
    Row("a / 2 > 1", more(call(.divide, a, twice))), Row("a %% 2 > 1", more(call(.modulus, a, twice))),
    Row("a ** 2 > 1", more(call(.power, a, twice))), Row("-a > 1", more(call(.negate, a))),
    Row("~a > 1", more(call(.onesComplement, a))), Row("a & 2 > 1", more(call(.bitwiseAnd, a, twice))),
    Row("a | 2 > 1", more(call(.bitwiseOr, a, twice))), Row("a ^ 2 > 1", more(call(.bitwiseXor, a, twice))),
    Row("a << 2 > 1", more(call(.leftShift, a, twice))), Row("a >> 2 > 1", more(call(.rightShift, a, twice))),
    Row("a + b * 2 > 1", more(call(.add, a, call(.multiply, b, twice)))),
    Row("(a + b) * 2 > 1", more(call(.multiply, call(.add, a, b), twice))),
    Row("a - b - 2 > 1", more(call(.subtract, call(.subtract, a, b), twice))),
    Row("a - (b - 2) > 1", more(call(.subtract, a, call(.subtract, b, twice)))),
    Row("-a ** 2 > 1", more(call(.power, call(.negate, a), twice))),
    Row("-(a ** 2) > 1", more(call(.negate, call(.power, a, twice)))),
    Row("-(2) > 1", more(call(.negate, twice))),
    Row("a - -2 > 1", more(call(.subtract, a, .value(.int(-2))))),
    Row("(a + 2) > 1", more(call(.add, a, twice))), Row("((a) + (2)) > 1", more(call(.add, a, twice))),
    Row("a + 1 > 1 AND b == 2", .and([more(call(.add, a, .value(.int(1)))), two])),
    Row("1 < a + 2", .comparison(.value(.int(1)), .less, call(.add, a, twice), [])),
    Row("a IN {b + 2}", .membership(a, [call(.add, b, twice)], [])),
    Row(
      "a + 2 BETWEEN {1, b * 2}",
      .between(call(.add, a, twice), .value(.int(1)), call(.multiply, b, twice))
    ),
  ]

  static let functions: [Row] = [
    Row("abs(a) > 1", more(call(.absolute, a))), Row("abs:(a) > 1", more(call(.absolute, a))),
    Row("sqrt(a) > 1", more(call(.squareRoot, a))), Row("log(a) > 1", more(call(.logarithm, a))),
    Row("ln(a) > 1", more(call(.naturalLogarithm, a))), Row("exp(a) > 1", more(call(.exponential, a))),
    Row("floor(a) > 1", more(call(.floor, a))), Row("ceiling(a) > 1", more(call(.ceiling, a))),
    Row("round(a) > 1", more(call(.round, a))), Row("trunc(a) > 1", more(call(.truncate, a))),
    Row("lowercase(a) > 1", more(call(.lowercase, a))), Row("uppercase(a) > 1", more(call(.uppercase, a))),
    Row("length(a) > 1", more(call(.length, a))), Row("trim(a) > 1", more(call(.trim, a))),
    Row("now() > 1", more(call(.now))), Row("year(a) > 1", more(call(.year, a))),
    Row("month(a) > 1", more(call(.month, a))), Row("day(a) > 1", more(call(.day, a))),
    Row("hour(a) > 1", more(call(.hour, a))), Row("minute(a) > 1", more(call(.minute, a))),
    Row("second(a) > 1", more(call(.second, a))), Row("weekday(a) > 1", more(call(.weekday, a))),
    Row("min(a, b) > 1", more(call(.minimum, a, b))), Row("max({a, b}) > 1", more(call(.maximum, a, b))),
    Row("sum({a, 2}) > 1", more(call(.sum, a, twice))), Row("average(a, b) > 1", more(call(.average, a, b))),
    Row("multiply:by:(a, 2) > 1", more(call(.multiply, a, twice))),
    Row("add:to:(a, 2) > 1", more(call(.add, a, twice))),
    Row("FUNCTION(a, 'divide:by:', 2) > 1", more(call(.divide, a, twice))),
    Row("FUNCTION(a, 'uppercase:') > 1", more(call(.uppercase, a))),
    Row("CAST(a, 'NSDate') > 1", more(call(.toDate, a))),
    Row("CAST(a, 'NSString') > 1", more(call(.toText, a))),
    Row("CAST(a, 'NSNumber') > 1", more(call(.toNumber, a))),
    Row("CAST(5, 'NSString') > 1", more(call(.toText, .value(.int(5))))),
    Row("CAST('5', 'NSNumber') > 1", more(call(.toNumber, .value(.string("5"))))),
    Row("CAST('2013-01-01', 'NSDate') > 1", more(call(.toDate, .value(.string("2013-01-01"))))),
    Row("TERNARY(a == 1, b, 2) > 1", more(PredicateOperand(.conditional(one, b, twice)))),
    Row(
      "TERNARY(a == 1 OR b == 2, b, a + b) > 1",
      more(PredicateOperand(.conditional(.or([one, two]), b, call(.add, a, b))))
    ),
    Row("abs(abs(a)) > 1", more(call(.absolute, call(.absolute, a)))),
    Row("abs > 1", more(.path(["abs"]))), Row("length(a) + 2 > 1", more(call(.add, call(.length, a), twice))),
  ]

  static let collections: [Row] = [
    Row("ANY a.b == 1", .quantified(.any, compare("a.b", .equal, .int(1)))),
    Row("SOME a.b == 1", .quantified(.any, compare("a.b", .equal, .int(1)))),
    Row("ALL a.b == 1", .quantified(.all, compare("a.b", .equal, .int(1)))),
    Row("none a.b == 1", .quantified(.none, compare("a.b", .equal, .int(1)))),
    Row("ANY a IN {1}", .quantified(.any, isIn("a", [.int(1)]))),
    Row("ALL a BETWEEN {1, 2}", .quantified(.all, .between(a, .value(.int(1)), twice))),
    Row("ANY a.b", .quantified(.any, compare("a.b", .equal, .bool(true)))),
    Row(
      "NOT ANY a.b == 1 AND b == 2",
      .and([.not(.quantified(.any, compare("a.b", .equal, .int(1)))), two])
    ),
    Row("a.@count > 1", more(aggregate(.count, ["a"]))),
    Row("a.b.@count > 1", more(aggregate(.count, ["a", "b"]))),
    Row("count(a) > 1", more(aggregate(.count, ["a"]))), Row("a[SIZE] > 1", more(aggregate(.count, ["a"]))),
    Row("a.@sum.b > 1", more(aggregate(.sum, ["a"], ["b"]))),
    Row("@sum.a.b > 1", more(aggregate(.sum, ["a", "b"]))),
    Row("sum(a.b) > 1", more(aggregate(.sum, ["a", "b"]))),
    Row("a.b.@sum > 1", more(aggregate(.sum, ["a", "b"]))),
    Row("a.@avg.b.c > 1", more(aggregate(.average, ["a"], ["b", "c"]))),
    Row("a.@min.b > 1", more(aggregate(.minimum, ["a"], ["b"]))),
    Row("a.@max.b > 1", more(aggregate(.maximum, ["a"], ["b"]))),
    Row("a.@median.b > 1", more(aggregate(.median, ["a"], ["b"]))),
    Row("mode(a.b) > 1", more(aggregate(.mode, ["a", "b"]))),
    Row("stddev(a.b) > 1", more(aggregate(.standardDeviation, ["a", "b"]))),
    Row("a[FIRST].b > 1", more(aggregate(.element(0), ["a"], ["b"]))),
    Row("a[LAST] > 1", more(aggregate(.last, ["a"]))),
    Row("a[3].b > 1", more(aggregate(.element(3), ["a"], ["b"]))),
    Row("a[-1].b > 1", more(aggregate(.element(-1), ["a"], ["b"]))),
    Row("a.@distinctUnionOfObjects.b.@count > 1", more(aggregate(.count, ["a"], ["b"], isDistinct: true))),
    Row("a.@unionOfObjects.b.@count > 1", more(aggregate(.count, ["a"], ["b"]))),
    Row(
      "SUBQUERY(a, $x, $x.b == 2).@count > 1",
      more(aggregate(.count, ["a"], where: .comparison(xb, .equal, twice, [])))
    ),
    Row(
      "SUBQUERY(a, $x, $x.b == a OR $x == SELF).@sum.b > 1",
      more(
        aggregate(
          .sum,
          ["a"],
          ["b"],
          where: .or([
            .comparison(xb, .equal, a, []),
            .comparison(PredicateOperand(.variable("x", [])), .equal, .object, []),
          ])
        )
      )
    ),
    Row(
      "count(SUBQUERY(a, $x, $x.b == 2)) > 1",
      more(aggregate(.count, ["a"], where: .comparison(xb, .equal, twice, [])))
    ),
    Row(
      "SUBQUERY(a, $x, SUBQUERY($x.b, $x, $x.b == 2).@count > 1).@count > 1",
      more(
        aggregate(
          .count,
          ["a"],
          where: more(aggregate(.count, ["b"], variable: "x", where: .comparison(xb, .equal, twice, [])))
        )
      )
    ),
    Row("$v == 1", .comparison(PredicateOperand(.variable("v", [])), .equal, .value(.int(1)), [])),
    Row("a == $v", .comparison(a, .equal, PredicateOperand(.variable("v", [])), [])),
    Row("'x' IN a.b", .comparison(.path(["a", "b"]), .contains, .value(.string("x")), [])),
  ]

  static let allRows: [Row] = [
    comparisons, combinations, literals, names, paths, arithmetic, functions, collections,
  ].flatMap { $0 }

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
