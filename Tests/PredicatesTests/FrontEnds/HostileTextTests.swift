import Foundation
import Predicates
import Synchronization
import TestSupport
import Testing

@Suite struct HostileTextTests {
  /// Runs the body on a thread with the 512 KiB that libraries give to their threads.
  private func onASmallStack(_ body: @escaping @Sendable () -> String) async -> String {
    await withCheckedContinuation { continuation in
      let thread = Thread { continuation.resume(returning: body()) }
      thread.stackSize = 512 << 10
      thread.start()
    }
  }

  private static func code(_ text: String) -> String {
    performing { () throws(QueryError) in _ = try PredicateTree(format: text) }?.code.description ?? "fine"
  }

  private static let openings = [
    "(", "NOT ", "!", "NOT (", "{", "a IN {", "a == 1 AND (", "a == 1 OR a == 1 AND (", "CAST(", "((a) == ",
    "a == (", "-", "- (",
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
      "é", "e\u{301}", "\u{301}", "\0", "0x", "1e", "CAST(", "SELF", ".", "ANY", "LIKE", " ", "\n", "UTI-",
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
