import Foundation
import GraphTestSupport
import Predicates
import TestSupport
import Testing

@testable import GraphContext

/// Docs/Records.md says what the code does.
struct RecordsDocumentTests {
  private let document: Document

  init() throws { document = try Document("Docs/Records.md") }

  @Test func examplesOfComponentsAreWhatTheCoderWrites() throws {
    let values: [String: AttributeValue] = [
      "nil": .null, "true": .bool(true), "0": .int(0), "12": .int(12), "336776": .int(336_776),
      "-1": .int(-1), "-256": .int(-256), "-257": .int(-257), "\"Carey\"": .string("Carey"),
      "\"\"": .string(""), "0.5": .double(0.5),
      "-0.5": .double(-0.5), "-∞, a date": .date(Date(timeIntervalSinceReferenceDate: -.infinity)),
      "+∞, a date": .date(Date(timeIntervalSinceReferenceDate: .infinity)),
      "NaN, a date": .date(Date(timeIntervalSinceReferenceDate: .nan)), "12.5, a decimal": .decimal(12.5),
      "-0.05, a decimal": .decimal(Decimal(-5) / 100),
    ]
    let rows = document.rows("value", "component")
    #expect(rows.count == values.count)
    for row in rows {
      var key: [UInt8] = []
      KeyCoder.append(try #require(values[row[0]]), to: &key)
      let bytes = key.map { byte in
        let digits = String(byte, radix: 16, uppercase: true)
        return digits.count == 1 ? "0" + digits : digits
      }
      #expect(row[1] == bytes.joined(separator: " "))
    }
  }

  @Test func theExampleOfASchemaIsWhatIsStored() throws {
    let examples = document.blocks.filter { $0.language == "json" }.map { Data($0.text.utf8) }
    let catalogue = CataloguedSchema(try Schema([Song.self, Album.self]))
    func written(_ value: some Encodable) throws -> NSDictionary? {
      try JSONSerialization.jsonObject(with: Data(SchemaTree.encoded(value))) as? NSDictionary
    }
    try #require(examples.count == 2)
    #expect(try JSONSerialization.jsonObject(with: examples[0]) as? NSDictionary == written(catalogue))
    let layout = try #require(catalogue.entity(named: "Album")?.layouts.last)
    #expect(try JSONSerialization.jsonObject(with: examples[1]) as? NSDictionary == written(layout))
  }

  @Test func examplesOfFoldingAreWhatIsFolded() throws {
    let options: [String: StringOptions] = [
      "c": .caseInsensitive, "d": .diacriticInsensitive, "cd": [.caseInsensitive, .diacriticInsensitive],
    ]
    let rows = document.rows("string", "folding", "folded", "why")
    #expect(rows.count == 10)
    for row in rows {
      let folded = StringFolding.fold(row[0], try #require(options[row[1]]))
      #expect(Array(folded.utf8) == Array(row[2].utf8), "\(row[0])")
    }
    #expect(StringFolding.tables.hasPrefix("1/"))
    #expect(document.text.contains("By the rules of version 1,"))
  }

  @Test func everyKindHasItsNumberAndItsWidth() throws {
    var described: [String: (number: String, width: String)] = [:]
    for row in document.rows("kind", "number in the JSON", "bytes", "value") {
      let names = row[0].components(separatedBy: ", ")
      let numbers = row[1].components(separatedBy: ", ")
      let widths = row[2].components(separatedBy: ", ")
      for (place, name) in names.enumerated() {
        described[name] = (numbers[place], widths.count == 1 ? widths[0] : widths[place])
      }
    }
    #expect(described.count == AttributeKind.allCases.count)
    for kind in AttributeKind.allCases {
      #expect(described["\(kind)"]?.number == "\(kind.rawValue)")
      #expect(described["\(kind)"]?.width == kind.fixedByteCount.map { "\($0)" } ?? "variable")
    }
  }

  @Test func treesAndTheirKeysAreNamed() throws {
    let trees = Set(document.rows("tree", "key", "value").map { $0[0] })
    let names = [TreeKind.records, .index, .references, .pairs, .orders, .blobs].map { $0.treeName(12) }
    #expect(trees == Set([SchemaTree.name, HistoryTree.name] + names))
    let keys = Set(document.rows("key", "value").map { $0[0] })
    let entity = EntityNumber(rawValue: 12)
    let known = [
      SchemaTree.formatKey, SchemaTree.modelKey, SchemaTree.foldingKey, SchemaTree.numbersKey(entity),
      SchemaTree.layoutKey(0, of: entity), SchemaTree.migrationKey, SchemaTree.spentKey,
      StagedBlobs.key(345, in: TreeKind.blobs.treeName(12)),
    ]
    let history = Set(document.rows("key in the tree", "value").map { Array($0[0].utf8) })
    let transaction = Array(HistoryTree.transactionKey(0).dropLast(8))
    #expect(history == [HistoryTree.settingsKey, HistoryTree.consumerKey("index"), transaction])
    #expect(keys == Set(known.map { "\(String(decoding: $0, as: UTF8.self))" }))
    #expect(document.text.contains("| 8–15 | the commit that last changed the record |"))
    #expect(RecordLayout.headerByteCount == 16 && RecordEncoder.version == 1 && SchemaTree.formatVersion == 3)
    #expect(
      document.text.contains("version of what this page describes, 4 bytes: 3")
    )
  }
}
