import PageStore
import Predicates

// No reference to a deleted object stays. The context has applied the rules to the objects of its snapshot. Here
// the rules are applied, record by record, to the objects that other contexts have saved since.

extension SaveTransaction {
  mutating func applyDeleteRules(_ transaction: inout WriteTransaction) throws {
    while true {
      if let (entity, number) = condemned.popLast() {
        try delete(number, entity, &transaction)
      } else if let (entity, number) = deletions.popLast() {
        try release(number, entity, &transaction)
      } else {
        return try checkDenials(&transaction)
      }
    }
  }

  /// Applies the rules of all relationships that lead to a deleted object.
  private mutating func release(
    _ number: ObjectNumber,
    _ entity: StoredEntity,
    _ transaction: inout WriteTransaction
  ) throws {
    for incoming in entity.incoming { try release(number, entity, incoming, &transaction) }
    for relationship in entity.toManys {
      guard case .pairs(let trees) = relationship.storage else { continue }
      try releasePairs(of: number, entity, relationship, trees, &transaction)
    }
  }

  /// Applies a rule to the objects whose to-one relationship leads to a deleted object.
  private mutating func release(
    _ number: ObjectNumber,
    _ entity: StoredEntity,
    _ incoming: IncomingToOne,
    _ transaction: inout WriteTransaction
  ) throws {
    let source = schema.entities[incoming.source]
    for referrer in try linked(to: number, in: incoming.toOne.treeName, &transaction) {
      switch incoming.rule {
      case .nullify: try nullify(incoming.toOne, of: referrer, from: number, source, &transaction)
      case .cascade: condemned.append((source, referrer))
      case .deny:
        denials.append(
          Denial(
            number: number,
            entity: entity,
            other: referrer,
            otherEntity: source,
            relationship: incoming.toOne.name,
            treeName: incoming.toOne.treeName,
            key: KeyCoder.pair(number, referrer)
          )
        )
      }
    }
  }

  private mutating func releasePairs(
    of number: ObjectNumber,
    _ entity: StoredEntity,
    _ relationship: StoredToMany,
    _ trees: PairTrees,
    _ transaction: inout WriteTransaction
  ) throws {
    let destination = schema.entities[relationship.destination]
    for element in try linked(to: number, in: trees.forward, &transaction) {
      switch relationship.deleteRule {
      case .deny:
        denials.append(
          Denial(
            number: number,
            entity: entity,
            other: element,
            otherEntity: destination,
            relationship: relationship.name,
            treeName: trees.forward,
            key: KeyCoder.pair(number, element),
            pairs: trees
          )
        )
      case .cascade:
        try removePair(number, element, trees, &transaction)
        condemned.append((destination, element))
      case .nullify: try removePair(number, element, trees, &transaction)
      }
    }
  }

  /// A rule that denies a deletion of this save, unless the rule's key has left its tree by the end: other rules
  /// may delete the object that is in the way.
  struct Denial {
    let number: ObjectNumber
    let entity: StoredEntity
    let other: ObjectNumber
    let otherEntity: StoredEntity
    let relationship: String
    let treeName: String
    let key: [UInt8]
    /// The trees of the links, for a many-to-many relationship.
    var pairs: PairTrees?
  }

  /// A required relationship that leads to an object that this save deletes. It is no failure if other rules delete
  /// the object with the relationship by the end.
  struct LostReference {
    let failure: ContextError
    let treeName: String
    let key: [UInt8]
  }

  private mutating func checkDenials(_ transaction: inout WriteTransaction) throws {
    for denial in denials where try tree(denial.treeName, &transaction).contains(denial.key) {
      if let pairs = denial.pairs, try !isThere(denial.other, denial.otherEntity, &transaction) {
        // A link whose ends are both deleted denies nothing.
        try removePair(denial.number, denial.other, pairs, &transaction)
      } else {
        failures.note(denied(denial))
      }
    }
    for lost in lostReferences where try tree(lost.treeName, &transaction).contains(lost.key) {
      failures.note(lost.failure)
    }
  }

  private mutating func isThere(
    _ number: ObjectNumber,
    _ entity: StoredEntity,
    _ transaction: inout WriteTransaction
  ) throws -> Bool {
    try tree(entity.treeName, &transaction).contains(KeyCoder.key(of: number))
  }

  private func denied(_ denial: Denial) -> ContextError {
    let (entity, otherEntity) = (denial.entity, denial.otherEntity)
    return ContextError(
      .deletionDenied,
      "\(entity.name) \(denial.number) can't be deleted: \(otherEntity.name) \(denial.other) is still linked to it"
        + " (\(denial.relationship))",
      context: .init(
        entity: entity.name,
        objectID: id(denial.number, entity),
        otherID: id(denial.other, otherEntity),
        properties: [denial.relationship]
      )
    )
  }

  // MARK: One record

