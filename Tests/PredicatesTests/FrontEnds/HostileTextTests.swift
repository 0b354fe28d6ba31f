import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Predicates

struct HostileTextTests {
  private static func code(_ text: String) -> String {
    performing { () throws(QueryError) in _ = try PredicateTree(format: text) }?.code.description ?? "fine"
  }

  private static let openings = [
    "(", "NOT ", "!", "NOT (", "{", "a IN {", "a == 1 AND (", "a == 1 OR a == 1 AND (", "CAST(", "((a) == ",
    "a == (", "-", "- (", "~", "abs(", "a + (", "a == b + (", "TERNARY(", "SUBQUERY(a, $x, ", "ANY ",
    "NOT ANY ",
    "SUBQUERY(", "a OR b AND NOT c == 1 + 2 * (", "min({", "FUNCTION(", "a[", "@sum.", "multiply:by:(",
  ]

  @Test(arguments: openings)
  func nestingWithoutEndIsAnError(_ opening: String) async {
    let result = await onASmallStack { Self.code(String(repeating: opening, count: 100_000)) }
    #expect(result == "tooComplex" || result == "syntax")
  }

  @Test func nestingUpToTheLimitIsFine() async {
    let depth = PredicateTree.maximumDepth
    let result = await onASmallStack {
      Self.code(String(repeating: "(", count: depth) + "a == 1" + String(repeating: ")", count: depth))
    }
    #expect(result == "fine")
    let negations = await onASmallStack { Self.code(String(repeating: "NOT ", count: depth) + "a == 1") }
    #expect(negations == "fine")
    let deeper = await onASmallStack { Self.code(String(repeating: "NOT ", count: depth + 1) + "a == 1") }
    #expect(deeper == "tooComplex")
  }

  @Test func aTreeAtTheLimitIsHashedPrintedAndResolvedOnASmallStack() async throws {
    let result = await onASmallStack {
      do {
        let text = String(repeating: "NOT ", count: PredicateTree.maximumDepth) + "month == 1"
        let tree = try PredicateTree(format: text)
        guard Set([tree]).contains(try PredicateTree(format: tree.description)) else { return "unequal" }
        let data = try JSONEncoder().encode(tree)
        guard try JSONDecoder().decode(PredicateTree.self, from: data) == tree else {
          return "unequal archive"
        }
        _ = try tree.resolved(for: try FlightSchema.flight, in: FlightSchema.shared)
        return "fine"
      } catch {
        return "\(error)"
      }
    }
    #expect(result == "fine")
  }

  private static let nests: [(String, String)] = [
    ("abs(", ")"), ("-(", ")"), ("TERNARY(TRUEPREDICATE, 1, ", ")"), ("1 + (", ")"),
  ]

  @Test func conditionsOnElementsAtTheLimitAreResolvedOnASmallStack() async {
    // Each level is one of elements and one of AND.
    let depth = PredicateTree.maximumDepth / 9
    let text = (0..<depth).reduce("0 == 0") { inner, level in
      "SUBQUERY(legs, $x, $x.minutes > 1 AND \(inner)).@count > \(level + 1)"
    }
    let result = await onASmallStack {
      do {
        let tree = try PredicateTree(format: text)
        guard Set([tree]).contains(try PredicateTree(format: tree.description)) else { return "unequal" }
        let resolved = try tree.resolved(for: try FlightSchema.flight, in: FlightSchema.shared)
        return "\(Normaliser.normalise(resolved))".contains("legs") ? "fine" : "no legs"
      } catch {
        return "\(error)"
      }
    }
    #expect(result == "fine")
  }

  @Test func aPathIsAsLongAsATreeIsDeep() throws {
    func code(_ text: String) throws -> String {
      let (entity, tree) = (try FlightSchema.flight, try PredicateTree(format: text))
      let error = performing { () throws(QueryError) in
        _ = try tree.resolved(for: entity, in: FlightSchema.shared)
      }
      return error.map { "\($0.code) at \($0.column ?? -1)" } ?? "fine"
    }
    func toOne(_ count: Int) -> String { String(repeating: "flight.legs.", count: count) }
    #expect(try code("ANY legs." + toOne(11) + "minutes > 1") == "fine")
    #expect(try code("ANY legs." + toOne(12) + "minutes > 1") == "tooComplex at 148")
    #expect(try code("ANY legs." + toOne(10_000) + "minutes > 1") == "tooComplex at 604")
    #expect(try code(String(repeating: "origin.", count: 20_000) + "faa == 'x'") == "tooComplex at 700")
  }

