import PageStore
import Predicates

/// Compares records, index entries, references and pairs of one snapshot with each other, and reports every difference.
///
/// The page store has verified its pages; here the question is whether the trees fit together.
package struct StoreVerifier {
  private let view: StoreView
  private var found: [IntegrityProblem] = []
  /// How many objects of the entity at hand have a reference, by its place among the to-one relationships.
  private var referenceCounts: [Int] = []

  package init(_ view: StoreView) { self.view = view }

  /// Every problem. O(n log n).
  package consuming func problems() throws(StoreError) -> [IntegrityProblem] {
    for entity in view.schema.entities {
      try verifyRecords(of: entity)
      try verifyKeys(of: entity)
      for relationship in entity.toManys { try verifyPairs(relationship) }
    }
    return found
  }

  private mutating func report(_ message: String, _ tree: String) {
    found.append(IntegrityProblem(message: message, tree: tree))
  }

  // MARK: From records to keys

  private mutating func verifyRecords(of entity: StoredEntity) throws(StoreError) {
    referenceCounts = entity.toOnes.map { _ in 0 }
    guard let tree = try view.records(of: entity) else { return }
    var cursor = tree.cursor()
    while try cursor.next() {
      let key = try cursor.key()
      guard key.count == KeyCoder.objectIDByteCount, let number = KeyCoder.objectID(ending: key), number != 0
      else {
        report("a key of \(key.count) bytes is no object number", entity.treeName)
        continue
      }
      guard let record = RecordView(try cursor.value(), layout: entity.layout) else {
        report("the record of \(entity.name) \(number) is damaged", entity.treeName)
        continue
      }
      try verify(record, number, entity)
    }
  }

  private mutating func verify(
    _ record: RecordView,
    _ number: UInt64,
    _ entity: StoredEntity
  ) throws(StoreError) {
    if record.commit > view.commit {
      report("\(entity.name) \(number) claims the later commit \(record.commit)", entity.treeName)
    }
    if let slot = record.firstMissingSlot(entity.requiredSlots) {
      report("\(entity.name) \(number) has no \(entity.schema.stored[slot].name)", entity.treeName)
    }
    for property in entity.schema.stored where property.kind == .decimal {
      if !record.isNull(property.slot), record.decimal(property.slot) == nil {
        report("\(entity.name) \(number) has no decimal for \(property.name)", entity.treeName)
      }
    }
    for index in entity.indexes {
      var key: [UInt8] = []
      _ = index.appendKey(of: record, number, to: &key)
      if try view.tree(of: index)?.contains(key) != true {
        report("the index has no entry for \(entity.name) \(number)", index.treeName)
      }
    }
    for (place, toOne) in entity.toOnes.enumerated() where !record.isNull(toOne.slot) {
      referenceCounts[place] += 1
      let target = record.reference(toOne.slot)
      if try view.tree(of: toOne)?.contains(KeyCoder.pair(target, number)) != true {
        report("the reference of \(entity.name) \(number) to \(target) has no entry", toOne.treeName)
      }
      let destination = view.schema.entities[toOne.destination]
      if try !exists(target, destination) {
        report(
          "\(entity.name) \(number) refers to \(destination.name) \(target), which doesn't exist",
          toOne.treeName
        )
      }
      if case .toOne(let inverse) = toOne.inverse, try !leadsTo(number, from: target, destination, inverse) {
        report(
          "\(entity.name) \(number) refers to \(destination.name) \(target), which doesn't refer back",
          toOne.treeName
        )
      }
    }
  }

  /// Whether an object's to-one relationship leads to `number`. An object that is missing or damaged is reported elsewhere.
  private func leadsTo(
    _ number: UInt64,
    from object: UInt64,
    _ entity: StoredEntity,
    _ slot: Int
  ) throws(StoreError) -> Bool {
    guard let tree = try view.records(of: entity) else { return true }
    return try withKey(object) { key throws(StoreError) in
      guard let found = try tree.find(key) else { return true }
      return found.withBytes { bytes in
        RecordView(bytes, layout: entity.layout).map { $0.reference(slot) == number } ?? true
      }
    }
  }

  private func exists(_ number: UInt64, _ entity: StoredEntity) throws(StoreError) -> Bool {
    try view.records(of: entity)?.contains(KeyCoder.key(objectID: number)) ?? false
  }

  // MARK: From keys to records

  /// Every record has its entries; so there are none too many exactly when there are as many as there should be.
  private mutating func verifyKeys(of entity: StoredEntity) throws(StoreError) {
    let records = try view.records(of: entity)?.count ?? 0
    for index in entity.indexes {
      let entries = try view.tree(of: index)?.count ?? 0
      if entries != records {
        report("the index has \(entries) entries for \(records) objects of \(entity.name)", index.treeName)
      }
      if index.isUnique { try verifyUnique(index, entity) }
    }
    for (toOne, references) in zip(entity.toOnes, referenceCounts) {
      let entries = try view.tree(of: toOne)?.count ?? 0
      if entries != references {
        report("there are \(entries) entries for \(references) references of \(entity.name)", toOne.treeName)
      }
    }
  }

  private mutating func verifyUnique(_ index: StoredIndex, _ entity: StoredEntity) throws(StoreError) {
    guard let tree = try view.tree(of: index) else { return }
    var last: [UInt8] = []
    var cursor = tree.cursor()
    while try cursor.next() {
      let key = try cursor.key()
      let components = [UInt8](key.dropLast(KeyCoder.objectIDByteCount))
      var reader = KeyReader(key)
      let hasNil = index.slots.contains { reader.next(entity.layout.fields[$0].kind)?.isNull ?? true }
      if components == last, !hasNil {
        report("two objects of \(entity.name) have the same \(index.schema.name)", index.treeName)
      }
      last = components
    }
  }

  // MARK: Pairs

  private mutating func verifyPairs(_ relationship: StoredToMany) throws(StoreError) {
    guard case .pairs(let trees) = relationship.storage, let tree = try view.tree(named: trees.forward) else {
      return
    }
    let backward = try view.tree(named: trees.backward)
    let destination = view.schema.entities[relationship.destination]
    var cursor = tree.cursor()
    while try cursor.next() {
      let key = try cursor.key()
      guard key.count == 2 * KeyCoder.objectIDByteCount, let element = KeyCoder.objectID(ending: key),
        let owner = KeyCoder.objectID(ending: UnsafeRawBufferPointer(rebasing: key.prefix(8)))
      else {
        report("a key of \(key.count) bytes is no pair", trees.forward)
        continue
      }
      if try backward?.contains(KeyCoder.pair(element, owner)) != true {
        report("the link from \(owner) to \(element) has no way back", trees.forward)
      }
      if try !exists(element, destination) {
        report("\(owner) is linked to \(destination.name) \(element), which doesn't exist", trees.forward)
      }
    }
  }
}
