import Testing

@testable import Predicates

/// The lists and patterns of a condition are made before a subject is at hand, also inside of conditions on elements.
struct SubjectConditionTests {
  /// The condition on the legs that `ANY` begins.
  private static func conditionOnLegs(_ format: String) throws -> SubjectCondition.Test {
    let tree = try PredicateTree(format: format)
    let predicate = try tree.resolved(for: FlightSchema.flight, in: FlightSchema.shared)
    let test = SubjectCondition(predicate).test
    let legs: SubjectCondition.Elements? = if case .exists(let legs) = test { legs } else { nil }
    return try #require(legs).condition
  }

  @Test func aListIsASet() throws {
    guard case .values(_, let minutes) = try Self.conditionOnLegs("ANY legs.minutes IN {1, 5, 9}") else {
      Issue.record("the list is no set")
      return
    }
    #expect(minutes.segmentCount == 3)
  }

  @Test func aPatternIsCompiled() throws {
    let like = try Self.conditionOnLegs("ANY legs.flight.tailnum LIKE '*?1'")
    guard case .text(.path, .like) = like else {
      Issue.record("the pattern of LIKE isn't compiled")
      return
    }
    let matches = try Self.conditionOnLegs("ANY legs.flight.tailnum MATCHES 'N[0-9]+'")
    guard case .text(.path, .matches(_?)) = matches else {
      Issue.record("the pattern of MATCHES isn't compiled")
      return
    }
  }
}
