import Cambium
import CambiumImport
import Testing

@Model final class Badge {
  @Attribute(.unique(ifExists: .merge)) var code: String
  var name: String?

  init(_ code: String) { self.code = code }
}

extension Badge: ImportableObject {
  func didInsert(from source: [String: String], in context: ManagedObjectContext) {
    code = source["code"] ?? ""
    name = source["name"]
  }
}

/// Imports whose save unifies new objects with existing ones.
struct UnifiedImportTests {
  private let container: PersistentContainer

  init() async throws {
    container = try await PersistentContainer("Badges", models: Badge.self, at: .inMemory)
  }

  /// Adds a letter to the name for each record, and inserts a badge for each record of a new code.
  private var description: ObjectImport<String, Badge> {
    var description = ObjectImport<String, Badge>(key: \.code) { source, _ in source }
    description.isUniquing = false
    description.updateProperties = { _, badge, _ in badge.name = (badge.name ?? "") + "x" }
    return description
  }

  private func names() async throws -> [String?] {
    try await container.query { try $0.fetch(From<Badge>().orderBy(\.code)).map(\.name) }
  }

  @MainActor @Test func unifiedObjectsAreReturnedAsTheExistingOnes() async throws {
    try await container.write { context in
      context.insert(Badge("a"))
    }
    let sources = [["code": "a", "name": "new"], ["code": "b", "name": "other"]]
    let badges = try await container.importObjects(Badge.self, from: sources)
    #expect(badges.map(\.name) == ["new", "other"])
    let all = From<Badge>()
    #expect(try container.viewContext.count(all) == 2)
  }

  @MainActor @Test func objectsThatEachBatchUnifiesAreReturnedAsTheExistingOnes() async throws {
    try await container.write { context in
      for code in ["a", "b"] { context.insert(Badge(code)) }
    }
    var options = ImportOptions()
    options.commits = .eachBatch(of: 1)
    let sources = ["a", "b", "a"].map { ["code": $0, "name": $0] }
    let badges = try await container.importObjects(Badge.self, from: sources, options: options)
    #expect(badges.map(\.name) == ["a", "b", "a"])
    let all = From<Badge>()
    #expect(try container.viewContext.count(all) == 2)
  }

  @Test func aCacheKnowsTheExistingObjects() async throws {
    var options = ImportOptions()
    options.cache = ImportedObjectCache()
    try await container.importRecords(ImportInput(["a", "a"]), with: description, options: options)
    try await container.importRecords(ImportInput(["a"]), with: description, options: options)
    #expect(try await names() == ["xx"])
  }

  /// The second pass finds the objects of the first pass by the cache, in a context that has been reset. If each
  /// record has an object of its own, the sources aren't read a second time, and the save unifies objects that
  /// already have their relationships.
  @Test(arguments: [(true, "xxyy"), (false, "xy")])
  func theSecondPassFindsTheExistingObjects(isUniquing: Bool, name: String) async throws {
    var options = ImportOptions()
    options.cache = ImportedObjectCache()
    options.commits = .eachBatch(of: 2)
    var description = description
    description.isUniquing = isUniquing
    description.updateRelationships = { _, badge, _, _ in badge.name = (badge.name ?? "") + "y" }
    try await container.importRecords(ImportInput(["a", "a"]), with: description, options: options)
    #expect(try await names() == [name])
  }

  /// The first save unifies the new object with one that the context didn't see before.
  @Test func aLaterSourceFindsTheExistingObjectAfterASave() async throws {
    let context = try container.context()
    defer { context.end() }
    try await container.write { context in context.insert(Badge("a")) }
    var description = description
    description.isUniquing = true
    description.updateProperties = { _, badge, context in
      badge.name = (badge.name ?? "") + "x"
      try context.save()
    }
    let badges = try context.importObjects(from: ["a", "a"], with: description)
    #expect(badges.map(\.name) == ["xx"])
    #expect(try await names() == ["xx"])
  }

  @Test func aCacheKnowsTheExistingObjectsOfASequence() async throws {
    var options = ImportOptions()
    options.cache = ImportedObjectCache()
    options.commits = .eachBatch(of: 2)
    let (records, continuation) = AsyncStream<String>.makeStream()
    for record in ["a", "a", "a"] { continuation.yield(record) }
    continuation.finish()
    try await container.importRecords(from: records, with: description, options: options)
    #expect(try await names() == ["xx"])
  }
}
