import Cambium
import CambiumImport
import CambiumOperations
import Foundation
import Testing

@Model final class Exhibit {
  #Unique<Exhibit>([\.code])
  var code: String
  var title: String = ""
  @Relationship var room: Room?

  init(_ code: String) { self.code = code }
}

@Model final class Room {
  #Unique<Room>([\.number])
  var number: Int
  @Relationship(inverse: \Exhibit.room) var exhibits: [Exhibit] = []

  init(_ number: Int) { self.number = number }
}

extension Exhibit: UniqueIdentifiable {
  static var uniqueIDKeyPath: ReferenceWritableKeyPath<Exhibit, String> { \.code }
}

extension Room: UniqueIdentifiable {
  static var uniqueIDKeyPath: ReferenceWritableKeyPath<Room, Int> { \.number }
}

// Quoted in Docs/ComingFromPeakCoreData.md
struct ExhibitRecord: Codable, Sendable, ManagedObjectUpdatable {
  typealias Object = Exhibit
  var code: String
  var title: String
  var room: Int

  var uniqueIDValue: String { code }
  static var updateProperties: PropertiesUpdate? {
    { record, exhibit in exhibit.title = record.title }
  }
  static var updateRelationships: RelationshipsUpdate? {
    { record, exhibit, context, cache in
      exhibit.room = try context.fetchOrInsertObject(Room.self, with: record.room, cache: cache)
    }
  }
}
// End of quotation

// Quoted in Docs/ComingFromPeakCoreData.md
/// Takes the exhibits out of the first room.
final class ClearRoom: ChangesetOperation, @unchecked Sendable {
  // Safety: it has no properties of its own.
  override func performWork(in context: ManagedObjectContext) throws {
    let exhibits = From<Exhibit>().where { $0.room.number == 1 }
    for exhibit in try context.fetch(exhibits) { exhibit.room = nil }
    saveAndFinish()
  }
}
// End of quotation

struct ComingFromPeakCoreDataTests {
  @Test @MainActor func theGuideDoesWhatItSays() async throws {
    let museum = try await PersistentContainer("Museum", models: Exhibit.self, Room.self, at: .inMemory)
    let context = museum.viewContext
    let (many, count, removed) = try helpers(context)
    #expect(many == 1 && count == 1 && removed == 1)
    let records = (1...10).map { ExhibitRecord(code: "M\($0)", title: "Mask \($0)", room: $0 % 2) }
    let report = try await importing(records, into: museum)
    #expect(report.insertedCount == 10)
    try museum.waitForViewContext()
    try await operations(museum)
    try museum.waitForViewContext()
    try observe(museum)
    let deleted = try await museum.batchDelete(From<Exhibit>().where { $0.room == nil })
    #expect(deleted.count == 5)
    try await museum.close()
  }

  @MainActor private func helpers(_ context: ManagedObjectContext) throws -> (Int, Int, Int) {
    // Quoted in Docs/ComingFromPeakCoreData.md
    let mask = try context.fetchOrInsertObject(Exhibit.self, with: "M1") { $0.title = "Mask" }
    let masks = From<Exhibit>().where { $0.title.hasPrefix("Mask") }.orderBy(\.title)
    let all = try context.fetch(masks)
    let first = try context.fetchOne(masks)
    let count = try context.count(masks)
    let removed = try context.deleteAll(masks)
    try context.save()
    // End of quotation
    #expect(first === mask)
    return (all.count, count, removed)
  }

  private func importing(
    _ records: [ExhibitRecord],
    into museum: PersistentContainer
  ) async throws -> ImportReport {
    // Quoted in Docs/ComingFromPeakCoreData.md
    var options = ImportOptions()
    options.progress = Progress(totalUnitCount: 0)
    options.cache = ImportedObjectCache(countLimit: 1_000)
    let report = try await museum.importObjects(from: records, options: options)
    print(report.insertedCount, report.updatedCount, report.changes?.all.count ?? 0)
    // End of quotation
    return report
  }

  private func operations(_ museum: PersistentContainer) async throws {
    // Quoted in Docs/ComingFromPeakCoreData.md
    let clearing = ClearRoom(museum)
    let rest = FetchOperation(museum, From<Exhibit>().where { $0.room != nil }.orderBy(\.code)) { $0.code }
    clearing.then(do: rest)
    let codes = try await rest.run()  // Or `rest.enqueue(on: queue)`, and an `addResultBlock`.
    print(try clearing.output.get().updated.count, codes)
    // End of quotation
    #expect(codes == ["M10", "M2", "M4", "M6", "M8"])
    #expect(try clearing.output.get().updated.count == 5)
  }

  @MainActor private func observe(_ museum: PersistentContainer) throws {
    let context = museum.viewContext
    let mask = try #require(try context.fetchObject(Exhibit.self, with: "M2"))
    var told: [String] = []
    // Quoted in Docs/ComingFromPeakCoreData.md
    let observer = try ObjectObserver(mask)
    let ofMask = observer.onChange(notifyInitial: true) { told.append("\($0)") }
    let homeless = try CountObserver(From<Exhibit>().where { $0.room == nil }, in: context)
    let ofCount = homeless.onChange(notifyInitial: true) { told.append("\($0) without a room") }
    let list = try FetchedResults(From<Exhibit>().orderBy(\.title), in: context)
    let ofList = list.onChange { changes in told.append("\(changes.changes.count) rows") }
    mask.title = "Mask of wood"
    // End of quotation
    context.processPendingChanges()
    #expect(told.first == "initial" && told.contains("5 without a room"), "\(told)")
    #expect(told.contains(#"updated(["title"])"#) && told.contains("1 rows"), "\(told)")
    context.rollback()
    withExtendedLifetime((ofMask, ofCount, ofList)) {}
  }
}
