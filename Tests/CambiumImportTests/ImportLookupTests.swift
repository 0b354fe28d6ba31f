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

  /// The bound holds beside many unsaved objects, too.
  @Test func aBatchBesideManyUnsavedObjectsReadsItsOwnObjectsOnly() async throws {
    let tunes = try await Tunes()
    try await tunes.store((0..<20_000).map { "c\($0)" })
    let context = try tunes.container.context()
    let unsaved = (0..<17_000).map { PlainRecord(code: "n\($0)", title: "unsaved") }
    _ = try context.importObjects(from: unsaved, with: PlainRecord.objectImport)
    var records = (0..<2_000).map { PlainRecord(code: "c\($0 * 10)", title: "new") }
    records += unsaved.suffix(10)
    let before = context.source.counters
    let objects = try context.importObjects(from: records, with: PlainRecord.objectImport)
    let after = context.source.counters
    #expect(objects.count == records.count && context.insertedObjects.count == unsaved.count)
    context.end()
    #expect(after.treeEntries - before.treeEntries <= 5 * records.count)
  }

  /// A large batch finds objects by their unsaved IDs, new objects among them, and no deleted ones.
  @Test func aLargeBatchSeesUnsavedChanges() async throws {
    let tunes = try await Tunes()
    try await tunes.store((0..<3_000).map { "c\($0)" })
    let context = try tunes.container.context()
    let stored = try context.fetch(From<Tune>().orderBy(\.code))
    let (deleted, renamed) = (stored[0], stored[1])
    let codes = stored.map(\.code)
    context.delete(deleted)
    renamed.code = "renamed"
    let new = Tune("new")
    context.insert(new)
    let records = (codes + ["renamed", "new"]).map { PlainRecord(code: $0, title: "imported") }
    let objects = try context.importObjects(from: records, with: PlainRecord.objectImport)
    let (inserted, count) = (context.insertedObjects.count, try context.count(From<Tune>()))
    let found = objects.suffix(2).map(ObjectIdentifier.init)
    let known = [renamed, new].map(ObjectIdentifier.init)
    let titles = Set(objects.map(\.title))
    context.end()
    // The IDs of the deleted object and of the renamed one have new objects.
    #expect(inserted == 3 && count == 3_002)
    #expect(found == known && titles == ["imported"])
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
