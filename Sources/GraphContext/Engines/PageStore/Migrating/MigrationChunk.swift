import Foundation
import PageStore
import Predicates

extension StoredSchema {
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
  private var batch = KeyBatch()

  /// Builds the chunk.
  init(
    _ step: MigrationStep,
    _ schema: StoredSchema,
    after position: [UInt8]?,
    byteLimit: Int,
    store storeID: UUID,
    _ transaction: inout WriteTransaction
  ) throws {
    guard let source = try transaction.treeIfPresent(schema.source(of: step)) else { return }
    let range = position.map { KeyRange(lower: .excluding($0)) } ?? .all
    switch step {
    case .index(let number, let index):
      guard let entity = schema.entity(number), let index = schema.index(index, of: entity) else { return }
      try collect(index, of: entity, source, range, byteLimit, storeID)
      try store(in: entity.treeName(of: index.id), &transaction)
    case .exchangedPairs(_, let target), .barePairs(_, let target):
      try collectPairs(source, range, byteLimit, isExchanged: step.exchangesPairs)
      try store(in: target, &transaction)
    case .copiedPairs(_, let target):
      try store(collectPairsWithPlaces(source, range, byteLimit), in: target, &transaction)
      try store(in: target, &transaction)
    case .placedPairs(_, let target):
      try store(collectPlacedPairs(source, range, byteLimit), in: target, &transaction)
    case .order(_, let target):
      try collectOrder(of: source, range, byteLimit)
      try store(in: target, &transaction)
    case .copiedValues(let name, let target):
      // A save can't take over a staged value once the schema has changed.
      let staged = try StagedBlobs.prefixes(of: name, in: transaction.tree(SchemaTree.name))
      try store(collectValues(source, besides: staged, range, byteLimit), in: target, &transaction)
    case .records(let number, _):
      guard let entity = schema.entity(number) else { return }
      let records = try collectRecords(of: entity, source, range, byteLimit)
      try store(records, in: entity.treeName, &transaction)
    case .inverse(let number, let property, _, _):
      guard let entity = schema.entity(number), let slot = schema.slot(of: property, in: entity) else {
        return
      }
      let tree = try transaction.tree(entity.treeName)
      for (key, record) in try collectLinked(slot, of: entity, tree, source, range, byteLimit, step) {
        try tree.put(key, record)
      }
    case .derived(let number):
      guard let entity = schema.entity(number) else { return }
      let trees = try schema.treesOfMembers(of: entity, &transaction)
      var values = DerivedValues<WriteTree>(schema) { trees[$0] }
      let derived = try collectDerived(of: entity, source, range, byteLimit, &values)
      for (key, record) in derived { try source.put(key, record) }
    case .pass: return
    }
  }

  private mutating func store(in tree: String, _ transaction: inout WriteTransaction) throws {
    batch.sort()
    if !batch.isEmpty { try transaction.tree(tree).put(batch) }
  }

  private func store(
    _ entries: [(key: [UInt8], value: [UInt8])],
    in tree: String,
    _ transaction: inout WriteTransaction
  ) throws {
    if entries.isEmpty { return }
    try transaction.tree(tree).put(contentsOf: entries)
  }

  private mutating func collectRecords(
    of entity: StoredEntity,
    _ records: WriteTree,
    _ range: KeyRange,
    _ byteLimit: Int
  ) throws -> [(key: [UInt8], value: [UInt8])] {
    let reader = RecordReader(entity)
    var copies: [(key: [UInt8], value: [UInt8])] = []
    var cursor = try records.cursor(in: range)
    while try cursor.next() {
      let key = try cursor.key()
      guard let record = reader.view(try cursor.value()) else {
        throw StoreView.damaged(KeyCoder.objectID(ending: key) ?? .none, of: entity)
      }
      copies.append(([UInt8](key), [UInt8](record.bytes)))
      if count(key.count + record.bytes.count, from: key, byteLimit) { break }
    }
    return copies
  }

