import Foundation
import FuzzSupport
@_spi(Testing) import Predicates

/// Reads a predicate from any text; the predicate has to survive printing, an archive and a schema.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzFormat(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  var input = FuzzInput(start, count)
  let mode = input.byte()
  let arguments: [(any PredicateArgument)?] = mode & 2 != 0 ? [1, "b", nil, 2.5, [1, 2, 3]] : []
  let text = mode & 1 != 0 ? Words.text(&input) : String(decoding: input.rest, as: UTF8.self)
  do throws(QueryError) {
    examine(try PredicateTree(format: text, arguments: arguments))
  } catch {
    guard let column = error.column, (0...text.count).contains(column) else {
      report("no column inside the text: \(error)")
    }
    _ = error.description
  }
  return 0
}

private func examine(_ tree: PredicateTree) {
  let printed = tree.description
  do {
    guard try PredicateTree(format: printed) == tree else { report("\(printed) is another predicate") }
    let archive = try JSONEncoder().encode(tree)
    guard try JSONDecoder().decode(PredicateTree.self, from: archive) == tree else {
      report("the archive of \(printed) is another predicate")
    }
  } catch {
    report("\(printed) can't be read again: \(error)")
  }
  do {
    try PredicateProbe.examine(tree, for: FixedSchema.shared.one, in: FixedSchema.shared)
  } catch {
    // Most texts have names and types that don't fit; the error is typed.
  }
}

/// Makes text of words of the language: random bytes seldom form one.
private enum Words {
  private static let all =
    FixedSchema.attributes.map(\.name) + FixedSchema.partsAndLists.map(\.name) + [
      "p", "p.r", "y.p.q", "z.w", "KIND", "y.TYPE", "$x.w", "SUBQUERY(w, $x, $x > 1)", "y", "z", "y.a", "z.b",
      "y.z", "$x", "$x.h", "$x.y.z", "SELF", "objectID", "#in", "`a b`", "==", "!=",
      "<", ">=", "IN", "BETWEEN", "BEGINSWITH", "CONTAINS[cd]", "ENDSWITH[n]", "LIKE", "MATCHES", "[c]",
      "AND", "OR", "NOT", "(", ")", "{", "}", ",", "1", "-2.5", "9e99", "0x1F", "9223372036854775808",
      "'ab*'",
      "\"é?\"", "'2013-01-01T10:00:00Z'", "nil", "TRUE", "TRUEPREDICATE", "%@", "%K", "%d", "%f", "$", "`",
      "ANY", "ALL", "NONE", "SUBQUERY(", "$x,", "SUBQUERY(z, $x, $x.h == 1)", ".@count", ".@sum.h", "@avg",
      "@min.g", "@max", "@distinctUnionOfObjects", "@", ".", "+", "-", "*", "/", "%", "%%", "**", "&", "|",
      "^", "<<", "~", "abs(", "min({", "max(", "length(", "lowercase(", "now()", "sum:(", "FUNCTION(",
      "TERNARY(", "CAST(", "'Decimal')", "'Date')", "[FIRST]", "[LAST]", "[0]", "[", "]", "[SIZE]", "year(",
    ]

  static func text(_ input: inout FuzzInput) -> String {
    var words: [String] = []
    while !input.isEmpty { words.append(all[Int(input.byte()) % all.count]) }
    return words.joined(separator: " ")
  }
}
