import Foundation
import GraphTestSupport
@_spi(Testing) import PageStore
import Predicates
@_spi(Testing) import TestSupport
import Testing

@_spi(Testing) @testable import GraphContext

/// Histories of stores with changes of the schema, copies and damage.
struct HistoryUpkeepTests {
  private let folder: TemporaryFolder
  private var url: URL { URL(fileURLWithPath: folder.file("shop.cambium")) }

  init() throws { folder = try TemporaryFolder() }

  private func schema(_ title: String = "title", hasBox: Bool = true, hasCode: Bool = false) throws -> Schema
  {
    var properties = [attribute(title, .string, was: title == "title" ? nil : "title")]
    if hasCode { properties.append(attribute("code", .int64, optional: true)) }
    let box = entity("Box", [attribute("size", .int64)])
    return try Schema(entities: [entity("Item", properties)] + (hasBox ? [box] : []))
  }

  private func open(_ schema: Schema) async throws -> PersistentContainer {
    try await PersistentContainer("Shop", schema: schema, at: url)
  }

  private func fill(_ container: PersistentContainer) async throws {
    try await container.keepHistory()
    try await container.write { context in
      _ = try context.make("Item", ["title": .string("a")])
      _ = try context.make("Box", ["size": .int(1)])
    }
    try await container.write { try $0.fetch(DynamicQuery("Item"))[0].set("title", to: "b") }
    try await container.write { try $0.fetch(DynamicQuery("Box"))[0].set("size", to: 2) }
  }

  @Test func inferredChangesLeaveTheHistory() async throws {
    let first = try await open(schema())
    try await fill(first)
    let token = try #require(try await first.history().first?.token)
    try await first.close()
    let second = try await open(schema("name", hasBox: false, hasCode: true))
    let transactions = try await second.history()
    #expect(transactions.map(\.summary) == [["inserted Item 1"], ["updated Item 1 name"], []])
    #expect(try await second.history(HistoryQuery(after: token, entities: ["Item"])).count == 1)
    try await second.write { try $0.fetch(DynamicQuery("Item"))[0].set("code", to: 5) }
    #expect(try await second.history().last?.summary == ["updated Item 1 code"])
    #expect(try await second.verify() == [])
    try await second.close()
    #expect(try StoreMetadata(at: url).formatVersion == SchemaTree.historyFormatVersion)
    let third = try await open(schema("name", hasBox: false, hasCode: true))
    try await third.dropHistory()
    try await third.close()
    #expect(try StoreMetadata(at: url).formatVersion == SchemaTree.formatVersion)
  }

