import Foundation
@_spi(Testing) import PageStore
import Predicates
import Synchronization
@_spi(Testing) import TestSupport
import Testing

@_spi(Testing) @testable import GraphContext

/// Changes of stores of an earlier format, and of stores whose bytes are hostile.
struct EarlierFormatChangeTests {
  // MARK: Earlier formats

  /// Returns true for a problem that the file has from the beginning: two trees that belong to no entity.
  private static func isOfTheFile(_ problem: String) -> Bool {
    ["(tree scratch)", "(tree gone)"].contains(where: problem.contains)
  }

  private func formatTwo() throws -> (TemporaryFolder, String) {
    let folder = try TemporaryFolder()
    let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "SmallStore/small-format2.cambium")
    let path = folder.file("two.cambium")
    try FileManager.default.copyItem(at: source, to: URL(fileURLWithPath: path))
    return (folder, path)
  }

  private func extended(_ path: String, indexed: Bool) throws -> Schema {
    var options = StoreOptions()
    options.isReadOnly = true
    let store = try Store.open(at: path, options: options)
    defer { try? store.close() }
    var entities = try #require(try SchemaTree.schema(in: store.snapshot())).schema().entities
    for place in entities.indices {
      entities[place].properties.append(attribute("extra", .int64, default: .int(7)))
      if indexed { entities[place].indexes.append(IndexDescription(["extra"])) }
    }
    return try Schema(entities: entities)
  }

  @Test(arguments: [1, 2, 3, 5]) func anInterruptedChangeOfAnEarlierFormatGoesOn(commits: Int) throws {
    let (folder, path) = try formatTwo()
    let schema = try extended(path, indexed: true)
    var store = try Store.open(at: path)
    let error = #expect(throws: ContextError.self) {
      _ = try openStaged(
        store,
        schema,
        ContainerOpening(monitor: Reports(chunkByteCount: 40).monitor(cancellingAfter: commits))
      )
    }
    #expect(error?.code == .cancelled)
    try store.close()
    store = try Store.open(at: path)
    let problems = try stagedProblems(store).filter { !Self.isOfTheFile($0) }
    #expect(problems == [], "\(problems)")
    let again = try openStaged(store, schema)
    #expect(try again.verify().map(\.description).filter { !Self.isOfTheFile($0) } == [])
    try store.close()
    _ = folder
  }

  @Test(arguments: [1, 2]) func anInterruptedChangeOfAnEarlierFormatIsReadOnly(commits: Int) throws {
    let (folder, path) = try formatTwo()
    let old = try extendedNot(path)
    let schema = try extended(path, indexed: true)
    var store = try Store.open(at: path)
    #expect(throws: ContextError.self) {
      _ = try openStaged(
        store,
        schema,
        ContainerOpening(monitor: Reports(chunkByteCount: 40).monitor(cancellingAfter: commits))
      )
    }
    try store.close()
    var options = StoreOptions()
    options.isReadOnly = true
    store = try Store.open(at: path, options: options)
    _ = try openStaged(store, old)
    try store.close()
    store = try Store.open(at: path)
    _ = try openStaged(store, old)
    try store.close()
    _ = folder
  }

  private func extendedNot(_ path: String) throws -> Schema {
    var options = StoreOptions()
    options.isReadOnly = true
    let store = try Store.open(at: path, options: options)
    defer { try? store.close() }
    return try #require(try SchemaTree.schema(in: store.snapshot())).schema()
  }

  /// How a store of format 2 can be opened whose change was interrupted.
  @Test func whatStillOpensAnInterruptedStoreOfAnEarlierFormat() async throws {
    let (folder, path) = try formatTwo()
    let url = URL(fileURLWithPath: path)
    let old = try extendedNot(path)
    let schema = try extended(path, indexed: true)
    var store = try Store.open(at: path)
    _ = try? openStaged(
      store,
      schema,
      ContainerOpening(monitor: Reports(chunkByteCount: 40).monitor(cancellingAfter: 1))
    )
    try await store.close()
    var readOnly = StoreOptions()
    readOnly.isReadOnly = true
    var failures: [String] = []
    func attempt(_ what: String, _ body: () async throws -> Void) async {
      do { try await body() } catch { failures.append("\(what): \("\(error)".prefix(60))") }
    }
    await attempt("metadata") { _ = try StoreMetadata(at: url) }
    await attempt("forecast") { _ = try MigrationForecast(at: url, to: schema) }
    await attempt("old, read only") {
      try await PersistentContainer(
        "x",
        stagedModels(old),
        at: .file(url),
        ContainerOpening(options: readOnly)
      ).close()
    }
    await attempt("new") {
      try await PersistentContainer("x", stagedModels(schema), at: .file(url), ContainerOpening()).close()
    }
    await attempt("old") {
      try await PersistentContainer("x", stagedModels(old), at: .file(url), ContainerOpening()).close()
    }
    #expect(failures == [])
    store = try Store.open(at: path)
    try await store.close()
    _ = folder
  }

  /// Links between objects that the stage doesn't rebuild, by a stage that fails afterwards.
  @Test func aFailedStageLeavesTheLinksOfOtherEntities() throws {
    let before = try Schema(entities: [
      entity("Song", [attribute("code", .int64), link("tags", to: "Tag", .many, inverse: "songs")]),
      entity("Tag", [attribute("code", .int64), link("songs", to: "Song", .many, inverse: "tags")]),
      entity("Other", [attribute("code", .int64)]),
    ])
    let store = try Store.inMemory()
    do {
      let context = try openStaged(store, before).context()
      let song = try context.make("Song", ["code": .int(1)])
      try song.add(context.make("Tag", ["code": .int(2)]), to: "tags")
      try context.make("Other", ["code": .int(3)])
      try context.save()
      context.end()
    }
    let error = #expect(throws: ContextError.self) {
      try takeStage(
        store,
        to: before,
        rebuilding: ["Other"],
        .init(chunkByteCount: 500),
        .once { batch in
          let song = try #require(try batch.new.fetch(DynamicQuery("Song")).first)
          try song.remove(try #require(try batch.new.fetch(DynamicQuery("Tag")).first), from: "tags")
        },
        .once { _ in throw StopsStage() }
      )
    }
    #expect((error?.underlyingError as? ContextError)?.code == .saveNotAllowed)
    let context = try openStaged(store, before).context()
    #expect(try context.linked("Song", "tags", "code") == [[.int(2)]])
    context.end()
  }

  @Test(arguments: 0..<6) func hostileRowsOfAChange(_ seed: Int) async {
    await #expect(processExitsWith: .success) { [seed] in
      for round in 0..<TestEffort.times(30) {
        let store = try Store.inMemory()
        try Copying.fill(store)
        let stop = Reports(chunkByteCount: 100).monitor(cancellingAfter: 3)
        let pass = MigrationPass.forEach("Item", inBatchesOf: 5, Copying.copy)
        _ = try? takeStage(store, to: Copying.after(), stop, pass)
        var row = try #require(try store.snapshot().tree(SchemaTree.name).value(for: SchemaTree.migrationKey))
        var state = UInt64(seed * 1_000 + round) &* 0x9E37_79B9_7F4A_7C15 | 1
        func next(_ n: Int) -> Int {
          state ^= state << 13
          state ^= state >> 7
          state ^= state << 17
          return Int(state % UInt64(n))
        }
        for _ in 0..<(1 + next(3)) {
          let digits = row.indices.filter { (48...57).contains(row[$0]) }
          let place = digits[next(digits.count)]
          switch next(4) {
          case 0: row[place] = UInt8(48 + next(10))
          case 1: row.insert(contentsOf: Array("99999999999999999".utf8.prefix(1 + next(17))), at: place)
          case 2: row.insert(UInt8(ascii: "-"), at: place)
          default: row.remove(at: place)
          }
        }
        let bytes = row
        try store.write { try $0.tree(SchemaTree.name).put(SchemaTree.migrationKey, bytes) }
        _ = try? stagedProblems(store)
        let monitor = MigrationMonitor(chunkByteCount: 100)
        monitor.begin(stage: 1 + next(2), of: 2, to: nil)
        if round % 3 == 0 { _ = try? openStaged(store, Copying.before()) }
        _ = try? takeStage(store, to: Copying.after(), monitor, pass)
        _ = try? stagedProblems(store)
        _ = try? openStaged(store, Copying.before())
      }
    }
  }

  private enum FormatV1: VersionedSchema {
    static let version = Schema.Version(1)
    nonisolated(unsafe) static var given: Schema?
    static func schema() throws(SchemaError) -> Schema? { given }
  }
  private enum FormatV2: VersionedSchema {
    static let version = Schema.Version(2)
    nonisolated(unsafe) static var given: Schema?
    static func schema() throws(SchemaError) -> Schema? { given }
  }

  @Test func aDryRunOfACustomStageOnAnEarlierFormat() async throws {
    let (folder, path) = try formatTwo()
    FormatV1.given = try extendedNot(path)
    FormatV2.given = try extended(path, indexed: true)
    let plan = MigrationPlan(
      [FormatV1.self, FormatV2.self],
      stages: [
        .custom(
          from: FormatV1.self,
          to: FormatV2.self,
          .forEach("Box", inBatchesOf: 2) { batch in
            for box in batch.objects { try batch.successor(of: box)?.set("extra", to: 8) }
          },
          .once { batch in
            let box = try #require(try batch.new.fetch(DynamicQuery("Tag")).first)
            batch.new.delete(box)
          }
        )
      ]
    )
    let url = URL(fileURLWithPath: path)
    let before = try FolderState(folder.path)
    let forecasts = try plan.forecasts(at: url)
    let again = try plan.forecasts(at: url)
    #expect(try FolderState(folder.path) == before)
    #expect(forecasts.map(\.effects) == again.map(\.effects))
    #expect(forecasts.allSatisfy { $0.isPossible }, "\(forecasts)")
    let monitor = MigrationMonitor()
    let container = try await PersistentContainer("two", plan: plan, at: url, monitor: monitor)
    #expect(monitor.effects == forecasts.last?.effects)
    let problems = try await container.verify().map(\.description).filter { !Self.isOfTheFile($0) }
    #expect(problems == [], "\(problems)")
    #expect(throws: ContextError.self) { try plan.forecasts(at: url) }
    try await container.close()
    #expect(try plan.forecasts(at: url).count == 1)
  }
}
