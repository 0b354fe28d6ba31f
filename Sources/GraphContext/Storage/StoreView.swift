import PageStore
import Predicates

/// One snapshot of a store, read as records and index trees. What a context faults from and a query runs on.
///
/// Belongs to one task at a time, like the context that made it: it keeps the trees it has opened.
package final class StoreView {
  package let schema: StoredSchema
  package let snapshot: Snapshot
  /// By the entity's ordinal.
  private var recordTrees: [Opened]
  private var otherTrees: [String: Opened] = [:]
  /// Records too long for a page, kept because objects point into them.
  private var longRecords: [ValueBytes] = []
  /// The same of single objects, by the entity's ordinal and the object's number.
  private var longRecordsByObject: [SIMD2<UInt64>: ValueBytes] = [:]

  private enum Opened {
    case notYet
    case missing
    case tree(TreeReader)
  }

  package init(schema: StoredSchema, snapshot: Snapshot) {
    self.schema = schema
    self.snapshot = snapshot
    recordTrees = Array(repeating: .notYet, count: schema.entities.count)
  }

  /// The commit that the view shows.
  package var commit: UInt64 { snapshot.commit }
}

// MARK: - Trees

extension StoreView {
  /// The tree of an entity's records: object number, 8 bytes big-endian → record. Nil while there was none yet.
  package func records(of entity: StoredEntity) throws(StoreError) -> TreeReader? {
    switch recordTrees[entity.ordinal] {
    case .tree(let tree): return tree
    case .missing: return nil
    case .notYet:
      let tree = try snapshot.treeIfPresent(entity.treeName)
      recordTrees[entity.ordinal] = tree.map(Opened.tree) ?? .missing
      return tree
    }
  }

  /// The tree of an index: the components' keys (``KeyCoder``) and the object number → nothing.
  package func tree(of index: StoredIndex) throws(StoreError) -> TreeReader? {
    try tree(named: index.treeName)
  }

  /// The tree of a to-one relationship: destination's and object's number, 8 bytes each → nothing.
  package func tree(of toOne: StoredToOne) throws(StoreError) -> TreeReader? {
    try tree(named: toOne.treeName)
  }

  /// A tree by its name in ``TreeName``, or nil while there was none yet.
  package func tree(named name: String) throws(StoreError) -> TreeReader? {
    switch otherTrees[name] ?? .notYet {
    case .tree(let tree): return tree
    case .missing: return nil
    case .notYet:
      let tree = try snapshot.treeIfPresent(name)
      otherTrees[name] = tree.map(Opened.tree) ?? .missing
      return tree
    }
  }
}

// MARK: - Records

extension StoreView {
  /// The record of an object, checked, or nil when there is none. The bytes stay where they are while the view lives.
  /// O(log n).
  package func record(
    _ number: UInt64,
    of entity: StoredEntity
  ) throws(ContextError) -> UnsafeRawBufferPointer? {
    guard let found = try find(number, of: entity) else { return nil }
    guard RecordView(found.bytes, layout: entity.layout) != nil else {
      throw Self.damaged(number, of: entity)
    }
    guard found.isOwned else { return found.bytes }
    // Read again and again, a long record is kept once.
    if let kept = longRecordsByObject[[UInt64(entity.ordinal), number]] { return kept.bytes }
    longRecordsByObject[[UInt64(entity.ordinal), number]] = found
    return found.bytes
  }

  /// The bytes of a value of one of the view's trees, which then stay where they are while the view lives.
  package func keep(_ value: ValueBytes) -> UnsafeRawBufferPointer {
    if value.isOwned { longRecords.append(value) }
    return value.bytes
  }

  /// Whether there is such an object. O(log n).
  package func contains(_ number: UInt64, of entity: StoredEntity) throws(ContextError) -> Bool {
    try find(number, of: entity) != nil
  }

  private func find(_ number: UInt64, of entity: StoredEntity) throws(ContextError) -> ValueBytes? {
    do throws(StoreError) {
      guard let tree = try records(of: entity) else { return nil }
      return try withKey(number) { key throws(StoreError) in try tree.find(key) }
    } catch {
      throw ContextError(error)
    }
  }

  /// What is wrong when bytes are no record of their entity.
  package static func damaged(_ number: UInt64, of entity: StoredEntity) -> ContextError {
    ContextError(
      .corrupt,
      "the record of \(entity.name) \(number) is damaged",
      context: .init(entity: entity.name)
    )
  }
}

/// Calls `body` with the key of an object's record.
@inline(__always)
func withKey<R, E: Error>(_ number: UInt64, _ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
  var key = number.bigEndian
  return try withUnsafeBytes(of: &key) { bytes throws(E) in try body(bytes) }
}
