import Cambium
import CambiumImport
import Foundation
import TestSupport
import Testing

@Model(isAbstract: true, subclasses: ["Reel", "Sheet"])
class Medium {
  #Index<Medium>([\.code])
  var code: String
  @Attribute(.perInsert { "made" }) var mark: String
  init(_ code: String) { self.code = code }
}

@Model(superclass: "Medium")
final class Reel: Medium {
  var length: Int = 1
  @Attribute(.perInsert { [7, 8] }) var cuts: [Int]
  override init(_ code: String) { super.init(code) }
}

@Model(superclass: "Medium")
final class Sheet: Medium {
  override init(_ code: String) { super.init(code) }
}

extension Reel: UniqueIdentifiable {
  static var uniqueIDKeyPath: ReferenceWritableKeyPath<Reel, String> { \.code }
}

private struct ReelRecord: Codable, Sendable, ManagedObjectUpdatable {
  typealias Object = Reel
  var code: String
  var length: Int
  var mark: String?
  var uniqueIDValue: String { code }

  static var updateProperties: PropertiesUpdate? {
    { record, reel in
      reel.length = record.length
      if let mark = record.mark { reel.mark = mark }
    }
  }
}

/// Imports into a class of a hierarchy.
struct HierarchyImportTests {
  @Test func objectsOfTheClassAreMadeFoundAndGivenWhatInsertionsMake() async throws {
    let container = try await PersistentContainer("Media", models: Medium.self, at: .inMemory)
    try await container.write { context in
      let old = Reel("r1")
      (old.mark, old.cuts) = ("old", [])
      context.insert(old)
      // An object of another class, so it isn't the reel with this code.
      context.insert(Sheet("r2"))
    }
    let records = [
      ReelRecord(code: "r1", length: 10), ReelRecord(code: "r2", length: 20),
      ReelRecord(code: "r3", length: 30, mark: "given"),
    ]
    let report = try await container.importObjects(from: records)
    #expect(report.insertedCount == 2 && report.updatedCount == 1)
    let rows = try await container.query { context in
      try context.fetch(From<Reel>().orderBy(\.code)).map { "\($0.code) \($0.length) \($0.mark) \($0.cuts)" }
    }
    #expect(rows == ["r1 10 old []", "r2 20 made [7, 8]", "r3 30 given [7, 8]"])
    let count = try await container.query { try $0.count(From<Medium>()) }
    #expect(count == 4)
    #expect(try await container.verify() == [])
  }
}
