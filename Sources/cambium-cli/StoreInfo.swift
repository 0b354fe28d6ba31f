import Foundation
import GraphContext
import PageStore
import Predicates

/// The output of `cambium info`.
struct StoreInfo: Encodable {
  struct Entity: Encodable {
    var name: String
    var count: Int
    var properties: [String]
    var indexes: [String]
  }

  var path: String
  /// The bytes that the file takes on its disk.
  var byteCount: Int
  var store: UUID
  var commit: UInt64
  /// The date of that commit; nil before the first.
  var committed: String?
  var pageSize: Int
  /// Named trees of the engine below.
  var trees: Int
  /// Bytes of log that opening had to replay, and bytes that the log takes in the file.
  var logByteCount: UInt64
  var logExtentByteCount: UInt64
  /// Bytes of pages in memory, including pages that the replay has changed, and bytes of the cached pages among
  /// them.
  var residentByteCount: UInt64
  var cachedByteCount: UInt64
  /// Pages that were accessed for this output: found in memory, and read from the file.
  var cacheHits: UInt64
  var cacheMisses: UInt64
  /// The uses of the file's bytes.
  var space: Space
  /// The other processes that have the store open. Like this one, they only read.
  var otherProcesses: [Process]
  /// The version of the schema, if it has one.
  var schemaVersion: Schema.Version?
  var entities: [Entity]

  struct Process: Encodable {
    var id: Int32
    var command: String
  }

  struct Space: Encodable {
    var liveByteCount: UInt64
    var deadByteCount: UInt64
    var pinnedByteCount: UInt64
    var logByteCount: UInt64
    var freeByteCount: UInt64
    var headerByteCount: UInt64
    var trees: [Tree]

    struct Tree: Encodable {
      var name: String
      /// The label of the tree; nil if the schema doesn't know the tree.
      var label: String?
      var liveByteCount: UInt64

      var title: String { TreeLabels.title(of: name, label: label) }
    }

    init(_ ledger: SpaceLedger, _ titles: TreeTitles) {
      liveByteCount = ledger.liveBytes
      deadByteCount = ledger.deadBytes
      pinnedByteCount = ledger.pinnedBytes
      logByteCount = ledger.logBytes
      // Nothing is reserved in a store that is open for reading.
      freeByteCount = ledger.reservedBytes + ledger.freeBytes
      headerByteCount = ledger.headerBytes
      trees = ledger.trees.map {
        Tree(name: $0.name, label: titles.label(of: $0.name), liveByteCount: $0.liveBytes)
      }
    }
  }

  init(path: String) throws {
    let store = try Store.open(at: path, options: .readOnly)
    let snapshot = try store.snapshot()
    self.path = path
    byteCount = Self.allocatedBytes(path)
    self.store = UUID(store.uuid)
    commit = snapshot.commit
    let date = Date(timeIntervalSince1970: Double(snapshot.timestamp) / 1_000)
    committed = snapshot.commit == 0 ? nil : ValueText.table(.date(date))
    let catalogue = try SchemaTree.schema(in: snapshot)
    schemaVersion = catalogue?.version
    entities = try catalogue.map { try Self.entities($0, snapshot) } ?? []
    let statistics = try store.statistics
    pageSize = statistics.pageSize
    trees = statistics.trees
    logByteCount = statistics.logBytes
    logExtentByteCount = statistics.logExtentBytes
    residentByteCount = statistics.residentBytes
    cachedByteCount = statistics.cachedBytes
    cacheHits = statistics.cacheHits
    cacheMisses = statistics.cacheMisses
    otherProcesses = try store.processes().filter { $0.id != getpid() }
      .map { Process(id: $0.id, command: $0.command) }
    space = Space(try store.spaceLedger(), TreeTitles(snapshot))
  }

  private static func entities(_ catalogue: CataloguedSchema, _ snapshot: Snapshot) throws -> [Entity] {
    let stored = try ResolvedSchema(catalogue)
    let view = StoreView(schema: stored, snapshot: snapshot)
    return try zip(stored.schema.entities, stored.entities).map { description, entity in
      Entity(
        name: description.name,
        count: try view.records(of: entity)?.count ?? 0,
        properties: description.properties.map { "\($0)" },
        indexes: description.indexes.map { ($0.isUnique ? "unique " : "") + $0.name }
      )
    }
  }

  static func allocatedBytes(_ path: String) -> Int {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_blocks) * 512 : 0
  }
}

extension StoreInfo: CustomStringConvertible {
  var description: String {
    var lines = [
      path,
      "  file      \(Self.bytes(byteCount))",
      "  store     \(store.uuidString.lowercased())",
      "  commit    \(commit)" + (committed.map { ", \($0)" } ?? ""),
      "  log       \(Self.bytes(Int(logExtentByteCount))), of which \(Self.bytes(Int(logByteCount))) were replayed",
      "  trees     \(trees), in pages of \(Self.bytes(pageSize))",
      "  cache     \(Self.bytes(Int(cachedByteCount))), of \(Self.bytes(Int(residentByteCount))) of pages in memory;"
        + " \(cacheMisses) read for this output",
    ]
    lines.append(
      "  space     \(Self.bytes(Int(space.liveByteCount))) live, \(Self.bytes(Int(space.freeByteCount))) free, "
        + "\(Self.bytes(Int(space.deadByteCount))) dead, \(Self.bytes(Int(space.logByteCount))) log, "
        + "\(Self.bytes(Int(space.headerByteCount))) headers"
    )
    lines += space.trees.map { "    \(Self.bytes(Int($0.liveByteCount)))  \($0.title)" }
    if !otherProcesses.isEmpty {
      let names = otherProcesses.map { "process \($0.id) (\($0.command))" }
      lines.append("  also in   \(names.joined(separator: ", "))")
    }
    if let schemaVersion { lines += ["", "schema version \(schemaVersion)"] }
    if entities.isEmpty { lines += ["", "There are no entities."] }
    for entity in entities {
      lines += ["", "\(entity.name): \(entity.count) \(entity.count == 1 ? "object" : "objects")"]
      lines += entity.properties.map { "  \($0)" }
      lines += entity.indexes.map { "  index \($0)" }
    }
    return lines.map(EscapedText.line).joined(separator: "\n")
  }

  static func bytes(_ count: Int) -> String {
    count < 10 << 20
      ? String(format: "%.1f KiB", Double(count) / 1_024)
      : String(format: "%.1f MiB", Double(count) / 1_048_576)
  }
}
