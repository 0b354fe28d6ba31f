import Foundation
import PageStore
import Predicates

extension ResolvedSchema {
  /// Returns the tree that a step reads.
  fileprivate func source(of step: MigrationStep) -> String {
    switch step {
    case .index(let number, _), .derived(let number): entity(number)?.treeName ?? ""
    default: step.source ?? ""
    }
  }
}

/// The part of a step that one commit stores.
struct MigrationChunk {
  private(set) var rowCount = 0
  private(set) var byteCount = 0
  /// The key of the source that was done last; nil at the end of the step.
  private(set) var position: [UInt8]?
  /// The entries to be stored that have a value.
  private var entries: [(key: [UInt8], value: [UInt8])] = []
  /// The keys to be stored without a value.
  private var batch = KeyBatch()
  /// The number of bytes from which on the chunk is full.
  private let byteLimit: Int

  /// Builds the chunk.
  init(
    _ step: MigrationStep,
    _ schema: ResolvedSchema,
    after position: [UInt8]?,
    byteLimit: Int,
    store storeID: UUID,
    _ transaction: inout WriteTransaction
  ) throws {
    self.byteLimit = byteLimit
    guard let source = try transaction.treeIfPresent(schema.source(of: step)) else { return }
    let range = position.map { KeyRange(lower: .excluding($0)) } ?? .all
    switch step {
    case .exchangedPairs(_, let target), .barePairs(_, let target):
      try collectPairs(source, range, isExchanged: step.exchangesPairs)
      try store(in: target, &transaction)
    case .copiedPairs(_, let target):
      try collectPairsWithPlaces(source, range)
      try store(in: target, &transaction)
    case .placedPairs(_, let target):
      try collectPlacedPairs(source, range)
      try store(in: target, &transaction)
    case .order(_, let target):
      try collectOrder(of: source, range)
      try store(in: target, &transaction)
    case .copiedValues(let name, let target):
      // A save can't take over a staged value once the schema has changed.
      let staged = try StagedBlobs.prefixes(of: name, in: transaction.tree(SchemaTree.name))
      try collectValues(source, besides: staged, range)
      try store(in: target, &transaction)
    case .index(let number, _), .records(let number, _), .inverse(let number, _, _, _), .derived(let number):
      guard let entity = schema.entity(number) else { return }
      try build(step, of: entity, schema, source, range, storeID, &transaction)
    case .pass: return
    }
  }

  /// Builds the chunk of a step that makes records of an entity, or an index of them.
  private mutating func build(
    _ step: MigrationStep,
    of entity: StoredEntity,
    _ schema: ResolvedSchema,
    _ source: WriteTree,
    _ range: KeyRange,
    _ storeID: UUID,
    _ transaction: inout WriteTransaction
  ) throws {
    switch step {
    case .index(_, let index):
      guard let index = schema.index(index, of: entity) else { return }
      try collect(index, of: entity, source, range, storeID)
      try store(in: entity.treeName(of: index.id), &transaction)
    case .records:
      try collectRecords(of: entity, source, range)
      try store(in: entity.treeName, &transaction)
    case .inverse(_, let property, _, _):
      guard let slot = schema.slot(of: property, in: entity) else { return }
      let records = try transaction.tree(entity.treeName)
      try collectLinked(slot, of: entity, records, source, range, step)
      try store(in: entity.treeName, &transaction)
    case .derived:
      let trees = try schema.treesOfMembers(of: entity, &transaction)
      var values = DerivedValues<WriteTree>(schema) { trees[$0] }
      try collectDerived(of: entity, source, range, &values)
      try store(in: entity.treeName, &transaction)
    // These make neither records nor an index.
    case .exchangedPairs, .barePairs, .copiedPairs, .placedPairs, .order, .copiedValues, .pass: return
    }
  }

  // MARK: Collecting

  /// Goes through the entries of a tree until the chunk is full.
  ///
  /// - Parameter collect: adds the changes for the entry at the cursor to the chunk; it gets the entry's key. Returns
  ///   the number of bytes that it has added.
  private mutating func forEachEntry(
    of tree: WriteTree,
    _ range: KeyRange,
    _ collect: (inout MigrationChunk, inout TreeCursor, UnsafeRawBufferPointer) throws -> Int
  ) throws {
    var cursor = try tree.cursor(in: range)
    while try cursor.next() {
      let key = try cursor.key()
      let collectedCount = try collect(&self, &cursor, key)
      rowCount += 1
      byteCount += collectedCount
      if byteCount >= byteLimit {
        position = [UInt8](key)
        return
      }
    }
  }

