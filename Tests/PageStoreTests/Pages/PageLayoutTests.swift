import TestSupport
import Testing

@_spi(Testing) @testable import PageStore

/// The tables of Docs/FileFormat.md against the constants.
struct PageLayoutTests {
  private struct Row: Equatable {
    let name: String
    let numbers: [Int]
  }

  @Test func theHeaderIsWhereTheDocumentSaysItIs() throws {
    #expect(
      try rows(after: "### Header", columns: 2) == [
        Row(name: "checksum", numbers: [PageHeader.checksum, 8]),
        Row(name: "number", numbers: [PageHeader.number, 8]),
        Row(name: "birth", numbers: [PageHeader.birth, 8]),
        Row(name: "treeID", numbers: [PageHeader.treeID, 4]),
        Row(name: "kind", numbers: [PageHeader.kind, 1]),
        Row(name: "level", numbers: [PageHeader.level, 1]),
        Row(name: "flags", numbers: [PageHeader.flags, 2]),
        Row(name: "slotCount", numbers: [PageHeader.slotCount, 2]),
        Row(name: "prefixLength", numbers: [PageHeader.prefixLength, 2]),
        Row(name: "heapStart", numbers: [PageHeader.heapStart, 4]),
        Row(name: "garbage", numbers: [PageHeader.garbage, 4]),
        Row(name: "payloadLength", numbers: [PageHeader.payloadLength, 4]),
        Row(name: "chunkIndex", numbers: [PageHeader.chunkIndex, 4]),
        Row(name: "nextChecksum", numbers: [PageHeader.nextChecksum, 8]),
        Row(name: "totalLength", numbers: [PageHeader.totalLength, 4]),
      ]
    )
    #expect(PageHeader.byteCount == 64)
    #expect([PageKind.leaf, .branch, .overflow].map(\.rawValue) == [1, 2, 3])
    #expect(PageFlags.known == 1)
  }

  @Test func aSlotIsWhatTheDocumentSaysItIs() throws {
    #expect(
      try rows(after: "### Slots and cells", columns: 2) == [
        Row(name: "head", numbers: [PageSlot.head, PageSlot.headByteCount]),
        Row(name: "offset", numbers: [PageSlot.offset, 2]),
        Row(name: "lengthAndFlags", numbers: [PageSlot.lengthAndFlags, 2]),
      ]
    )
    #expect(PageSlot.byteCount == 8)
    #expect(PageSlot.lengthMask == (1 << 13) - 1)
    #expect(PageSlot.valueOverflows == 1 << 14)
    #expect(PageSlot.keyOverflows == 1 << 15)
    #expect(LeafCell.keyOffset == 2)
    #expect(BranchCell.keyOffset == ChildReference.byteCount)
  }

  @Test func aReferenceIsWhatTheDocumentSaysItIs() throws {
    #expect(
      try rows(after: "### References", columns: 2) == [
        Row(name: "location", numbers: [0, 8]), Row(name: "checksum", numbers: [8, 8]),
        Row(name: "birth", numbers: [16, 8]), Row(name: "count", numbers: [24, 8]),
      ]
    )
    let reference = ChildReference(location: .page(0x0102), checksum: 0x0304, birth: 0x0506, count: 0x0708)
    var bytes = [UInt8](repeating: 0xEE, count: ChildReference.byteCount)
    bytes.withUnsafeMutableBytes { buffer in
      guard let base = buffer.baseAddress else { return }
      reference.store(to: base)
      #expect(ChildReference(loading: UnsafeRawPointer(base)) == reference)
    }
    #expect(stride(from: 0, to: 32, by: 8).map { bytes[$0] } == [2, 4, 6, 8])
    #expect(stride(from: 1, to: 32, by: 8).map { bytes[$0] } == [1, 3, 5, 7])
    #expect(PageLocation.frameTag == 1 << 63)
  }

  @Test func theLimitsAreThoseOfTheDocument() throws {
    let rows = try rows(after: "### Overflow", columns: 4)
    #expect(
      rows.prefix(4) == [
        Row(name: "chunkByteCount", numbers: [PageGeometry.chunkByteCount]),
        Row(name: "chunkPayload", numbers: [PageGeometry.chunkPayload]),
        Row(name: "keyByteCount", numbers: [StoreLimits.keyByteCount]),
        Row(name: "valueByteCount", numbers: [StoreLimits.valueByteCount]),
      ]
    )
    let geometries = rows.dropFirst(4)
    #expect(geometries.map(\.name) == ["4096", "8192", "16384", "32768", "65536"])
    for row in geometries {
      let geometry = PageGeometry(pageSize: Int(row.name) ?? 0)
      #expect(
        row.numbers == [
          geometry.inlineKeyLimit, geometry.splitKeyLength, geometry.prefixLimit, geometry.leafEntryLimit,
        ]
      )
    }
  }

  @Test func theHighestTreeIsTheDocuments() throws {
    #expect(try document().contains("which has no page, at most \(TreeLimits.height)"))
  }

  /// The rows of all tables up to the next heading: the first cell, then the numbers in up to `columns`
  /// further ones.
  private func rows(after heading: String, columns: Int) throws -> [Row] {
    let lines = try document().split(separator: "\n", omittingEmptySubsequences: false)
    guard let start = lines.firstIndex(of: heading[...]) else { return [] }
    let section = lines[(start + 1)...].prefix { !$0.hasPrefix("#") }
    var rows: [Row] = []
    for (line, next) in zip(section, section.dropFirst() + [""]) where line.hasPrefix("| ") {
      // The head of a table stands over a line of dashes.
      if next.hasPrefix("|--") || next.hasPrefix("|:-") { continue }
      let cells = line.split(separator: "|").map { $0.filter { $0 != " " && $0 != "," } }
      let numbers = cells.dropFirst().prefix(columns).prefix { Int($0) != nil }.compactMap { Int($0) }
      rows.append(Row(name: cells[0], numbers: Array(numbers)))
    }
    return rows
  }

  private func document() throws -> String { try Document("Docs/FileFormat.md").text }
}
