import Predicates

/// The owners of an entity's unique values after a save: those that the save stores, and otherwise those of the store.
struct UniqueOwners {
  private let changes: EntityChanges
  private let constraints: [(place: Int, policy: UniquePolicy)]
  private let source: any StoredSource
  /// Objects by the keys that this save gives them, by the position of the constraint.
  private var claims: [[[UInt8]: ObjectNumber]]
  /// The keys by object, where there are several constraints.
  private var keys: [[ObjectNumber: [UInt8]]]
  /// Objects whose keys in the store are out of date, by the position of the constraint.
  private var changed: [Set<ObjectNumber>]

  init(
    _ changes: EntityChanges,
    _ constraints: [(place: Int, policy: UniquePolicy)],
    _ source: any StoredSource
  ) {
    self.changes = changes
    self.constraints = constraints
    self.source = source
    claims = changes.entity.declaredIndexes.map { _ in [:] }
    keys = claims.map { _ in [:] }
    changed = changes.entity.declaredIndexes.map { _ in [] }
  }

  /// Notes the keys of stored objects that this save gives them.
  mutating func claimUpdated() throws(ContextError) {
    let entity = changes.entity
    for patch in changes.updated {
      let places = constraints.map(\.place).filter {
        !entity.declaredIndexes[$0].slotSet.isDisjoint(with: patch.slots)
      }
      if places.isEmpty { continue }
      guard let stored = try source.record(patch.number, of: entity) else { continue }
      let bytes = changes.encoder.encode(
        RecordView(validated: stored, layout: entity.layout),
        patchedBy: RecordView(validated: patch.bytes, layout: entity.layout),
        in: patch.slots
      )
      for place in places { changed[place].insert(patch.number) }
      claim(UnsafeRawBufferPointer(bytes), for: patch.number)
    }
  }

  /// Notes that an object has the keys of a record from now on.
  mutating func claim(_ bytes: UnsafeRawBufferPointer, for number: ObjectNumber) {
    for (place, _) in constraints {
      if let key = key(of: bytes, place) { claim(key, place, for: number) }
    }
  }

  private mutating func claim(_ key: [UInt8], _ place: Int, for number: ObjectNumber) {
    guard claims[place][key] == nil else { return }
    claims[place][key] = number
    if constraints.count > 1 { keys[place][number] = key }
  }

  /// Notes that an object gets values of a record, and that its own keys of them are free. If the entity has only one
  /// constraint, the object has the record's key already.
  ///
  /// - Parameter slots: the slots whose values it gets. A key of which it gets some values only belongs to no
  ///   object until the store checks it.
  mutating func give(_ bytes: UnsafeRawBufferPointer, to owner: ObjectNumber, in slots: SlotSet) {
    if constraints.count == 1 { return }
    for (place, _) in constraints {
      let columns = changes.entity.declaredIndexes[place].slotSet
      if columns.isDisjoint(with: slots) { continue }
      let key = key(of: bytes, place)
      if let key, claims[place][key] == owner { continue }
      if let old = keys[place].removeValue(forKey: owner) { claims[place][old] = nil }
      changed[place].insert(owner)
      if let key, columns.isSubset(of: slots) { claim(key, place, for: owner) }
    }
  }

  /// Returns the one object that has keys of a record, with the policy of the first constraint that it matches; nil if
  /// no object has such keys, or several have.
  func owner(of bytes: UnsafeRawBufferPointer) throws(ContextError) -> (ObjectNumber, UniquePolicy)? {
    var owner: (number: ObjectNumber, policy: UniquePolicy)?
    for (place, policy) in constraints {
      guard let key = key(of: bytes, place), let found = try self.owner(of: key, place) else { continue }
      if let owner, owner.number != found { return nil }
      owner = owner ?? (found, policy)
    }
    return owner
  }

  private func owner(of key: [UInt8], _ place: Int) throws(ContextError) -> ObjectNumber? {
    if let claimed = claims[place][key] { return claimed }
    guard let stored = try source.owner(of: key, in: changes.entity.declaredIndexes[place]) else {
      return nil
    }
    return changed[place].contains(stored) || changes.deletes(stored) ? nil : stored
  }

  /// Returns the components of a record in an index; nil if one of them is nil.
  private func key(of bytes: UnsafeRawBufferPointer, _ place: Int) -> [UInt8]? {
    let record = RecordView(validated: bytes, layout: changes.entity.layout)
    var key: [UInt8] = []
    guard changes.entity.declaredIndexes[place].appendKey(of: record, .none, to: &key) else { return nil }
    key.removeLast(KeyCoder.numberByteCount)
    return key
  }
}
