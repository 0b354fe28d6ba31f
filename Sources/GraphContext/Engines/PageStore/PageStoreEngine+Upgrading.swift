import PageStore
import Predicates

// Bringing records of earlier layouts to the newest one.

extension PageStoreEngine {
  /// Rewrites the records that have an earlier layout, in commits of bounded size. Other writers can write between
  /// two of these commits. The objects don't change: neither values nor the commits that conflicts compare.
  ///
  /// - Returns: how many records were rewritten.
  /// - Throws: `cancelled`, `schemaChanging` or `schemaChanged`, after which each record has its earlier layout or
  ///   the newest one; the errors of a write.
  func upgradeRecords(_ monitor: MigrationMonitor) throws -> Int {
    let chunkByteCount = monitor.chunkByteCount(in: store)
    let snapshot = try store.snapshot()
    let outdated = schema.entities.filter { $0.layout.number > 0 }
    let total = try outdated.reduce(0) { try $0 + (snapshot.treeIfPresent($1.treeName)?.count ?? 0) }
    var progress = (seen: 0, rewritten: 0)
    for entity in outdated {
      var position: [UInt8]?
      repeat {
        try monitor.checkCancellation()
        let chunk = try store.write { transaction in
          try checkWritable()
          return try UpgradedChunk(entity, after: position, byteLimit: chunkByteCount, &transaction)
        }
        position = chunk.position
        progress.seen += chunk.seenCount
        progress.rewritten += chunk.rewrittenCount
        monitor.report(completedRowCount: min(progress.seen, total), totalRowCount: total)
      } while position != nil
    }
    return progress.rewritten
  }
}

/// The part of an entity's records that one commit rewrites.
private struct UpgradedChunk {
  private(set) var seenCount = 0
  private(set) var rewrittenCount = 0
  /// The key of the record that was looked at last; nil at the end of the records.
  private(set) var position: [UInt8]?

  init(
    _ entity: StoredEntity,
    after position: [UInt8]?,
    byteLimit: Int,
    _ transaction: inout WriteTransaction
  ) throws {
    guard let tree = try transaction.treeIfPresent(entity.treeName) else { return }
    let records = try outdated(entity, in: tree, after: position, byteLimit)
    for (key, record) in records { try tree.put(key, record) }
    rewrittenCount = records.count
  }

  /// Returns the records that have an earlier layout, in the newest one.
  private mutating func outdated(
    _ entity: StoredEntity,
    in tree: WriteTree,
    after position: [UInt8]?,
    _ byteLimit: Int
  ) throws -> [(key: [UInt8], record: [UInt8])] {
    let reader = RecordReader(entity)
    var records: [(key: [UInt8], record: [UInt8])] = []
    var byteCount = 0
    var cursor = try tree.cursor(in: position.map { KeyRange(lower: .excluding($0)) } ?? .all)
    while try cursor.next() {
      let (key, stored) = (try cursor.key(), try cursor.value())
      seenCount += 1
      // Reading a record that isn't rewritten costs time, too. So many of them make a chunk, and other writers get
      // their turn.
      byteCount += MemoryLayout<UInt64>.size
      if RecordLayout.number(of: stored) != entity.layout.number {
        guard let record = reader.view(stored) else {
          throw ContextError.damagedRecord(KeyCoder.number(ending: key) ?? .none, of: entity.name)
        }
        records.append(([UInt8](key), [UInt8](record.bytes)))
        byteCount += record.bytes.count
      }
      if byteCount >= byteLimit {
        self.position = [UInt8](key)
        break
      }
    }
    return records
  }
}
