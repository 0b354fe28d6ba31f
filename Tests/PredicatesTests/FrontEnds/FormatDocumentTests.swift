import Predicates
import TestSupport
import Testing

/// Docs/FormatStrings.md says what the parser does.
struct FormatDocumentTests {
  @Test func eachRowOfTheGrammarParsesAndPrints() throws {
    let rows = try Document("Docs/FormatStrings.md").rows("construct", "text", "prints as")
    #expect(rows.count > 60)
    for row in rows {
      let tree = try PredicateTree(format: row[1])
      #expect(tree.description == (row[2].isEmpty ? row[1] : row[2]), "\(row)")
      #expect(try PredicateTree(format: tree.description) == tree, "\(row)")
    }
  }
}
