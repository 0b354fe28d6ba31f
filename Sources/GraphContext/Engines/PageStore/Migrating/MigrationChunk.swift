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
      try store(collectPairsWithPlaces(source, range), in: target, &transaction)
      try store(in: target, &transaction)
    case .placedPairs(_, let target):
      try store(collectPlacedPairs(source, range), in: target, &transaction)
    case .order(_, let target):
      try collectOrder(of: source, range)
      try store(in: target, &transaction)
    case .copiedValues(let name, let target):
      // A save can't take over a staged value once the schema has changed.
      let staged = try StagedBlobs.prefixes(of: name, in: transaction.tree(SchemaTree.name))
      try store(collectValues(source, besides: staged, range), in: target, &transaction)
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
      try store(collectRecords(of: entity, source, range), in: entity.treeName, &transaction)
    case .inverse(_, let property, _, _):
      guard let slot = schema.slot(of: property, in: entity) else { return }
      let records = try transaction.tree(entity.treeName)
      let linked = try collectLinked(slot, of: entity, records, source, range, step)
      for (key, record) in linked { try records.put(key, record) }
    case .derived:
      let trees = try schema.treesOfMembers(of: entity, &transaction)
      var values = DerivedValues<WriteTree>(schema) { trees[$0] }
      let derived = try collectDerived(of: entity, source, range, &values)
      for (key, record) in derived { try source.put(key, record) }
    // These make neither records nor an index.
    case .exchangedPairs, .barePairs, .copiedPairs, .placedPairs, .order, .copiedValues, .pass: return
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
    _ range: KeyRange
  ) throws -> [(key: [UInt8], value: [UInt8])] {
    let reader = RecordReader(entity)
    var copies: [(key: [UInt8], value: [UInt8])] = []
    var cursor = try records.cursor(in: range)
    while try cursor.next() {
      let key = try cursor.key()
      guard let record = reader.view(try cursor.value()) else {
        throw ContextError.damagedRecord(KeyCoder.number(ending: key) ?? .none, of: entity.name)
      }
      copies.append(([UInt8](key), [UInt8](record.bytes)))
      if count(key.count + record.bytes.count, from: key) { break }
    }
    return copies
  }

  /// Collects records with their derived values.
  private mutating func collectDerived(
    of entity: StoredEntity,
    _ records: WriteTree,
    _ range: KeyRange,
    _ values: inout DerivedValues<WriteTree>
  ) throws -> [(key: [UInt8], record: [UInt8])] {
    var encoder = RecordEncoder(layout: entity.layout)
    var changed: [(key: [UInt8], record: [UInt8])] = []
    var cursor = try records.cursor(in: range)
    while try cursor.next() {
      let key = try cursor.key()
      let number = KeyCoder.number(ending: key) ?? .none
      guard let record = RecordView(try cursor.value(), layout: entity.layout) else {
        throw ContextError.damagedRecord(number, of: entity.name)
      }
      encoder.removeAll()
      let new = encoder.encode(record, replacing: try values.all(of: entity, number, record), entity)
      RecordEncoder.stamp(new, commit: record.commit)
      changed.append(([UInt8](key), [UInt8](new)))
      if count(key.count + new.count, from: key) { break }
    }
    return changed
  }

  /// - Parameter staged: the prefixes of the keys of the parts that are left out.
  private mutating func collectValues(
    _ values: WriteTree,
    besides staged: Set<[UInt8]>,
    _ range: KeyRange
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
      if count(key.count + value.count, from: key) { break }
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
    _ step: MigrationStep
  ) throws -> [(key: [UInt8], record: [UInt8])] {
    var encoder = RecordEncoder(layout: entity.layout)
    var changed: [(key: [UInt8], record: [UInt8])] = []
    var cursor = try links.cursor(in: range)
    while try cursor.next() {
      let pair = try cursor.key()
      guard let (object, destination) = step.ends(of: pair) else { throw ContextError.damaged("a link") }
      let place = try step.place(cursor.value(), entity.toOne(slot: slot)?.list?.slots)
      let key = KeyCoder.key(of: object)
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
      guard let record = record ?? nil else { throw ContextError.damagedRecord(object, of: entity.name) }
      changed.append((key, record))
      if count(key.count + record.count, from: pair) { break }
    }
    return changed
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
    var known = batch.byteCount
    var cursor = try records.cursor(in: range)
    while try cursor.next() {
      let number = KeyCoder.number(ending: try cursor.key()) ?? .none
      guard let record = reader.view(try cursor.value()) else {
        throw ContextError.damagedRecord(number, of: entity.name)
      }
      var isTooLong = false
      index.forEachKey(of: record, number, in: &key) {
        isTooLong = isTooLong || $0.count > StoreLimits.keyByteCount
        batch.append($0)
      }
      // Keys of values that the change derives couldn't be checked before.
      if isTooLong { throw longKey(of: index, number, entity, storeID) }
      let byteCount = batch.byteCount - known
      known = batch.byteCount
      if count(byteCount, from: try cursor.key()) { return }
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
    isExchanged: Bool
  ) throws {
    let half = KeyCoder.numberByteCount
    var cursor = try pairs.cursor(in: range)
    while try cursor.next() {
      let key = try cursor.key()
      guard key.count == 2 * half else { throw ContextError.damaged("a link") }
      if add(isExchanged ? [UInt8](key[half...]) + key[..<half] : [UInt8](key), from: key) {
        return
      }
    }
  }

  /// Gathers pairs. Returns the pairs that have a place as value; the others become keys of the batch.
  private mutating func collectPairsWithPlaces(
    _ pairs: WriteTree,
    _ range: KeyRange
  ) throws -> [(key: [UInt8], value: [UInt8])] {
    var copies: [(key: [UInt8], value: [UInt8])] = []
    var cursor = try pairs.cursor(in: range)
    while try cursor.next() {
      let key = try cursor.key()
      guard key.count == 2 * KeyCoder.numberByteCount else { throw ContextError.damaged("a link") }
      let value = try cursor.value()
      if value.isEmpty {
        if add([UInt8](key), from: key) { break }
        continue
      }
      copies.append(([UInt8](key), [UInt8](value)))
      if count(key.count + value.count, from: key) { break }
    }
    return copies
  }

  /// Collects the links in an index of an ordered to-one relationship, with their places. An object without a
  /// destination has no link.
  private mutating func collectPlacedPairs(
    _ index: WriteTree,
    _ range: KeyRange
  ) throws -> [(key: [UInt8], value: [UInt8])] {
    var pairs: [(key: [UInt8], value: [UInt8])] = []
    var cursor = try index.cursor(in: range)
    while try cursor.next() {
      let key = try cursor.key()
      guard let (owner, entry) = KeyCoder.listMember(ofKey: key) else {
        throw ContextError.damaged("a place")
      }
      if !owner.isNone { pairs.append((KeyCoder.pair(owner, entry.number), entry.linkValue)) }
      if count(2 * KeyCoder.numberByteCount, from: key) { break }
    }
    // The members of an owner are in the order of their places.
    return pairs.sorted { $0.key.lexicographicallyPrecedes($1.key) }
  }

  private mutating func collectOrder(of pairs: WriteTree, _ range: KeyRange) throws {
    var cursor = try pairs.cursor(in: range)
    while try cursor.next() {
      let key = try cursor.key()
      guard let (owner, element) = KeyCoder.numbers(ofPair: key),
        let entry = ListEntry(linkValue: try [UInt8](cursor.value()), number: element)
      else { throw ContextError.damaged("a link") }
      if add(KeyCoder.listKey(owner, entry), from: key) { return }
    }
  }

  /// Returns whether the chunk is full.
  private mutating func add(_ key: [UInt8], from source: UnsafeRawBufferPointer) -> Bool {
    batch.append(key)
    return count(key.count + MemoryLayout<KeyBatch.Entry>.stride, from: source)
  }

  /// Returns whether the chunk is full.
  private mutating func count(_ bytes: Int, from source: UnsafeRawBufferPointer) -> Bool {
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
