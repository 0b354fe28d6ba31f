import PageStore
import Predicates

/// One snapshot of a store, read as records and index trees. Contexts load faults from it, and queries run on it.
///
/// Belongs to one task at a time, like the context that made it: it keeps the trees it has opened.
package final class StoreView: ObjectSource {
  package let schema: ResolvedSchema
  private let source: Result<Snapshot, ContextError>
  /// The open entities, by the entity's ordinal. Empty until the first read: each save makes a view, and many of
  /// them are never read.
  private var entities: [OpenEntity] = []
  private var otherTrees: [String: Opened] = [:]
  /// Copies of records, because objects and rows point to them, and pages are evicted.
  // Each access is one call of a method of the arena, which calls nothing else.
  @exclusivity(unchecked) private var kept = RecordArena()
  /// Lists of elements that were read together.
  var keptElements = KeptElements()
  /// Counts of what queries have read.
  var counters = QueryCounters()
  /// The cancellation by the waiting task; set if the view is read outside of this task.
  var cancellation: Cancellation?
  /// The log of the store's queries; nil for a view whose reads are no queries of a program.
  var queryLogging: QueryLogging?

  /// The open trees of an entity, and the reader of its records.
  private struct OpenEntity {
    var records = Opened.notYet
    /// Trees of declared indexes, by the index's ordinal; added when the first is asked for.
    var indexes: [Opened] = []
    /// Nil until a record is looked up.
    var reader: RecordReader?
  }

  private enum Opened {
    case notYet
    case missing
    case tree(TreeReader)
  }

  package convenience init(schema: ResolvedSchema, snapshot: Snapshot) {
    self.init(schema, .success(snapshot))
  }

  /// - Parameter source: the snapshot, or the error that every read of the view throws because there is no
  ///   snapshot.
  init(_ schema: ResolvedSchema, _ source: Result<Snapshot, ContextError>) {
    self.schema = schema
    self.source = source
  }

  /// - Throws: for a view that shows no snapshot, an error that ``ContextError`` turns back into ``failure``.
  var snapshot: Snapshot {
    get throws(StoreError) {
      switch source {
      case .success(let snapshot): return snapshot
      case .failure(let error): throw error.storeError ?? .closed(by: error, error.message)
      }
    }
  }

  /// The reason why the view shows nothing; nil if it shows a snapshot.
  var failure: ContextError? { if case .failure(let error) = source { error } else { nil } }

  /// The commit that the view shows; 0 if it shows none.
  package var commit: UInt64 { (try? source.get().commit) ?? 0 }

  /// Returns the changes of the commits between another view of the store and this one, in order. Empty if either
  /// shows nothing.
  func changeSets(since other: StoreView) -> [ChangeSet] {
    guard let other = try? other.source.get(), let snapshot = try? source.get() else { return [] }
    return snapshot.attachments(after: other).compactMap { $0 as? ChangeSet }
  }

  func another() -> any ObjectSource {
    let view = StoreView(schema, source)
    view.cancellation = cancellation
    view.queryLogging = queryLogging
    return view
  }
}

// MARK: - Trees

extension StoreView {
  private func makeEntitiesIfNeeded() {
    if entities.isEmpty { entities = Array(repeating: OpenEntity(), count: schema.entities.count) }
  }

  /// Returns the tree of an entity's records: object number, 8 bytes big-endian → record. Nil if there is none yet.
  package func records(of entity: StoredEntity) throws(StoreError) -> TreeReader? {
    makeEntitiesIfNeeded()
    switch entities[entity.ordinal].records {
    case .tree(let tree): return tree
    case .missing: return nil
    case .notYet:
      let tree = try snapshot.treeIfPresent(entity.treeName)
      entities[entity.ordinal].records = tree.map(Opened.tree) ?? .missing
      return tree
    }
  }

  /// Returns the tree of an index, or nil if there is none yet. For a declared index: the components' keys
  /// (``KeyCoder``) and the object number → nothing. For the index of a relationship: destination's and object's
  /// number, 8 bytes each → nothing.
  func tree(of index: ResolvedIndex) throws(StoreError) -> TreeReader? {
    let (entity, ordinal) = (index.id.entity.ordinal, index.id.ordinal)
    makeEntitiesIfNeeded()
    if entities[entity].indexes.isEmpty {
      entities[entity].indexes = Array(
        repeating: .notYet,
        count: schema.entities[entity].schema.indexes.count
      )
    }
    switch entities[entity].indexes[ordinal] {
    case .tree(let tree): return tree
    case .missing: return nil
    case .notYet:
      let tree = try tree(named: schema.treeName(of: index.id))
      entities[entity].indexes[ordinal] = tree.map(Opened.tree) ?? .missing
      return tree
    }
  }