  /// Collects records with their derived values.
  private mutating func collectDerived(
    of entity: StoredEntity,
    _ records: WriteTree,
    _ range: KeyRange,
    _ byteLimit: Int,
    _ values: inout DerivedValues<WriteTree>
  ) throws -> [(key: [UInt8], record: [UInt8])] {
    var encoder = RecordEncoder(layout: entity.layout)
    var changed: [(key: [UInt8], record: [UInt8])] = []
    var cursor = try records.cursor(in: range)
    while try cursor.next() {
      let key = try cursor.key()
      let number = KeyCoder.objectID(ending: key) ?? .none
      guard let record = RecordView(try cursor.value(), layout: entity.layout) else {
        throw StoreView.damaged(number, of: entity)
      }
      encoder.removeAll()
      let new = encoder.encode(record, replacing: try values.all(of: entity, number, record), entity)
      RecordEncoder.stamp(new, commit: record.commit)
      changed.append(([UInt8](key), [UInt8](new)))
      if count(key.count + new.count, from: key, byteLimit) { break }
    }
    return changed
  }

  /// - Parameter staged: the prefixes of the keys of the parts that are left out.
  private mutating func collectValues(
    _ values: WriteTree,
    besides staged: Set<[UInt8]>,
    _ range: KeyRange,
    _ byteLimit: Int
  ) throws -> [(key: [UInt8], value: [UInt8])] {
    var copies: [(key: [UInt8], value: [UInt8])] = []
    var cursor = try values.cursor(in: range)
    while try cursor.next() {
      let key = try cursor.key()
      if staged.contains([UInt8](key.prefix(BlobKey.prefixByteCount))) {
        rowCount += 1
        continue
      }
      let value = try cursor.value()
      copies.append(([UInt8](key), [UInt8](value)))
      if count(key.count + value.count, from: key, byteLimit) { break }
    }
    return copies
  }

  /// Collects the records that a chunk of links leads to, with their destinations.
  private mutating func collectLinked(
    _ slot: Int,
    of entity: StoredEntity,
    _ records: WriteTree,
    _ links: WriteTree,
    _ range: KeyRange,
    _ byteLimit: Int,
    _ step: MigrationStep
  ) throws -> [(key: [UInt8], record: [UInt8])] {
    var encoder = RecordEncoder(layout: entity.layout)
    var changed: [(key: [UInt8], record: [UInt8])] = []
    var cursor = try links.cursor(in: range)
    while try cursor.next() {
      let pair = try cursor.key()
      guard let (object, destination) = step.ends(of: pair) else { throw SchemaTree.damaged("a link") }
      let place = try step.place(cursor.value(), entity.toOne(slot: slot)?.list?.slots)
      let key = KeyCoder.key(objectID: object)
      let record = try records.value(for: key)?.withUnsafeBytes { bytes -> [UInt8]? in
        guard let record = RecordView(bytes, layout: entity.layout) else { return nil }
        encoder.removeAll()
        var new = encoder.encode(record, replacing: slot, with: .reference(destination))
        if let place, let linked = RecordView(UnsafeRawBufferPointer(new), layout: entity.layout) {
          new = encoder.encode(linked, replacing: place.slot, with: place.value)
        }
        RecordEncoder.stamp(new, commit: record.commit)
        return [UInt8](new)
      }
      guard let record = record ?? nil else { throw StoreView.damaged(object, of: entity) }
      changed.append((key, record))
      if count(key.count + record.count, from: pair, byteLimit) { break }
    }
    return changed
  }

  private mutating func collect(
    _ index: ResolvedIndex,
    of entity: StoredEntity,
    _ records: WriteTree,
    _ range: KeyRange,
    _ byteLimit: Int,
    _ storeID: UUID
  ) throws {
    let reader = RecordReader(entity)
    var key: [UInt8] = []
    var known = batch.byteCount
    var cursor = try records.cursor(in: range)
    while try cursor.next() {
      let number = KeyCoder.objectID(ending: try cursor.key()) ?? .none
      guard let record = reader.view(try cursor.value()) else { throw StoreView.damaged(number, of: entity) }
      var isTooLong = false
      index.forEachKey(of: record, number, in: &key) {
        isTooLong = isTooLong || $0.count > StoreLimits.keyByteCount
        batch.append($0)
      }
      // Keys of values that the change derives couldn't be checked before.
      if isTooLong { throw longKey(of: index, number, entity, storeID) }
      let byteCount = batch.byteCount - known
      known = batch.byteCount
      if count(byteCount, from: try cursor.key(), byteLimit) { return }
    }
  }

