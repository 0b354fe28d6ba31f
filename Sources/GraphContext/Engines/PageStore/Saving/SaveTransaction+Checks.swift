import PageStore
import Predicates

// The checks at the end of a transaction: embedded values are whole, references lead to objects, unique tuples are
// unique, enough numbers are leased.

// MARK: - Embedded values

extension SaveTransaction {
  /// Checks that a nil embedded value has nil in all its parts, and that any other embedded value has all required
  /// parts. This holds, too, if several contexts have set the flag and the parts separately.
  ///
  /// - Parameter slots: the slots that have changed.
  mutating func checkEmbedded(
    _ record: RecordView,
    in slots: SlotSet = .all,
    _ number: ObjectNumber,
    _ entity: StoredEntity
  ) {
    for value in entity.embeddedValues where !value.slots.isDisjoint(with: slots) {
      let missing = record.missingSlots(value.parts)
      let isNil = record.isNull(value.flag)
      let flag = entity.schema.stored[value.flag].name
      let wrong = isNil ? value.parts.subtracting(missing) : value.required.intersection(missing)
      for slot in wrong {
        let name = entity.schema.stored[slot].name
        failures.note(
          ContextError(
            isNil ? .wrongValue : .missingValue,
            "\(entity.name).\(name) of object \(number) has"
              + (isNil ? " a value, but \(flag) is nil" : " no value, but \(flag) is not nil"),
            context: .init(entity: entity.name, objectID: id(number, entity), properties: [name])
          )
        )
      }
    }
  }
}

// MARK: - References

extension SaveTransaction {
  /// Checks that every reference that this save stored leads to an object that exists now. A reference to an object
  /// that a delete rule has deleted in this save is removed; a reference to an object that the context itself has
  /// deleted is an error. The keys are sorted by destination, so each destination that exists is looked for once.
  mutating func checkDestinations(_ transaction: inout WriteTransaction) throws {
    for entity in schema.entities {
      for (place, toOne) in entity.toOnes.enumerated() {
        guard let batch = addedKeys(entity.declaredIndexes.count + place, of: entity) else { continue }
        let destination = schema.entities[toOne.destination]
        var checked = ObjectNumber.none
        for entry in batch.entries {
          // Both numbers are in the head: the destination first.
          let number = ObjectNumber(rawValue: UInt64(truncatingIfNeeded: entry.head >> 64))
          if number == checked { continue }
          let object = ObjectNumber(rawValue: UInt64(truncatingIfNeeded: entry.head))
          if isDeletedByRule(number, destination) {
            let key = KeyCoder.pair(number, object)
            if try !tree(toOne.treeName, &transaction).contains(key) { continue }
          }
          checked = number
          try checkExists(number, destination, toOne.name, of: object, from: entity, &transaction)
        }
      }
    }
  }

  /// Checks that no delete rule has deleted an object that a new object was unified with.
  mutating func checkUnifiedOwners() {
    for (entity, owners) in zip(schema.entities, request.unifiedOwners) {
      for number in owners.sorted() where isDeletedByRule(number, entity) {
        let failure = ContextError(
          .conflict,
          "a delete rule of this save deletes \(entity.name) \(number), which has the unique value of a new object",
          context: .init(entity: entity.name, objectID: id(number, entity))
        )
        failures.note(failure)
      }
    }
  }

  private func isDeletedByRule(_ number: ObjectNumber, _ entity: StoredEntity) -> Bool {
    ruleChanges.objects[entity.number]?.deleted.contains(number) == true
  }

  mutating func checkExists(
    _ number: ObjectNumber,
    _ destination: StoredEntity,
    _ relationship: String,
    of object: ObjectNumber,
    from entity: StoredEntity? = nil,
    _ transaction: inout WriteTransaction
  ) throws {
    let tree = try records(destination, &transaction)
    if try withKey(number, { key throws(StoreError) in try tree.contains(key) }) { return }
    let failure = ContextError(
      .missingDestination,
      "\(entity.map { "\($0.name) \(object)" } ?? "an object") is linked by \(relationship) to \(destination.name) \(number),"
        + " which doesn't exist",
      context: .init(
        entity: entity?.name ?? destination.name,
        objectID: entity.map { id(object, $0) },
        otherID: id(number, destination),
        properties: [relationship]
      )
    )
    failures.note(failure)
  }
}

// MARK: - Counts

extension SaveTransaction {
  /// Checks that the objects whose to-many relationships this save has changed have as many members as the rules
  /// say.
  mutating func checkCounts(_ transaction: inout WriteTransaction) throws {
    for (treeName, owners) in counted.owners.sorted(by: { $0.key < $1.key }) {
      guard let rule = counted.rules.byTree[treeName] else { continue }
      let entity = schema.entities[rule.entity]
      let records = try records(entity, &transaction)
      let links = try tree(treeName, &transaction)
      for owner in owners.sorted() {
        guard try withKey(owner, { key throws(StoreError) in try records.contains(key) }) else { continue }
        let count = try links.count(in: .prefix(KeyCoder.key(of: owner)))
        if rule.isKept(by: count) { continue }
        let name = entity.toManys[rule.position].name
        failures.note(
          ContextError(
            .validationFailed,
            "\(entity.name).\(name) of object \(owner) has \(count) \(count == 1 ? "member" : "members") and \(rule.text)",
            context: .init(entity: entity.name, objectID: id(owner, entity), properties: [name])
          )
        )
      }
    }
  }
}