  /// Returns the tree of a to-one relationship: destination's and object's number, 8 bytes each → nothing.
  func tree(of toOne: StoredToOne) throws(StoreError) -> TreeReader? {
    try tree(named: toOne.treeName)
  }

  /// Returns a tree by its name, or nil if there is none yet.
  func tree(named name: String) throws(StoreError) -> TreeReader? {
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
  /// Returns the record of an object, checked, or nil when there is none. The bytes stay where they are until
  /// ``releaseKept()``. O(log n).
  func record(
    _ number: ObjectNumber,
    of entity: StoredEntity
  ) throws(ContextError) -> UnsafeRawBufferPointer? {
    try withRecord(number, of: entity) { kept.copy($0.bytes) }
  }

  func records(
    _ numbers: ArraySlice<ObjectNumber>,
    of entity: StoredEntity,
    byteLimit: Int
  ) throws(ContextError) -> [UnsafeRawBufferPointer?] {
    let reader = reader(of: entity)
    let end = kept.byteCount + byteLimit
    var records: [UnsafeRawBufferPointer?] = []
    records.reserveCapacity(numbers.count)
    try ContextError.mapping { () throws(StoreError) in
      try self.records(of: entity)?.forEachValue(ofKeys: recordKeys(numbers)) { _, bytes in
        // A damaged record is left out here; the lookup of that object alone reports it.
        let record = bytes.flatMap { reader.view($0) }?.bytes
        records.append(record.map { kept.copy($0) })
        return kept.byteCount < end
      }
    }
    return records
  }

  func reference(
    at slot: Int,
    of number: ObjectNumber,
    _ entity: StoredEntity
  ) throws(ContextError) -> ObjectNumber {
    try withRecord(number, of: entity) { $0.reference(slot) } ?? .none
  }

  /// Calls `body` with the record of an object, checked; returns nil when there is none. `body` must not look up
  /// another one. O(log n).
  func withRecord<R>(
    _ number: ObjectNumber,
    of entity: StoredEntity,
    _ body: (RecordView) -> R
  ) throws(ContextError) -> R? {
    counters.singleReads += 1
    let reader = reader(of: entity)
    let result: R?? = try ContextError.mapping { () throws(StoreError) in
      guard let tree = try records(of: entity) else { return .some(nil) }
      return try withKey(number) { key throws(StoreError) in
        guard let found = try tree.find(key) else { return .some(nil) }
        return found.withBytes { bytes in reader.view(bytes).map(body) }
      }
    }
    guard let result else { throw ContextError.damagedRecord(number, of: entity.name) }
    return result
  }

  func reader(of entity: StoredEntity) -> RecordReader {
    makeEntitiesIfNeeded()
    if let reader = entities[entity.ordinal].reader { return reader }
    let reader = RecordReader(entity)
    entities[entity.ordinal].reader = reader
    return reader
  }

  /// Returns a copy of a record of the newest layout, which stays at its address until ``releaseKept()``; an empty
  /// copy if the bytes are no record of the entity. The bytes are checked here, while they are at hand.
  func keep(_ record: UnsafeRawBufferPointer, of entity: StoredEntity) -> UnsafeRawBufferPointer {
    guard RecordView(record, layout: entity.layout) != nil else {
      return UnsafeRawBufferPointer(start: nil, count: 0)
    }
    return kept.copy(record)
  }

  /// Bytes of records that are kept.
  var keptByteCount: Int { kept.byteCount + keptElements.byteCount }

  /// Gives the memory of all kept records and lists back.
  func releaseKept() {
    kept.removeAll()
    keptElements = KeptElements()
  }

  /// Returns whether there is such an object. O(log n).
  func contains(_ number: ObjectNumber, of entity: StoredEntity) throws(ContextError) -> Bool {
    try ContextError.mapping { () throws(StoreError) in
      guard let tree = try records(of: entity) else { return false }
      return try withKey(number) { key throws(StoreError) in try tree.contains(key) }
    }
  }
}

/// Returns the keys of the records of objects, as they lie in memory.
func recordKeys(_ numbers: some Collection<ObjectNumber>) -> [UInt64] {
  // A closure, as a key path of two steps would be followed at run time for each number.
  numbers.map { $0.rawValue.bigEndian }
}

/// Calls `body` with the key of an object's record.
@inline(__always)
func withKey<R, E: Error>(
  _ number: ObjectNumber,
  _ body: (UnsafeRawBufferPointer) throws(E) -> R
) throws(E) -> R {
  var key = number.rawValue.bigEndian
  return try withUnsafeBytes(of: &key) { bytes throws(E) in try body(bytes) }
}
