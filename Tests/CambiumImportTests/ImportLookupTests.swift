import Cambium
import CambiumImport
import Testing

@testable import GraphContext

/// The search for the objects of a batch reads no others, however many IDs the batch has.
struct ImportLookupTests {
  @Test(arguments: [1_000, 2_000])
  func aBatchReadsItsOwnObjectsOnly(count: Int) async throws {
    let tunes = try await Tunes()
    try await tunes.store((0..<20_000).map { "c\($0)" })
    // IDs from everywhere in the index of `code`.
    let step = 20_000 / count
    let records = (0..<count).map { PlainRecord(code: "c\($0 * step)", title: "new") }
    let context = try tunes.container.context()
    let before = context.source.counters
    let objects = try context.importObjects(from: records, with: PlainRecord.objectImport)
    let after = context.source.counters
    context.end()
    #expect(objects.count == count)
    #expect(after.treeEntries - before.treeEntries <= 5 * count)
  }

  /// Objects that the batch repeats are found once.
  @Test func anIDThatComesTwiceHasNoDuplicate() async throws {
    let tunes = try await Tunes()
    try await tunes.store((0..<3_000).map { "c\($0)" })
    let records = (0..<6_000).map { PlainRecord(code: "c\($0 % 3_000)", title: "new") }
    let report = try await tunes.container.importObjects(from: records)
    #expect(report.updatedCount == 6_000 && report.storedDuplicates.isEmpty)
  }
}