// MARK: - Uniqueness

extension SaveTransaction {
  mutating func checkUniqueness(_ transaction: inout WriteTransaction) throws {
    for entity in schema.entities {
      for (place, index) in entity.declaredIndexes.enumerated() where index.isUnique {
        guard let batch = addedKeys(place, of: entity) else { continue }
        let tree = try tree(entity.treeName(of: index.id), &transaction)
        // A few keys in a big tree are looked up one by one; many are checked by walking the tree once.
        let pairs =
          try tree.count > 16 * batch.count ? twins(of: batch, in: tree) : neighbours(in: tree, index, entity)
        for pair in pairs { failures.note(try notUnique(pair, index, entity, &transaction)) }
      }
    }
  }

  /// Two objects with equal components in a tree: the older one first.
  private struct Twins: Hashable {
    let older: ObjectNumber
    let younger: ObjectNumber

    init(_ one: ObjectNumber, _ other: ObjectNumber) { (older, younger) = (min(one, other), max(one, other)) }
  }

  /// Returns the keys of the batch whose components are also in another key of the tree. Of more than two equal
  /// keys, only two are returned.
  private func twins(of batch: KeyBatch, in tree: WriteTree) throws(StoreError) -> [Twins] {
    var found: [Twins] = []
    var known: Set<Twins> = []
    var cursor = try tree.cursor()
    try batch.forEach { key, entry throws(StoreError) in
      guard entry.isConstrained, found.count < SaveFailures.limit else { return }
      let components = UnsafeRawBufferPointer(rebasing: key.dropLast(KeyCoder.numberByteCount))
      var isThere = try cursor.seek(to: components)
      var first: ObjectNumber?
      while isThere {
        let key = try cursor.key()
        guard Self.components(key, equal: components), let number = KeyCoder.number(ending: key) else {
          break
        }
        if let first {
          let twins = Twins(first, number)
          if known.insert(twins).inserted { found.append(twins) }
          return
        }
        first = number
        isThere = try cursor.next()
      }
    }
    return found
  }

  /// Neighbours in the tree with the same components, none of them nil.
  private func neighbours(
    in tree: WriteTree,
    _ index: ResolvedIndex,
    _ entity: StoredEntity
  ) throws(StoreError) -> [Twins] {
    var found: [Twins] = []
    var last: [UInt8] = []
    var cursor = try tree.cursor()
    while try cursor.next(), found.count < SaveFailures.limit {
      let key = try cursor.key()
      let components = UnsafeRawBufferPointer(
        rebasing: key.dropLast(min(key.count, KeyCoder.numberByteCount))
      )
      let isSame = last.withUnsafeBytes { Self.components($0, equal: components) }
      if isSame, !Self.hasNil(key, index, entity), let number = KeyCoder.number(ending: key),
        let other = last.withUnsafeBytes({ KeyCoder.number(ending: $0) })
      {
        found.append(Twins(other, number))
      }
      last.removeAll(keepingCapacity: true)
      last.append(contentsOf: key)
    }
    return found
  }

  /// Returns whether a key consists of `components` and an object's number.
  private static func components(
    _ key: UnsafeRawBufferPointer,
    equal components: UnsafeRawBufferPointer
  ) -> Bool {
    key.count == components.count + KeyCoder.numberByteCount
      && key.prefix(components.count).elementsEqual(components)
  }

  private static func hasNil(
    _ key: UnsafeRawBufferPointer,
    _ index: ResolvedIndex,
    _ entity: StoredEntity
  ) -> Bool {
    var reader = KeyReader(key)
    return index.slots.contains { reader.next(entity.layout.fields[$0].kind)?.isNull ?? true }
  }

  private mutating func notUnique(
    _ twins: Twins,
    _ index: ResolvedIndex,
    _ entity: StoredEntity,
    _ transaction: inout WriteTransaction
  ) throws -> ContextError {
    // The younger one is more likely the one that was just saved.
    let (older, younger) = (twins.older, twins.younger)
    let tree = try records(entity, &transaction)
    let values = try withKey(younger) { key throws(StoreError) in
      try tree.find(key)?.withBytes { bytes in
        reader(of: entity).view(bytes).map { record in index.slots.map(record.value) }
      }
    }
    let names = index.slots.map { entity.schema.stored[$0].name }
    return .notUnique(
      "\(entity.name) is unique by \(index.name), and two objects",
      .init(
        entity: entity.name,
        objectID: id(younger, entity),
        otherID: id(older, entity),
        properties: names,
        values: (values ?? nil) ?? []
      ),
      showsValues: showsValues
    )
  }
}

// MARK: - Numbers

extension SaveTransaction {
  /// Leases the next block of numbers of an entity that has new objects, when less than half of the last one is left.
  mutating func leaseNumbers(_ changes: EntityChanges, _ transaction: inout WriteTransaction) throws {
    if changes.inserted.isEmpty { return }
    let tree = try tree(SchemaTree.name, &transaction)
    let key = SchemaTree.numbersKey(changes.entity.number)
    let stored = SchemaTree.number(try tree.value(for: key))
    guard let end = numbers.endWanted(changes.entity.ordinal, stored: stored) else { return }
    try tree.put(key, SchemaTree.bytes(end))
    leasedEnds.append((changes.entity.ordinal, end))
  }
}
