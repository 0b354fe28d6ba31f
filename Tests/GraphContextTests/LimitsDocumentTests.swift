import Foundation
import TestSupport
import Testing

@testable import GraphContext
@testable import PageStore
@testable import Predicates

/// Docs/Limits.md says what the code does.
struct LimitsDocumentTests {
  private static let limits: [String: UInt64] = [
    "SchemaLimits.entityCount": UInt64(SchemaLimits.entityCount),
    "SchemaLimits.propertyCount": UInt64(SchemaLimits.propertyCount),
    "SchemaLimits.indexCount": UInt64(SchemaLimits.indexCount),
    "SchemaLimits.classCount": UInt64(SchemaLimits.classCount),
    "ObjectState.maximumSlotCount": UInt64(ObjectState.maximumSlotCount),
    "CataloguedEntity.maximumLayoutCount": UInt64(CataloguedEntity.maximumLayoutCount),
    "ObjectNumber.greatestSequence": ObjectNumber.greatestSequence,
    "StoreLimits.valueByteCount": UInt64(StoreLimits.valueByteCount),
    "BlobKey.inlineByteCount": UInt64(BlobKey.inlineByteCount),
    "StoreLimits.keyByteCount": UInt64(StoreLimits.keyByteCount),
    "StoreLimits.logRecordByteCount": UInt64(StoreLimits.logRecordByteCount),
    "PredicateTree.maximumDepth": UInt64(PredicateTree.maximumDepth),
    "Where.maximumJoinedCount": UInt64(Where<Int>.maximumJoinedCount),
    "IndexMatch.maximumRangeCount": UInt64(IndexMatch.maximumRangeCount),
    "RegexPattern.maximumLength": UInt64(RegexPattern.maximumLength),
    "LogRecordHeader.commitLimit": LogRecordHeader.commitLimit,
    "SpillFile.firstNumber": SpillFile.firstNumber,
    "TransactionState.nameByteLimit": UInt64(TransactionState.nameByteLimit),
  ]

  @Test func everyLimitIsThatOfTheCode() throws {
    let document = try Document("Docs/Limits.md")
    let rows = document.text.split(separator: "\n").compactMap { line -> (name: String, value: String)? in
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      guard cells.count == 3, cells[2].hasPrefix("`") else { return nil }
      return (cells[2].trimmingCharacters(in: ["`"]), cells[1].replacing(",", with: ""))
    }
    for row in rows { #expect(Self.limits[row.name].map(String.init) == row.value, "\(row.name)") }
    #expect(Set(rows.map(\.name)) == Set(Self.limits.keys))
  }
}