  @Test(arguments: nests)
  func calculationsAtTheLimitAreHashedPrintedAndResolvedOnASmallStack(_ before: String, _ after: String) async
  {
    let depth = PredicateTree.maximumDepth / 2 - 1
    let text =
      String(repeating: before, count: depth) + "month" + String(repeating: after, count: depth) + " > 3"
    let result = await onASmallStack {
      do {
        let tree = try PredicateTree(format: text)
        guard Set([tree]).contains(try PredicateTree(format: tree.description)) else { return "unequal" }
        _ = try tree.resolved(for: try FlightSchema.flight, in: FlightSchema.shared)
        return "fine"
      } catch {
        return "\(error)"
      }
    }
    #expect(result == "fine")
    #expect(Self.code(before + before + text.replacing(" > 3", with: after + after + " > 3")) == "tooComplex")
  }

  @Test func longChainsOfAValueAreRefused() {
    #expect(Self.code("a" + String(repeating: " + a", count: 50_000) + " > 1") == "tooComplex")
    #expect(Self.code("a" + String(repeating: ".a", count: 50_000) + " > 1") == "fine")
  }

  @Test func aChainOfCollectionOperatorsIsAsLongAsAPath() {
    func chain(_ count: Int) -> String {
      "a" + String(repeating: ".@unionOfObjects.b", count: count) + ".@count > 1"
    }
    #expect(Self.code(chain(PredicateTree.maximumDepth - 1)) == "fine")
    #expect(Self.code(chain(PredicateTree.maximumDepth)) == "tooComplex")
    #expect(Self.code(chain(100_000)) == "tooComplex")
  }

  @Test func flatTextMayBeLong() throws {
    let terms = (0..<20_000).map { "month == \($0)" }
    guard case .or(let children) = try PredicateTree(format: terms.joined(separator: " OR ")) else {
      Issue.record("not a disjunction")
      return
    }
    #expect(children.count == 20_000)
    let list = (0..<20_000).map(String.init).joined(separator: ", ")
    #expect(try PredicateTree(format: "month IN {\(list)}").description.count > 100_000)
  }

  @Test func anyTextGivesATreeOrAnErrorInsideIt() {
    var random = SeededGenerator()
    let words = [
      "a", "b.c", "==", "<", ">=", "AND", "OR", "NOT", "(", ")", "{", "}", ",", "IN", "BETWEEN", "CONTAINS",
      "[c]",
      "[", "]", "'x'", "\"", "'", "1", "-", "2.5", "nil", "TRUE", "%@", "%K", "%d", "%", "#", "@", "$", "`",
      "\\", "🎉",
      "+", "*", "/", "**", "&", "~", "$x", "@count", "@sum", "abs(", "SUBQUERY(", "TERNARY(", "[FIRST]",
      "now()", "ALL",
      "é", "e\u{301}", "\u{301}", "\0", "0x", "1e", "CAST(", "SELF", ".", "ANY", "LIKE", "MATCHES[d]", " ",
      "\n", "UTI-",
      "!",
    ]
    for _ in 0..<20_000 {
      let text = (0..<random.number(in: 1...12)).map { _ in random.pick(words) }
        .joined(separator: random.chance(1, in: 2) ? " " : "")
      let arguments: [FormatArgument] = [.value(.int(1)), .value(.string("k"))]
      let error = performing { () throws(QueryError) in
        _ = try PredicateTree(format: text, arguments: Array(arguments.prefix(random.number(in: 0...2))))
      }
      if let error {
        guard let column = error.column, (0...text.count).contains(column) else {
          Issue.record("no column in \(error) for \(text.debugDescription)")
          return
        }
      }
    }
  }
}
