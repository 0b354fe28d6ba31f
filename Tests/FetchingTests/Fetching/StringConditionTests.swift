import Cambium
import GraphTestSupport
import Testing

@testable import GraphContext

/// Conditions on strings are exact until an option says otherwise.
struct StringConditionTests {
  typealias Condition = Where<Writer>

  private static let exact: [(Condition, [String])] = [
    (Where { $0.name.hasPrefix("ca") }, ["cab"]),
    (Where { $0.name.contains("ab") }, ["Cab", "cab"]),
    (Where { $0.name == "cab" }, ["cab"]),
    ((\Writer.name).hasPrefix("Cà"), ["Càb"]),
  ]

  private static let insensitive: [(Condition, [String])] = [
    (Where { $0.name.hasPrefix("ca", .caseInsensitive) }, ["Cab", "cab"]),
    (Where { $0.name.hasPrefix("ca", .diacriticInsensitive) }, ["cab", "çàb"]),
    (
      Where { $0.name.equals("CAB", [.caseInsensitive, .diacriticInsensitive]) },
      ["Cab", "Càb", "cab", "çàb"]
    ),
    ((\Writer.name).contains("AB", .caseInsensitive), ["Cab", "cab"]),
  ]

  @Test(arguments: exact + insensitive)
  func stringsAreComparedAsTheOptionsSay(_ condition: Condition, _ expected: [String]) async throws {
    let context = try await Library.open().context()
    for name in ["Cab", "Càb", "cab", "çàb", "tip"] { context.insert(Writer(name)) }
    try context.save()
    let found = try context.fetch(From<Writer>().where(condition)).map(\.name)
    #expect(Set(found) == Set(expected))
  }
}
