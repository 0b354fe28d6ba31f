import Foundation
import Predicates
import Testing

struct FormatErrorTests {
  /// The column is where the caret stands in the second string: `^` under the mistake.
  struct Row: Sendable, CustomTestStringConvertible {
    let text: String
    let caret: String
    let part: String
    let code: QueryError.Code
    init(_ text: String, _ caret: String, _ part: String, _ code: QueryError.Code = .syntax) {
      self.text = text
      self.caret = caret
      self.part = part
      self.code = code
    }
    var testDescription: String { text }
  }

  static let mistakes: [Row] = [
    Row("", "^", "Expected a value"),
    Row("   ", "   ^", "Expected a value"),
    Row("a ==", "    ^", "Expected a value"),
    Row("a == 1 AND", "          ^", "Expected a value"),
    Row("AND a == 1", "^", "not AND"),
    Row("a == 1 b == 2", "       ^", "Expected AND, OR"),
    Row("(a == 1", "       ^", "to close the parenthesis at column 0"),
    Row("a == 1)", "      ^", "no matching “(”"),
    Row("a == 'x", "     ^", "no closing quote"),
    Row("a == 'x\\q'", "       ^", "Unknown escape"),
    Row("a == '\\ud83c'", "      ^", "surrogate"),
    Row("`a == 1", "^", "backtick"),
    Row("a < b < c", "      ^", "don't chain"),
    Row("a == 1 == 2", "       ^", "don't chain"),
    Row("(a == 1) == 2", "         ^", "can't be compared"),
    Row("1 == (a == 1)", "     ^", "can't be compared"),
    Row("5", " ^", "no operator"),
    Row("5 AND a == 1", "^", "A value alone"),
    Row("a == 1 AND {1, 2}", "                 ^", "no operator"),
    Row("a.5 == 1", " ^", "Expected AND"),
    Row("a. == 1", "   ^", "name of a property"),
    Row("a == 5x", "      ^", "run into a name"),
    Row("a == 0xZZ", "     ^", "base 16"),
    Row("a == 1e", "     ^", "no digits"),
    Row("a == 1e999999999", "     ^", "out of range"),
    Row("a ? 1", "  ^", "Unexpected character “?”"),
    Row("größe == ; 1", "         ^", "Unexpected character “;”"),
    Row("a == “x”", "     ^", "quotation mark “: use ' or \" around"),
    Row("a == ’x’", "     ^", "quotation mark ’: use ' or \" around"),
    Row("🎉 == 1", "^", "Unexpected character “🎉”"),
    Row("'🎉🎉' == ; 1", "        ^", "Unexpected character “;”"),
    Row("a IN {1, 2", "          ^", "in the list"),
    Row("a IN {1, {2}}", "         ^", "values and paths only"),
    Row("a IN (a == 1)", "     ^", "can't be compared"),
    Row("a == {1}", "  ^", "IN and BETWEEN only"),
    Row("a BETWEEN {1}", "          ^", "two bounds"),
    Row("a BETWEEN 5", "          ^", "two bounds"),
    Row("a BETWEEN[c] {1, 2}", "  ^", "not supported after BETWEEN"),
    Row("a ==[x] 1", "     ^", "no option [x]"), Row("a ==[cx] 1", "      ^", "no option [x]"),
    Row("a ==[] 1", "     ^", "c, d or n"), Row("a LIKE", "      ^", "Expected a value"),
    Row("a LIKE {'x'}", "  ^", "IN and BETWEEN only"),
    Row("a BETWEEN[dn] {1, 2}", "  ^", "[dn] is not supported after"),
    Row("a ==[c 1", "       ^", "after the options"),
    Row("# == 1", "^", "spelled like a keyword"),
    Row("a == %", "     ^", "followed by nothing"),
    Row("a == %y", "     ^", "no known conversion"),
    Row("a == %s", "     ^", "pass a String"),
  ]

  static let unsupported: [Row] = [
    Row("a UTI-CONFORMS-TO 'x'", "  ^", "UTI-CONFORMS-TO"), Row("a uti-equals 'x'", "  ^", "UTI-EQUALS"),
    Row("ANYKEY == 1", "^", "ANYKEY"), Row("a.@every > 0", "  ^", "@every"),
    Row("@every.a > 0", "^", "@every"),
    Row("random() > 1", "^", "random(…)"), Row("a == CAST('x', 'Color')", "     ^", "CAST"),
    Row("CAST(a, 'Color') == 1", "^", "CAST"), Row("CAST('x', 'Number') == 1", "^", "CAST"),
    Row("CAST('x', 'Date') == b", "^", "CAST"), Row("CAST(nil, 'String') == 'x'", "^", "CAST"),
    Row("distanceToLocation:fromLocation:(a, b) < 1", "^", "distance"),
    Row("a ==[l] 'x'", "     ^", "[l]"), Row("a LIKE[cdl] 'x'", "         ^", "[l]"),
    Row("a UNION b == c", "  ^", "UNION"), Row("a := 1", "  ^", "(:=)"),
  ]

