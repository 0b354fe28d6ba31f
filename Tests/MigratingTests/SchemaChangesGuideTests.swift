import Foundation
import Predicates
import TestSupport
import Testing

@testable import GraphContext

/// Docs/SchemaChanges.md says what the tests show.
struct SchemaChangesGuideTests {
  private let guide: Document

  init() throws { guide = try Document("Docs/SchemaChanges.md") }

  @Test func everyRowOfTheTableNamesATest() throws {
    let files = try ["MigratingTests", "ModelTests/Inheritance"].flatMap { name in
      let folder = Document.root.appendingPathComponent("Tests/\(name)")
      return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    }
    let code = try files.map { try String(contentsOf: $0, encoding: .utf8) }.joined(separator: "\n")
    let rows = guide.rows("change", "what happens", "cost at opening", "test")
    #expect(rows.count > 30)
    for row in rows {
      let line = code.components(separatedBy: "\n").first { $0.contains(" func \(row[3])(") }
      #expect(line?.contains("@Test") == true, "\(row[0]): there is no test \(row[3])")
    }
  }

  @Test func theKindsThatAreWiderAreThese() {
    for kind in AttributeKind.allCases where kind != .reference {
      let wider = AttributeKind.allCases.filter { $0 != kind && kind.canWiden(to: $0) }
      let row = guide.rows("kind", "wider kinds").first { $0[0] == "\(kind)" }
      let named = row?[1].split { " `".contains($0) }.map(String.init) ?? []
      #expect(Set(named) == Set(wider.map { "\($0)" }))
    }
  }

  @Test func theLimitOfLayoutsIsThis() {
    #expect(CataloguedEntity.maximumLayoutCount == 4_096)
    #expect(guide.text.contains("more than 4,096 changes"))
  }
}