  /// Sets a to-one relationship of a stored object to nil.
  private mutating func nullify(
    _ toOne: StoredToOne,
    of number: ObjectNumber,
    from target: ObjectNumber,
    _ entity: StoredEntity,
    _ transaction: inout WriteTransaction
  ) throws {
    if entity.requiredSlots(of: number).contains(toOne.slot) {
      let failure = ContextError(
        .missingValue,
        "\(entity.name).\(toOne.name) of object \(number) is required, and leads to a deleted object",
        context: .init(entity: entity.name, objectID: id(number, entity), properties: [toOne.name])
      )
      let key = KeyCoder.pair(target, number)
      return lostReferences.append(LostReference(failure: failure, treeName: toOne.treeName, key: key))
    }
    var encoder = RecordEncoder(layout: entity.layout)
    let old = try storedBytes(number, entity, &transaction)
    try old.withUnsafeBytes { old in
      let record = RecordView(validated: old, layout: entity.layout)
      let bytes = encoder.encode(record, replacing: toOne.slot, with: .null)
      RecordEncoder.stamp(bytes, commit: commit)
      let new = RecordView(validated: UnsafeRawBufferPointer(bytes), layout: entity.layout)
      noteDerived(from: record, to: new, number, entity)
      try replaceKeys(from: record, to: new, number, entity, &transaction)
      let tree = try records(entity, &transaction)
      try withKey(number) { key throws(StoreError) in _ = try tree.put(key, UnsafeRawBufferPointer(bytes)) }
    }
    ruleChanges.noteUpdated(number, slot: toOne.slot, of: entity.number)
  }

  /// Deletes a stored object, and condemns the objects that its own rules delete.
  private mutating func delete(
    _ number: ObjectNumber,
    _ entity: StoredEntity,
    _ transaction: inout WriteTransaction
  ) throws {
    let tree = try records(entity, &transaction)
    guard try withKey(number, { key throws(StoreError) in try tree.contains(key) }) else { return }
    let bytes = try storedBytes(number, entity, &transaction)
    try withKey(number) { key throws(StoreError) in _ = try tree.remove(key) }
    ruleChanges.noteDeleted(number, of: entity.number)
    deletions.append((entity, number))
    try bytes.withUnsafeBytes { bytes in
      let record = RecordView(validated: bytes, layout: entity.layout)
      noteDerived(from: record, to: nil, number, entity)
      try replaceKeys(from: record, to: nil, number, entity, &transaction)
      noteDeadBlobs(of: record, in: .all, entity)
      history?.noteDeleted(record, number, entity, request.origin)
      followToOnes(of: record, in: .all, number, entity)
    }
  }

  /// Notes what the rules of a deleted object's to-one relationships delete or deny.
  ///
  /// - Parameter slots: the slots of the references to follow.
  mutating func followToOnes(
    of record: RecordView,
    in slots: SlotSet,
    _ number: ObjectNumber,
    _ entity: StoredEntity
  ) {
    for toOne in entity.toOnes where slots.contains(toOne.slot) && !record.isNull(toOne.slot) {
      let destination = schema.entities[toOne.destination]
      let target = record.reference(toOne.slot)
      switch toOne.deleteRule {
      case .nullify: break
      case .cascade: condemned.append((destination, target))
      case .deny:
        denials.append(
          Denial(
            number: number,
            entity: entity,
            other: target,
            otherEntity: destination,
            relationship: toOne.name,
            treeName: destination.treeName,
            key: KeyCoder.key(of: target)
          )
        )
      }
    }
  }

  /// Returns a copy of a record in the newest layout, checked.
  mutating func storedBytes(
    _ number: ObjectNumber,
    _ entity: StoredEntity,
    _ transaction: inout WriteTransaction
  ) throws -> [UInt8] {
    let tree = try records(entity, &transaction)
    let reader = reader(of: entity)
    let bytes = try withKey(number) { key throws(StoreError) in
      try tree.find(key)?.withBytes { bytes in reader.view(bytes).map { [UInt8]($0.bytes) } }
    }
    guard let bytes = bytes ?? nil else { throw ContextError.damagedRecord(number, of: entity.name) }
    return bytes
  }

  /// Updates the trees of keys from one state of a record to another, immediately.
  mutating func replaceKeys(
    from old: RecordView,
    to new: RecordView?,
    _ number: ObjectNumber,
    _ entity: StoredEntity,
    _ transaction: inout WriteTransaction
  ) throws(StoreError) {
    for index in entity.declaredIndexes {
      let (before, after) = (index.keys(of: old, number), new.map { index.keys(of: $0, number) } ?? [])
      if before == after { continue }
      let tree = try tree(entity.treeName(of: index.id), &transaction)
      for key in before.subtracting(after) { _ = try tree.remove(key) }
      for key in after.subtracting(before) where isShortEnough(key.count, index, number, entity) {
        _ = try tree.put(key, [])
      }
    }
    for toOne in entity.toOnes {
      let (before, after) = (old.reference(toOne.slot), new?.reference(toOne.slot) ?? .none)
      if before == after { continue }
      counted.note(before, in: toOne.treeName)
      counted.note(after, in: toOne.treeName)
      let tree = try tree(toOne.treeName, &transaction)
      if !before.isNone { _ = try tree.remove(KeyCoder.pair(before, number)) }
      if !after.isNone { _ = try tree.put(KeyCoder.pair(after, number), []) }
    }
  }

  /// Returns the numbers that follow `number` in a tree of pairs of numbers.
  mutating func linked(
    to number: ObjectNumber,
    in treeName: String,
    _ transaction: inout WriteTransaction
  ) throws(StoreError) -> [ObjectNumber] {
    let tree = try tree(treeName, &transaction)
    if try tree.count == 0 { return [] }
    var numbers: [ObjectNumber] = []
    var cursor = try tree.cursor(in: .prefix(KeyCoder.key(of: number)))
    while try cursor.next() {
      if let number = KeyCoder.number(ending: try cursor.key()) { numbers.append(number) }
    }
    return numbers
  }
}
