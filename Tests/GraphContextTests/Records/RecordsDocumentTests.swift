import Foundation
import Predicates
import Testing

@testable import GraphContext

/// Docs/Records.md says what the code does.
@Suite struct RecordsDocumentTests {
  private let text: String

  init() throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    text = try String(contentsOf: root.appendingPathComponent("Docs/Records.md"), encoding: .utf8)
  }

  /// The cells of the table whose first heading is `heading`, and second is `second`.
  private func table(_ heading: String, _ second: String) throws -> [[String]] {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let start = try #require(lines.firstIndex { $0.hasPrefix("| \(heading) | \(second) |") })
    return lines[(start + 2)...].prefix { $0.hasPrefix("|") }.map { line in
      line.dropFirst().dropLast().components(separatedBy: "|").map { $0.trimmingCharacters(in: .whitespaces) }
    }
  }

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
    let rows = try table("value", "component")
    #expect(rows.count == values.count)
    for row in rows {
      var key: [UInt8] = []
      KeyCoder.append(try #require(values[row[0]]), to: &key)
      let bytes = key.map { byte in
        let digits = String(byte, radix: 16, uppercase: true)
        return digits.count == 1 ? "0" + digits : digits
      }
      #expect(row[1] == "`\(bytes.joined(separator: " "))`")
    }
  }

  @Test func theExampleOfASchemaIsWhatIsStored() throws {
    let start = try #require(text.range(of: "```json\n")).upperBound
    let end = try #require(text.range(of: "```", range: start..<text.endIndex)).lowerBound
    let written = try JSONSerialization.jsonObject(with: Data(text[start..<end].utf8)) as? NSDictionary
    let schema = try Schema([Song.self, Album.self])
    #expect(
      try JSONSerialization.jsonObject(with: Data(Catalogue.encoded(schema))) as? NSDictionary == written
    )
    #expect(try JSONDecoder().decode(Schema.self, from: Data(text[start..<end].utf8)) == schema)
  }

  @Test func examplesOfFoldingAreWhatIsFolded() throws {
    let options: [String: StringOptions] = [
      "c": .caseInsensitive, "d": .diacriticInsensitive, "cd": [.caseInsensitive, .diacriticInsensitive],
    ]
    let rows = try table("string", "folding")
    #expect(rows.count == 10)
    for row in rows {
      let folded = StringFolding.fold(row[0], try #require(options[row[1]]))
      #expect(Array(folded.utf8) == Array(row[2].utf8), "\(row[0])")
    }
    #expect(StringFolding.tables.hasPrefix("1/"))
    #expect(text.contains("By the rules of version 1,"))
  }

  @Test func everyKindHasItsNumberAndItsWidth() throws {
    var described: [String: (number: String, width: String)] = [:]
    for row in try table("kind", "number in the JSON") {
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
    let trees = Set(try table("tree", "key").map { $0[0] })
    #expect(
      trees == [
        "`\(TreeName.catalogue)`", "`\(TreeName.records("Entity"))`",
        "`\(TreeName.index("name,name", of: "Entity"))`",
        "`\(TreeName.index("name,name[cd]", of: "Entity"))`",
        "`\(TreeName.references("relationship", of: "Entity"))`",
        "`\(TreeName.pairs("relationship", of: "Entity"))`",
        "`\(TreeName.reversedPairs("relationship", of: "Entity"))`",
      ]
    )
    let keys = Set(try table("key", "value").map { $0[0] })
    #expect(
      keys
        == Set(
          [Catalogue.formatKey, Catalogue.modelKey, Catalogue.foldingKey, Catalogue.numbersKey("Entity")].map
          {
            "`\(String(decoding: $0, as: UTF8.self))`"
          }
        )
    )
    #expect(text.contains("| 8–15 | the commit that last changed the record |"))
    #expect(RecordLayout.headerByteCount == 16 && RecordEncoder.version == 1 && Catalogue.formatVersion == 2)
    #expect(text.contains("version of what this page describes, 4 bytes: 1, or 2 where an index is folded"))
  }
}