  private func longKey(
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
    _ byteLimit: Int,
    isExchanged: Bool
  ) throws {
    let half = KeyCoder.objectIDByteCount
    var cursor = try pairs.cursor(in: range)
    while try cursor.next() {
      let key = try cursor.key()
      guard key.count == 2 * half else { throw SchemaTree.damaged("a link") }
      if add(isExchanged ? [UInt8](key[half...]) + key[..<half] : [UInt8](key), from: key, byteLimit) {
        return
      }
    }
  }

  /// Gathers pairs. Returns the pairs that have a place as value; the others become keys of the batch.
  private mutating func collectPairsWithPlaces(
    _ pairs: WriteTree,
    _ range: KeyRange,
    _ byteLimit: Int
  ) throws -> [(key: [UInt8], value: [UInt8])] {
    var copies: [(key: [UInt8], value: [UInt8])] = []
    var cursor = try pairs.cursor(in: range)
    while try cursor.next() {
      let key = try cursor.key()
      guard key.count == 2 * KeyCoder.objectIDByteCount else { throw SchemaTree.damaged("a link") }
      let value = try cursor.value()
      if value.isEmpty {
        if add([UInt8](key), from: key, byteLimit) { break }
        continue
      }
      copies.append(([UInt8](key), [UInt8](value)))
      if count(key.count + value.count, from: key, byteLimit) { break }
    }
    return copies
  }

  /// Collects the links in an index of an ordered to-one relationship, with their places. An object without a
  /// destination has no link.
  private mutating func collectPlacedPairs(
    _ index: WriteTree,
    _ range: KeyRange,
    _ byteLimit: Int
  ) throws -> [(key: [UInt8], value: [UInt8])] {
    var pairs: [(key: [UInt8], value: [UInt8])] = []
    var cursor = try index.cursor(in: range)
    while try cursor.next() {
      let key = try cursor.key()
      guard let (owner, entry) = KeyCoder.listMember(ofKey: key) else { throw SchemaTree.damaged("a place") }
      if !owner.isNone { pairs.append((KeyCoder.pair(owner, entry.number), entry.linkValue)) }
      if count(2 * KeyCoder.objectIDByteCount, from: key, byteLimit) { break }
    }
    // The members of an owner are in the order of their places.
    return pairs.sorted { $0.key.lexicographicallyPrecedes($1.key) }
  }

  private mutating func collectOrder(of pairs: WriteTree, _ range: KeyRange, _ byteLimit: Int) throws {
    var cursor = try pairs.cursor(in: range)
    while try cursor.next() {
      let key = try cursor.key()
      guard let (owner, element) = KeyCoder.numbers(ofPair: key),
        let entry = ListEntry(linkValue: try [UInt8](cursor.value()), number: element)
      else { throw SchemaTree.damaged("a link") }
      if add(KeyCoder.listKey(owner, entry), from: key, byteLimit) { return }
    }
  }

  /// Returns whether the chunk is full.
  private mutating func add(_ key: [UInt8], from source: UnsafeRawBufferPointer, _ byteLimit: Int) -> Bool {
    batch.append(key)
    return count(key.count + MemoryLayout<KeyBatch.Entry>.stride, from: source, byteLimit)
  }

  /// Returns whether the chunk is full.
  private mutating func count(_ bytes: Int, from source: UnsafeRawBufferPointer, _ byteLimit: Int) -> Bool {
    rowCount += 1
    byteCount += bytes
    if byteCount < byteLimit { return false }
    position = [UInt8](source)
    return true
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

extension StoredSchema {
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
