import Predicates
import Testing

/// Conditions that are joined by the thousand.
struct JoiningTests {
  private func conditions(_ count: Int) -> [Where<Int>] {
    (0..<count).map { Where(.comparison(.path(["n"]), .equal, .value(.int(Int64($0))), [])) }
  }

  @Test func manyAreJoinedInOneStep() throws {
    let many = conditions(100_000)
    guard case .or(let any) = try Where.any(many).tree, case .and(let all) = try Where.all(many).tree else {
      Issue.record("not flat")
      return
    }
    #expect(any.count == many.count && all.count == many.count)
    #expect(try Where<Int>.any([]).tree == .constant(false))
    #expect(try Where<Int>.all([]).tree == .constant(true))
    #expect(try Where.any([many[0]]).tree == many[0].tree)
  }

  /// Each operator copies its left operand, so a long row of operators would take quadratic time.
  @Test func operatorsJoinNoMoreThanTheLimit() throws {
    let many = conditions(100_000)
    let limit = Where<Int>.maximumJoinedCount
    let fitting = many.prefix(limit)
    #expect(throws: Never.self) { try fitting.dropFirst().reduce(fitting[0]) { $0 || $1 }.tree }
    #expect(throws: Never.self) { try fitting.dropFirst().reduce(fitting[0]) { $0 && $1 }.tree }
    for joined in [
      many.dropFirst().reduce(many[0]) { $0 || $1 }, many.dropFirst().reduce(many[0]) { $0 && $1 },
    ] {
      let error = #expect(throws: QueryError.self) { try joined.tree }
      #expect(error?.code == .tooComplex && error?.message.contains("Where.any") == true)
    }
  }

  @Test func aMistakeInOneOfManyIsThrown() {
    let mistake = Where<Int>.any(conditions(5_000)) || Where<Int>.any(conditions(10))
    #expect(throws: QueryError.self) { try mistake.tree }
    #expect(throws: QueryError.self) { try Where.all([Where(true), mistake]).tree }
  }
}