  @Test func aCustomStageEndsTheHistory() async throws {
    let disk = SimulatedDisk()
    let store = try stagedStore(disk)
    try Copying.fill(store)
    let tokens: [HistoryToken]
    do {
      let container = try openStaged(store, Copying.before())
      try await container.keepHistory()
      try await container.write { _ = try $0.make("Item", ["code": .int(1_000)]) }
      tokens = try await [container.history()[0].token, container.newestHistoryToken()]
    }
    try takeStage(
      store,
      to: Copying.after(),
      MigrationMonitor(chunkByteCount: 500),
      .forEach("Item", inBatchesOf: 7, Copying.copy)
    )
    let container = try openStaged(store, Copying.after())
    for token in tokens {
      let error = await #expect(throws: ContextError.self) {
        try await container.history(HistoryQuery(after: token))
      }
      #expect(error?.code == .historyExpired)
      let oldest = try #require(error?.oldestHistoryToken)
      #expect(try await container.history(HistoryQuery(after: oldest)).isEmpty)
    }
    try await container.write { try $0.fetch(DynamicQuery("Copy"))[0].set("code", to: 7) }
    #expect(try await container.history().map(\.summary) == [["updated Copy 1 code"]])
    #expect(try await container.verify() == [])
  }

  @Test func aCopyHasTheHistoryWithItsOwnTokens() async throws {
    let container = try await open(schema())
    try await fill(container)
    let token = try container.newestHistoryToken()
    for keepsIDs in [true, false] {
      let copy = URL(fileURLWithPath: folder.file("copy-\(keepsIDs).cambium"))
      try await container.copy(to: copy, keepsObjectIDs: keepsIDs)
      let other = try await PersistentContainer("Copy", at: copy)
      #expect(try await other.history().map(\.summary) == container.history().map(\.summary))
      if keepsIDs {
        #expect(try await other.history(HistoryQuery(after: token)).isEmpty)
      } else {
        let error = await #expect(throws: ContextError.self) {
          try await other.history(HistoryQuery(after: token))
        }
        #expect(error?.code == .historyExpired)
      }
      try await other.write { _ = try $0.make("Box", ["size": .int(3)]) }
      #expect(try await other.history().count == 4)
      #expect(try await other.verify() == [])
      try await other.close()
    }
    // A backup that replaces the store may lack transactions that consumers of the store's history have already read.
    for size in 0..<5 { try await container.write { _ = try $0.make("Box", ["size": .int(Int64(size))]) } }
    let later = try container.newestHistoryToken()
    let url = URL(fileURLWithPath: folder.file("copy-true.cambium"))
    let backup = try await PersistentContainer("Backup", at: url)
    let error = await #expect(throws: ContextError.self) {
      try await backup.history(HistoryQuery(after: later))
    }
    #expect(error?.code == .historyExpired && error?.message.contains("newest commit is") == true)
  }

  @Test func aReadOnlyContainerReadsTheHistory() async throws {
    let container = try await open(schema())
    try await fill(container)
    try await container.close()
    let reader = try await PersistentContainer("Reader", schema: schema(), at: url, options: .readOnly)
    #expect(try await reader.history().count == 3)
    await #expect(throws: ContextError.self) { try await reader.keepHistory(HistoryPolicy(limits: .none)) }
    await #expect(throws: ContextError.self) { try await reader.dropHistory() }
    try await reader.close()
  }

  // MARK: Damage

  @Test func verifyFindsWhatIsWrongWithAHistory() async throws {
    let container = try await open(schema())
    try await fill(container)
    let commits = try await container.history().map(\.token.commit)
    func expect(_ message: String, _ change: @escaping @Sendable (WriteTree) throws -> Void) async throws {
      struct Undo: Error {}
      let tree = try #require(try container.store.snapshot().treeIfPresent(HistoryTree.name))
      var before: [([UInt8], [UInt8])] = []
      _ = tree.forEachReadable { before.append(([UInt8]($0), [UInt8]($1))) }
      try await container.store.write { try change($0.tree(HistoryTree.name)) }
      let found = try await container.verify()
      #expect(
        found.contains { $0.message.contains(message) && $0.tree == HistoryTree.name },
        "\(message): \(found)"
      )
      let entries = before
      try await container.store.write { transaction in
        let tree = try transaction.tree(HistoryTree.name)
        _ = try tree.removeRange(.all)
        for (key, value) in entries { try tree.put(key, value) }
      }
      #expect(try await container.verify() == [])
    }
    let key = HistoryTree.transactionKey(commits[1])
    try await expect("settings are missing") { _ = try $0.remove(HistoryTree.settingsKey) }
    try await expect("settings are missing") { try $0.put(HistoryTree.settingsKey, [1]) }
    try await expect("means nothing") { try $0.put(Array("other".utf8), []) }
    try await expect("a consumer has 1 bytes instead of 8") { try $0.put(HistoryTree.consumerKey("c"), [1]) }
    try await expect("is of a later commit") { tree in
      try tree.put(HistoryTree.transactionKey(1 << 40), tree.value(for: key) ?? [])
    }
    try await expect("is damaged") { try $0.put(key, [1, 2]) }
    try await expect("says that") { _ = try $0.remove(key) }
  }

  @Test func aFormatThatDoesNotSayThatThereIsAHistoryIsFound() async throws {
    let container = try await open(schema())
    try await fill(container)
    try await container.store.write { try SchemaTree.noteFormat(hasHistory: false, in: &$0) }
    let messages = try await container.verify().map(\.message)
    #expect(messages == ["the format 3 is wrong for a store with a history"])
  }

  /// A save on a store whose history is forged fails with an error.
  @Test func aForgedHistoryFailsTheSave() async throws {
    let container = try await open(schema())
    try await fill(container)
    let header = HistoryEntry.Header(position: 1 << 62, previousCommit: 7, date: .now)
    let entry = HistoryEntry(header: header, author: nil, contextName: nil)
    for (commit, value) in [(UInt64.max, entry.bytes(of: .max)), (1 << 40, [1, 2, 3]), (5_000, [])] {
      try await container.store.write { transaction in
        try transaction.tree(HistoryTree.name).put(HistoryTree.transactionKey(commit), value)
      }
      let error = await #expect(throws: ContextError.self) {
        try await container.write { _ = try $0.make("Box", ["size": .int(9)]) }
      }
      #expect(error?.code == .corrupt)
      #expect(try await container.verify() != [])
      try await container.store.write { transaction in
        _ = try transaction.tree(HistoryTree.name).remove(HistoryTree.transactionKey(commit))
      }
    }
    try await container.write { _ = try $0.make("Box", ["size": .int(9)]) }
    #expect(try await container.verify() == [])
  }

  @Test func limitsOfAnyLengthAreKept() async throws {
    let container = try await open(schema())
    for age in [
      Duration.seconds(Int64.max), .milliseconds(Int.max),
      .seconds(9_223_372_036_854_775) + .milliseconds(900), .seconds(-1),
    ] {
      try await container.keepHistory(
        HistoryPolicy(limits: HistoryLimits(age: age, byteCount: .max, transactionCount: .max))
      )
      let limits = try #require(try container.historyPolicy?.limits)
      #expect(limits.byteCount == .max && limits.transactionCount == .max)
      #expect(age < .zero ? limits.age == .zero : limits.age ?? .zero > .seconds(1 << 50))
      try await container.write { _ = try $0.make("Box", ["size": .int(9)]) }
    }
  }

  /// For any bytes, reading returns an entry or nil.
  @Test func entriesOfAnyBytesAreReadOrRefused() throws {
    var random = SeededGenerator()
    let header = HistoryEntry.Header(
      position: 300,
      previousCommit: 7,
      date: Date(timeIntervalSinceReferenceDate: 5)
    )
    var entry = HistoryEntry(header: header, author: "ä", contextName: nil)
    let numbers = [1, 2, 900_000].map { ObjectNumber(rawValue: $0) }
    entry.objects = [
      .init(
        entity: .init(rawValue: 3),
        inserted: [4...9, 20...20],
        updated: [.init(properties: [.init(rawValue: 5), .init(rawValue: 6)], numbers: numbers)],
        deleted: [
          .init(number: numbers[2], tombstones: [.init(property: .init(rawValue: 8), value: .double(.nan))])
        ]
      )
    ]
    entry.links = [
      .init(
        relationship: .init(entity: .init(rawValue: 3), property: .init(rawValue: 9)),
        owners: numbers,
        elements: []
      )
    ]
    let bytes = entry.bytes(of: 9)
    func read(_ bytes: [UInt8]) -> HistoryEntry? { bytes.withUnsafeBytes { HistoryEntry($0, of: 9) } }
    let again = try #require(read(bytes))
    #expect(again.bytes(of: 9) == bytes)
    for count in bytes.indices { #expect(read(Array(bytes.prefix(count))) == nil) }
    for _ in 0..<20_000 {
      var changed = bytes
      for _ in 0..<random.number(in: 1...3) {
        changed[random.number(in: 0...changed.count - 1)] = UInt8(random.number(in: 0...255))
      }
      if let entry = read(changed) { _ = entry.bytes(of: 9) }
      _ = changed.withUnsafeBytes { HistorySettings($0) }
    }
  }
}