  /// Takes an entry; returns its number of bytes.
  private mutating func take(_ key: [UInt8], _ value: [UInt8]) -> Int {
    entries.append((key, value))
    return key.count + value.count
  }

  /// Takes a key without a value; returns its number of bytes.
  private mutating func take(_ key: [UInt8]) -> Int {
    batch.append(key)
    return key.count + MemoryLayout<KeyBatch.Entry>.stride
  }

  /// Stores the entries and the keys of the chunk.
  private mutating func store(in tree: String, _ transaction: inout WriteTransaction) throws {
    if !entries.isEmpty { try transaction.tree(tree).put(contentsOf: entries) }
    batch.sort()
    if !batch.isEmpty { try transaction.tree(tree).put(batch) }
  }

  private mutating func collectRecords(
    of entity: StoredEntity,
    _ records: WriteTree,
    _ range: KeyRange
  ) throws {
    let reader = RecordReader(entity)
    try forEachEntry(of: records, range) { chunk, cursor, key in
      guard let record = reader.view(try cursor.value()) else {
        throw ContextError.damagedRecord(KeyCoder.number(ending: key) ?? .none, of: entity.name)
      }
      return chunk.take([UInt8](key), [UInt8](record.bytes))
    }
  }

  /// Collects records with their derived values.
  private mutating func collectDerived(
    of entity: StoredEntity,
    _ records: WriteTree,
    _ range: KeyRange,
    _ values: inout DerivedValues<WriteTree>
  ) throws {
    var encoder = RecordEncoder(layout: entity.layout)
    try forEachEntry(of: records, range) { chunk, cursor, key in
      let number = KeyCoder.number(ending: key) ?? .none
      guard let record = RecordView(try cursor.value(), layout: entity.layout) else {
        throw ContextError.damagedRecord(number, of: entity.name)
      }
      encoder.removeAll()
      let new = encoder.encode(record, replacing: try values.all(of: entity, number, record), entity)
      try encoder.checkComplete(of: entity.name)
      RecordEncoder.stamp(new, commit: record.commit)
      return chunk.take([UInt8](key), [UInt8](new))
    }
  }

  /// - Parameter staged: the prefixes of the keys of the parts that are left out.
  private mutating func collectValues(
    _ values: WriteTree,
    besides staged: Set<[UInt8]>,
    _ range: KeyRange
  ) throws {
    try forEachEntry(of: values, range) { chunk, cursor, key in
      if staged.contains([UInt8](key.prefix(BlobKey.prefixByteCount))) { return 0 }
      return chunk.take([UInt8](key), [UInt8](try cursor.value()))
    }
  }

  /// Collects the records that a chunk of links leads to, with their destinations.
  private mutating func collectLinked(
    _ slot: Int,
    of entity: StoredEntity,
    _ records: WriteTree,
    _ links: WriteTree,
    _ range: KeyRange,
    _ step: MigrationStep
  ) throws {
    var encoder = RecordEncoder(layout: entity.layout)
    try forEachEntry(of: links, range) { chunk, cursor, pair in
      guard let (object, destination) = step.ends(of: pair) else { throw ContextError.damaged("a link") }
      let place = try step.place(cursor.value(), entity.toOne(slot: slot)?.list?.slots)
      let key = KeyCoder.key(of: object)
      let linked = try records.value(for: key)?.withUnsafeBytes { bytes -> [UInt8]? in
        guard let record = RecordView(bytes, layout: entity.layout) else { return nil }
        encoder.removeAll()
        var new = encoder.encode(record, replacing: slot, with: .reference(destination))
        if let place, let referring = RecordView(UnsafeRawBufferPointer(new), layout: entity.layout) {
          new = encoder.encode(referring, replacing: place.slot, with: place.value)
        }
        RecordEncoder.stamp(new, commit: record.commit)
        return [UInt8](new)
      }
      guard let record = linked ?? nil else { throw ContextError.damagedRecord(object, of: entity.name) }
      try encoder.checkComplete(of: entity.name)
      return chunk.take(key, record)
    }
  }

  private mutating func collect(
    _ index: ResolvedIndex,
    of entity: StoredEntity,
    _ records: WriteTree,
    _ range: KeyRange,
    _ storeID: UUID
  ) throws {
    let reader = RecordReader(entity)
    var key: [UInt8] = []
    try forEachEntry(of: records, range) { chunk, cursor, source in
      let number = KeyCoder.number(ending: source) ?? .none
      guard let record = reader.view(try cursor.value()) else {
        throw ContextError.damagedRecord(number, of: entity.name)
      }
      let known = chunk.batch.byteCount
      var isTooLong = false
      index.forEachKey(of: record, number, in: &key) {
        isTooLong = isTooLong || $0.count > StoreLimits.keyByteCount
        chunk.batch.append($0)
      }
      // Keys of values that the change derives couldn't be checked before.
      if isTooLong { throw Self.longKey(of: index, number, entity, storeID) }
      return chunk.batch.byteCount - known
    }
  }