  static let misused: [Row] = [
    Row("lowercas(a) == 'x'", "^", "Did you mean lowercase(…)?"),
    Row("abs(a, b) > 1", "^", "1 argument, not 2"),
    Row("max() > 1", "^", "max takes 1 to 1000 arguments, not 0"),
    Row("now(a) > 1", "^", "0 arguments, not 1"),
    Row("SUBQUERY(a, $x) == 1", "^", "a path, a variable and a condition"),
    Row("SUBQUERY(1, $x, a == 1).@count > 0", "         ^", "a path to several objects"),
    Row("SUBQUERY(a, x, a == 1).@count > 0", "            ^", "variable such as $x"),
    Row("TERNARY(a, 1) == 1", "^", "a condition and two values"), Row("FUNCTION(a) == 1", "^", "in quotes"),
    Row("a[x] == 1", "  ^", "FIRST, LAST, SIZE"), Row("5[0] == 1", " ^", "several objects"),
    Row("a[-x] == 1", "   ^", "after the sign"), Row("a[-1.5] == 1", "   ^", "a whole number"),
    Row("ANY a.b > 1 AND NOT", "                   ^", "Expected a value"),
    Row("ANY (a.b > 1 AND a.c > 1)", "^", "one comparison"), Row("a == NOT b", "     ^", "not NOT"),
    Row("ANY (a.b > 1 AND a.c < 3)", "^", "one comparison"),
    Row("ANY (a.b < 3 AND a.b > 1)", "^", "one comparison"),
    Row("ANY (a.b > 1 OR a.b < 3)", "^", "one comparison"),
    Row("a.lowercase() == 1", "  ^", "before its arguments"), Row("a + == 1", "    ^", "Expected a value"),
    Row("a + {1} == 1", "    ^", "Expected a value after +"), Row("+a == 1", "^", "begin with +"),
    Row("a BETWEEN $r.b", "          ^", "two bounds"), Row("sum({}) > 1", "    ^", "several objects"),
  ]

  @Test(arguments: mistakes + misused)
  func aMistakeIsFoundAtItsColumn(_ row: Row) throws {
    let error = try #require(performing { () throws(QueryError) in _ = try PredicateTree(format: row.text) })
    #expect(error.code == row.code)
    #expect(error.column == row.caret.count - 1, "\(error)")
    #expect(error.source == row.text)
    #expect(error.message.contains(row.part), "\(error)")
  }

  @Test(arguments: unsupported)
  func whatIsNotSupportedIsRefusedByName(_ row: Row) throws {
    let error = try #require(performing { () throws(QueryError) in _ = try PredicateTree(format: row.text) })
    #expect(error.code == .syntax)
    #expect(error.column == row.caret.count - 1, "\(error)")
    #expect(error.message.contains(row.part) && error.message.contains("not supported"), "\(error)")
  }

  @Test func theDescriptionPutsACaretUnderTheColumn() throws {
    let error = try #require(
      performing { () throws(QueryError) in _ = try PredicateTree(format: "month == 1 AND\nday UNION 'x'") }
    )
    #expect(
      error.description == """
        The set operator UNION is not supported.
          month == 1 AND day UNION 'x'
                             ^
        """
    )
  }

  static let arguments: [(String, [FormatArgument], Int, String)] = [
    ("a == %@", [], 5, "none was passed"),
    ("a == %@ AND b == %d", [.value(.int(1))], 17, "only 1 was passed"),
    ("a == 1", [.value(.int(1))], 6, "1 argument was passed, and the text has no placeholder."),
    (
      "a == %d", [.value(.int(1)), .value(.int(2))], 7,
      "2 arguments were passed, and the text has 1 placeholder."
    ),
    (
      "a == %d OR a == %d", [.value(.int(1)), .value(.int(2)), .value(.int(3))], 18,
      "3 arguments were passed, and the text has 2 placeholders."
    ),
    ("a == %d", [.value(.string("1"))], 5, "%d takes an integer"),
    ("a == %ld", [.value(.double(1))], 5, "%ld takes an integer"),
    ("a == %f", [.value(.string("x"))], 5, "%f takes a number"),
    ("%K == 1", [.value(.int(1))], 0, "%K takes a key path"),
    ("%K == 1", [.value(.string("a..b"))], 0, "“a..b” is no key path"),
    ("a IN %@", [.list([.list([])])], 5, "list in a list"),
  ]

  @Test(arguments: arguments)
  func argumentsThatDoNotFitAreFoundAtTheirPlaceholder(
    _ text: String,
    _ arguments: [FormatArgument],
    _ column: Int,
    _ part: String
  ) throws {
    let error = try #require(
      performing { () throws(QueryError) in _ = try PredicateTree(format: text, arguments: arguments) }
    )
    #expect(error.code == .arguments)
    #expect(error.column == column)
    #expect(error.message.contains(part), "\(error)")
  }

  @Test func placeholdersTakeTheirArgumentsInOrder() throws {
    let tree = try PredicateTree(
      format: "%K == %d AND b.%K == %lld AND c == %u AND d > %f AND e < %g AND f == %i AND g == %x",
      arguments: ["a.x", 1, "y", Int64(2), UInt64.max, 1.5, 2, Int8(3), nil]
    )
    #expect(
      tree.description
        == "a.x == 1 AND b.y == 2 AND c == 18446744073709551615 AND d > 1.5 AND e < 2.0 AND f == 3 AND g == nil"
    )
  }

  @Test func anArgumentIsNeverReadAsText() throws {
    let hostile = "x' OR TRUEPREDICATE OR '%@"
    let tree = try PredicateTree(format: "a == %@", arguments: [hostile])
    #expect(tree == .comparison(.path(["a"]), .equal, .value(.string(hostile)), []))
    let path = try PredicateTree(format: "%K == 1", arguments: ["a == 1 OR b"])
    #expect(path == .comparison(.path(["a == 1 OR b"]), .equal, .value(.int(1)), []))
  }
}
