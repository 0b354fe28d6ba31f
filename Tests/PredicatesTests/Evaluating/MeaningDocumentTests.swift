import TestSupport
import Testing

@testable import Predicates

/// Docs/Predicates.md says what conditions mean.
struct MeaningDocumentTests {
  @Test func eachRowOfTheTableHolds() throws {
    let rows = try Document("Docs/Predicates.md").rows("condition", "where", "holds")
    #expect(rows.count > 40)
    let entity = try FlightSchema.flight
    for row in rows {
      let predicate = try PredicateTree(format: row[0]).resolved(for: entity, in: FlightSchema.shared)
      let subject = Row(values: try Self.values(row[1]))
      #expect(SubjectCondition(predicate).matches(subject) == (row[2] == "yes"), "\(row)")
      let negation = try PredicateTree(format: "NOT (\(row[0]))").resolved(
        for: entity,
        in: FlightSchema.shared
      )
      #expect(SubjectCondition(negation).matches(subject) != (row[2] == "yes"), "\(row)")
    }
  }

  /// `a = 1 AND b = "x"` as values by their names.
  private static func values(_ text: String) throws -> [String: AttributeValue] {
    let tree = try PredicateTree(format: text)
    let comparisons: [PredicateTree] = if case .and(let children) = tree { children } else { [tree] }
    var values: [String: AttributeValue] = [:]
    for comparison in comparisons {
      guard case .comparison(let name, .equal, let value, _) = comparison,
        case .path(let names) = name.content,
        case .value(let literal) = value.content
      else { continue }
      values[names.joined(separator: ".")] = literal
    }
    return values
  }
}