  private static func longKey(
    of index: ResolvedIndex,
    _ number: ObjectNumber,
    _ entity: StoredEntity,
    _ storeID: UUID
  ) -> ContextError {
    var refusal = SchemaRefusal()
    refusal.add(
      SchemaRefusal.Offender(
        rule: .keyLength,
        objectID: entity.objectID(number, in: storeID),
        properties: index.slots.map { entity.schema.stored[$0].name },
        values: []
      )
    )
    return .refused(refusal)
  }

  private mutating func collectPairs(
    _ pairs: WriteTree,
    _ range: KeyRange,
    isExchanged: Bool
  ) throws {
    let half = KeyCoder.numberByteCount
    try forEachEntry(of: pairs, range) { chunk, _, key in
      guard key.count == 2 * half else { throw ContextError.damaged("a link") }
      return chunk.take(isExchanged ? [UInt8](key[half...]) + key[..<half] : [UInt8](key))
    }
  }

  /// Collects pairs, of which some have a place as value.
  private mutating func collectPairsWithPlaces(_ pairs: WriteTree, _ range: KeyRange) throws {
    try forEachEntry(of: pairs, range) { chunk, cursor, key in
      guard key.count == 2 * KeyCoder.numberByteCount else { throw ContextError.damaged("a link") }
      let value = try cursor.value()
      return value.isEmpty ? chunk.take([UInt8](key)) : chunk.take([UInt8](key), [UInt8](value))
    }
  }

  /// Collects the links in an index of an ordered to-one relationship, with their places. An object without a
  /// destination has no link.
  private mutating func collectPlacedPairs(_ index: WriteTree, _ range: KeyRange) throws {
    try forEachEntry(of: index, range) { chunk, _, key in
      guard let (owner, entry) = KeyCoder.listMember(ofKey: key) else {
        throw ContextError.damaged("a place")
      }
      if !owner.isNone { chunk.entries.append((KeyCoder.pair(owner, entry.number), entry.linkValue)) }
      return 2 * KeyCoder.numberByteCount
    }
    // The members of an owner are in the order of their places.
    entries.sort { $0.key.lexicographicallyPrecedes($1.key) }
  }

  private mutating func collectOrder(of pairs: WriteTree, _ range: KeyRange) throws {
    try forEachEntry(of: pairs, range) { chunk, cursor, key in
      guard let (owner, element) = KeyCoder.numbers(ofPair: key),
        let entry = ListEntry(linkValue: try [UInt8](cursor.value()), number: element)
      else { throw ContextError.damaged("a link") }
      return chunk.take(KeyCoder.listKey(owner, entry))
    }
  }
}

extension MigrationStep {
  fileprivate var exchangesPairs: Bool {
    switch self {
    case .exchangedPairs, .inverse(_, _, _, isExchanged: true): true
    default: false
    }
  }

  /// Returns the place of the object of a pair beside its new reference; nil for the place of its number.
  ///
  /// - Parameters:
  ///   - value: the value of the pair. The pair leads from the destination to the object if halves are exchanged.
  ///   - slots: nil if the new reference has no order.
  fileprivate func place(
    _ value: UnsafeRawBufferPointer,
    _ slots: PlaceSlots?
  ) -> (slot: Int, value: AttributeValue)? {
    guard let slots, exchangesPairs, !value.isEmpty, let place = ListPlace(Array(value)) else { return nil }
    return (slots.place, place._attributeValue)
  }

  /// Returns the object that a pair belongs to, and the other one.
  fileprivate func ends(of pair: UnsafeRawBufferPointer) -> (object: ObjectNumber, destination: ObjectNumber)?
  {
    guard let (first, second) = KeyCoder.numbers(ofPair: pair) else { return nil }
    return exchangesPairs ? (second, first) : (first, second)
  }
}

extension ResolvedSchema {
  /// Returns the trees from which the derived values of an entity are computed, by name.
  fileprivate func treesOfMembers(
    of entity: StoredEntity,
    _ transaction: inout WriteTransaction
  ) throws -> [String: WriteTree] {
    var trees: [String: WriteTree] = [:]
    for name in memberTrees(of: entity) { trees[name] = try transaction.treeIfPresent(name) }
    return trees
  }
}
