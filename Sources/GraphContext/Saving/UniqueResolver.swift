import Foundation
import Predicates

/// Settles new objects that have unique values of existing ones, as the policies of the constraints say.
///
/// Runs in the writer's turn and above the engine, after the merge with the changes that other contexts have saved: it
/// leaves a request without the settled objects, whose values and links are those of the existing objects. The engine
/// refuses objects that the resolver can't settle, as not unique.
struct UniqueResolver {
  private let coordinator: StoreCoordinator
  private let schema: StoredSchema
  private let source: any StoredSource
  private let policies: UniquePolicies
  private(set) var request: SaveRequest
  /// Objects that the store has with other values than the context shows, by the entity's ordinal.
  private(set) var reverted: [Set<ObjectNumber>]
  /// Settled objects and the existing ones that they stand for, by the entity's ordinal.
  private(set) var aliases: [[ObjectNumber: ObjectNumber]]
  private var settled: [SettledObject] = []
  /// The ends of links that lead to existing objects instead of new ones.
  private(set) var relinked: Set<ObjectKey> = []
  /// Stored objects that policies have given values, by the entity's ordinal.
  private(set) var changed: [Set<ObjectNumber>]
  /// The defaults that the models declare, once they are needed.
  private var defaults: [ClassKey: DeclaredDefaults] = [:]

  private struct ClassKey: Hashable {
    /// The entity's ordinal.
    let entity: Int
    let classTag: UInt16
  }

  private struct SettledObject {
    let entity: StoredEntity
    let number: ObjectNumber
    let policy: UniquePolicy
    /// Lives as long as the entity's encoder.
    var bytes: UnsafeRawBufferPointer
  }

  /// - Parameters:
  ///   - reverted: objects that the store has with other values than the context shows, as far as they are known; empty
  ///     for none.
  ///   - source: the state that the request is based on.
  init(
    _ request: SaveRequest,
    _ reverted: [Set<ObjectNumber>],
    _ policies: UniquePolicies,
    in source: any StoredSource,
    _ coordinator: StoreCoordinator
  ) {
    self.request = request
    self.policies = policies
    self.source = source
    self.coordinator = coordinator
    schema = source.schema
    self.reverted = reverted.isEmpty ? request.entities.map { _ in [] } : reverted
    aliases = request.entities.map { _ in [:] }
    changed = request.entities.map { _ in [] }
  }

  /// O(new objects · log n) for entities with a policy, and O(changes) if any object is settled.
  mutating func resolve() throws(ContextError) {
    var entities = schema.entities.filter { !policies.settling($0).isEmpty }
    while try findOwners(entities) {
      redirectReferences()
      // Redirecting a reference changes the keys that contain it: only entities with such keys need another pass.
      entities.removeAll { entity in
        policies.settling(entity).allSatisfy {
          entity.declaredIndexes[$0.place].slotMask & entity.referenceSlots == 0
        }
      }
    }
    if settled.isEmpty { return }
    redirectLinks()
    // Patches are kept in the order of the objects' numbers: added in that order, they move no others.
    let owners = settled.map {
      ObjectKey(entity: $0.entity.ordinal, number: owner($0.number, $0.entity.ordinal))
    }
    for index in settled.indices.sorted(by: { (owners[$0], $0) < (owners[$1], $1) }) {
      try fold(settled[index])
    }
    try forgetEqualValues()
    var rivals = PartnerRivals(request, reverted, in: source, storeID: coordinator.storeID)
    try rivals.clear()
    (request, reverted) = (rivals.request, rivals.reverted)
    for changes in request.entities { changes.updated.removeAll { $0.slots == 0 } }
    request.settledOwners = request.entities.map { _ in [] }
    for object in settled {
      let ordinal = object.entity.ordinal
      request.settledOwners[ordinal].insert(owner(object.number, ordinal))
    }
  }

  /// Returns the object that another stands for, or the object itself.
  func owner(_ number: ObjectNumber, _ ordinal: Int) -> ObjectNumber {
    var number = number
    while let next = aliases[ordinal][number] { number = next }
    return number
  }

  // MARK: Existing objects

  /// Takes new objects out of the request that have unique values of existing ones. Returns whether there were any.
  private mutating func findOwners(_ entities: [StoredEntity]) throws(ContextError) -> Bool {
    let count = settled.count
    for entity in entities where !request.entities[entity.ordinal].inserted.isEmpty {
      let changes = request.entities[entity.ordinal]
      var owners = UniqueOwners(changes, policies.settling(entity), source)
      try owners.claimUpdated()
      // Objects that earlier passes have settled: their owners were given values, so the owners' keys differ from those
      // of their records.
      let given = settled.filter { $0.entity.ordinal == entity.ordinal }
      for object in given {
        let owner = owner(object.number, entity.ordinal)
        if changes.insertedIndex(of: owner) == nil { give(object, to: owner, &owners) }
      }
      let givenToNew = Dictionary(grouping: given) { owner($0.number, entity.ordinal) }
      var inserted: [EntityChanges.Record] = []
      for record in changes.inserted {
        let bytes = UnsafeRawBufferPointer(record.bytes)
        guard let (owner, policy) = try owners.owner(of: bytes), entity.isKind(owner, of: record.number)
        else {
          owners.claim(bytes, for: record.number)
          for object in givenToNew[record.number] ?? [] { give(object, to: record.number, &owners) }
          inserted.append(record)
          continue
        }
        let object = SettledObject(entity: entity, number: record.number, policy: policy, bytes: bytes)
        give(object, to: owner, &owners)
        aliases[entity.ordinal][record.number] = owner
        settled.append(object)
      }
      if inserted.count < changes.inserted.count { changes.inserted = inserted }
    }
    return settled.count > count
  }

  /// Notes the keys that an existing object gets from a settled one.
  private mutating func give(_ object: SettledObject, to owner: ObjectNumber, _ owners: inout UniqueOwners) {
    let taken = values(of: RecordView(validated: object.bytes, layout: object.entity.layout), object)
    owners.give(object.bytes, to: owner, in: taken)
  }

  // MARK: References and links

  /// Makes every reference to a settled object one to the existing object.
  private mutating func redirectReferences() {
    for changes in request.entities {
      let entity = changes.entity
      for index in changes.inserted.indices {
        let record = changes.inserted[index]
        guard let bytes = redirected(UnsafeRawBufferPointer(record.bytes), entity) else { continue }
        changes.inserted[index] = .init(number: record.number, bytes: bytes)
        reverted[entity.ordinal].insert(record.number)
      }
      for index in changes.updated.indices {
        guard let bytes = redirected(changes.updated[index].bytes, entity) else { continue }
        changes.updated[index].bytes = UnsafeRawBufferPointer(bytes)
        reverted[entity.ordinal].insert(changes.updated[index].number)
      }
    }
    for index in settled.indices {
      guard let bytes = redirected(settled[index].bytes, settled[index].entity) else { continue }
      settled[index].bytes = UnsafeRawBufferPointer(bytes)
    }
  }

  /// Returns a copy of a record that leads to existing objects; nil if the record itself does.
  private func redirected(
    _ bytes: UnsafeRawBufferPointer,
    _ entity: StoredEntity
  ) -> UnsafeMutableRawBufferPointer? {
    var copy: UnsafeMutableRawBufferPointer?
    for toOne in entity.toOnes where !aliases[toOne.destination].isEmpty {
      let bytes = copy.map { UnsafeRawBufferPointer($0) } ?? bytes
      let record = RecordView(validated: bytes, layout: entity.layout)
      let old = record.reference(toOne.slot)
      let new = owner(old, toOne.destination)
      if new == old { continue }
      let encoder = request.entities[entity.ordinal]
      copy = encoder.encoder.encode(record, replacing: toOne.slot, with: .reference(new))
    }
    return copy
  }

  private mutating func redirectLinks() {
    for index in request.pairs.indices {
      let pairs = request.pairs[index]
      let (source, destination) = (pairs.source.ordinal, pairs.relationship.destination)
      if aliases[source].isEmpty, aliases[destination].isEmpty { continue }
      var links = PendingLinks()
      var places = PendingPlaces()
      // Of two links that become one, the first place counts.
      func keep(_ place: ListPlace, of element: ObjectNumber, in owner: ObjectNumber) {
        let (element, owner) = (self.owner(element, destination), self.owner(owner, source))
        if let known = places[owner, element], known < place { return }
        places.set(place, of: element, in: owner)
      }
      for (owner, moved) in pairs.places.byOwner {
        for (element, place) in moved { keep(place, of: element, in: owner) }
      }
      for (owner, elements) in pairs.links.removed {
        for element in elements { links.unlink(owner, element) }
      }
      for (owner, elements) in pairs.links.added {
        let newOwner = self.owner(owner, source)
        for element in elements {
          let newElement = self.owner(element, destination)
          links.link(newOwner, newElement)
          if newOwner == owner, newElement == element { continue }
          // The place that its number stands for: the existing object has another number.
          if pairs.relationship.list != nil, newElement != element, pairs.places[owner, element] == nil {
            keep(ListPlace(of: element), of: element, in: owner)
          }
          note(newOwner, source, isHidden: pairs.relationship.isHidden)
          note(newElement, destination, isHidden: pairs.relationship.hasHiddenInverse)
        }
      }
      (request.pairs[index].links, request.pairs[index].places) = (links, places)
    }
    request.pairs.removeAll(where: \.isEmpty)
  }

  private mutating func note(_ number: ObjectNumber, _ ordinal: Int, isHidden: Bool) {
    if !isHidden { relinked.insert(ObjectKey(entity: ordinal, number: number)) }
  }

  // MARK: Values

  /// Gives the existing object the values of a settled one that the policy lets it have.
  private mutating func fold(_ object: SettledObject) throws(ContextError) {
    let entity = object.entity
    let bytes = withPlaces(object)
    let changes = request.entities[entity.ordinal]
    let owner = owner(object.number, entity.ordinal)
    let new = RecordView(validated: bytes, layout: entity.layout)
    let slots = try takePartners(of: new, for: owner, entity) | values(of: new, object)
    reverted[entity.ordinal].formUnion([owner, object.number])
    if slots == 0 { return }
    if changes.insertedIndex(of: owner) == nil { changed[entity.ordinal].insert(owner) }
    if let index = changes.insertedIndex(of: owner) {
      let old = RecordView(
        validated: UnsafeRawBufferPointer(changes.inserted[index].bytes),
        layout: entity.layout
      )
      let merged = changes.encoder.encode(old, patchedBy: new, in: slots)
      changes.inserted[index] = .init(number: owner, bytes: merged)
    } else if let index = changes.patchIndex(of: owner) {
      let old = RecordView(validated: changes.updated[index].bytes, layout: entity.layout)
      let merged = changes.encoder.encode(old, patchedBy: new, in: slots)
      changes.updated[index].bytes = UnsafeRawBufferPointer(merged)
      changes.updated[index].slots |= slots
    } else {
      let index = changes.updated.insertionIndex(sorted: owner, by: \.number)
      changes.updated.insert(.init(number: owner, bytes: bytes, slots: slots), at: index)
    }
  }

  /// Takes slots out of patches whose values the store has already. Storing them would report a change to other
  /// contexts that is none, and would be in conflict with their own changes.
  private func forgetEqualValues() throws(ContextError) {
    for changes in request.entities {
      let entity = changes.entity
      for (index, patch) in changes.updated.enumerated()
      where reverted[entity.ordinal].contains(patch.number) {
        guard let stored = try source.record(patch.number, of: entity) else { continue }
        let old = RecordView(validated: stored, layout: entity.layout)
        let new = RecordView(validated: patch.bytes, layout: entity.layout)
        changes.updated[index].slots = source.slots(in: patch.slots, of: new, thatDifferFrom: old, entity)
      }
    }
  }

  /// Returns the values of an object with the places that its number stands for: the existing object has another
  /// number.
  private func withPlaces(_ object: SettledObject) -> UnsafeRawBufferPointer {
    var bytes = object.bytes
    for slots in object.entity.toOnes.compactMap(\.list?.slots) {
      let record = RecordView(validated: bytes, layout: object.entity.layout)
      if record.isNull(slots.reference) || !record.isNull(slots.place) { continue }
      let place = ListPlace(of: object.number)._attributeValue
      let encoder = request.entities[object.entity.ordinal]
      bytes = UnsafeRawBufferPointer(encoder.encoder.encode(record, replacing: slots.place, with: place))
    }
    return bytes
  }

  /// Returns the bits of the slots that an existing object takes over. Partners in one-to-one relationships are not
  /// among them.
  private mutating func values(of record: RecordView, _ object: SettledObject) -> UInt64 {
    let entity = object.entity
    var slots: UInt64 = 0
    for slot in entity.schema.stored.indices { slots |= 1 << UInt64(slot) }
    slots &= entity.ownSlots(of: object.number)
    for toOne in entity.toOnes {
      if case .toOne = toOne.inverse { slots &= ~(1 << UInt64(toOne.slot)) }
    }
    switch object.policy {
    case .error, .keep: return 0
    case .replace: return slots & ~entity.derivedSlots
    case .merge:
      let given = defaults(of: object).slotsGiven(in: record, among: slots & ~entity.derivedSlots)
      return given & ~entity.placeSlots | entity.places(of: given)
    }
  }

  private mutating func defaults(of object: SettledObject) -> DeclaredDefaults {
    let (entity, classTag) = (object.entity, object.number.classTag)
    let key = ClassKey(entity: entity.ordinal, classTag: classTag)
    if let known = defaults[key] { return known }
    let declared = DeclaredDefaults(of: entity, classTag: classTag, in: coordinator)
    defaults[key] = declared
    return declared
  }

  /// Returns the bits of the slots whose partners an existing object takes over: their references lead to it already.
  /// The partners that it was given in this save lose it.
  private mutating func takePartners(
    of record: RecordView,
    for owner: ObjectNumber,
    _ entity: StoredEntity
  ) throws(ContextError) -> UInt64 {
    let changes = request.entities[entity.ordinal]
    var slots: UInt64 = 0
    for toOne in entity.toOnes {
      guard case .toOne(let inverse) = toOne.inverse else { continue }
      let partner = record.reference(toOne.slot)
      if partner.isNone { continue }
      slots |= 1 << UInt64(toOne.slot)
      var present = ObjectNumber.none
      if let index = changes.insertedIndex(of: owner) {
        let bytes = UnsafeRawBufferPointer(changes.inserted[index].bytes)
        present = RecordView(validated: bytes, layout: entity.layout).reference(toOne.slot)
      } else if let index = changes.patchIndex(of: owner) {
        present = RecordView(validated: changes.updated[index].bytes, layout: entity.layout).reference(
          toOne.slot
        )
      }
      if !present.isNone, present != partner {
        unlink(present, schema.entities[toOne.destination], slot: inverse, from: owner)
      }
    }
    return slots
  }

  /// Sets a reference that this save stores to nil, if it leads to `target`.
  private mutating func unlink(
    _ number: ObjectNumber,
    _ entity: StoredEntity,
    slot: Int,
    from target: ObjectNumber
  ) {
    let changes = request.entities[entity.ordinal]
    let (inserted, patch) = (changes.insertedIndex(of: number), changes.patchIndex(of: number))
    let bytes =
      inserted.map { UnsafeRawBufferPointer(changes.inserted[$0].bytes) }
      ?? patch.map { changes.updated[$0].bytes }
    guard let bytes else { return }
    let record = RecordView(validated: bytes, layout: entity.layout)
    guard record.reference(slot) == target else { return }
    let bit: UInt64 = 1 << UInt64(slot)
    if entity.requiredSlots(of: number) & bit != 0 {
      let id = entity.objectID(number, in: coordinator.storeID)
      return request.failures.note(.conflict(id, "changed", entity.names(of: bit)))
    }
    reverted[entity.ordinal].insert(number)
    let cleared = changes.encoder.encode(record, replacing: slot, with: .null)
    if let inserted { changes.inserted[inserted] = .init(number: number, bytes: cleared) }
    if let patch { changes.updated[patch].bytes = UnsafeRawBufferPointer(cleared) }
  }
}

/// The owners of an entity's unique values after a save: those that the save stores, and otherwise those of the store.
private struct UniqueOwners {
  private let changes: EntityChanges
  private let constraints: [(place: Int, policy: UniquePolicy)]
  private let source: any StoredSource
  /// Objects by the keys that this save gives them, by the place of the constraint.
  private var claims: [[[UInt8]: ObjectNumber]]
  /// The keys by object, where there are several constraints.
  private var keys: [[ObjectNumber: [UInt8]]]
  /// Objects whose keys in the store are out of date, by the place of the constraint.
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
      let places = constraints.map(\.place).filter { entity.declaredIndexes[$0].slotMask & patch.slots != 0 }
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

  /// Notes that an object gets values of a record, and that its own keys of them are free. By the only constraint of an
  /// entity it has the record's key already.
  ///
  /// - Parameter slots: bits of the slots whose values it gets. A key of which it gets some values only belongs to no
  ///   object until the store checks it.
  mutating func give(_ bytes: UnsafeRawBufferPointer, to owner: ObjectNumber, in slots: UInt64) {
    if constraints.count == 1 { return }
    for (place, _) in constraints {
      let mask = changes.entity.declaredIndexes[place].slotMask
      if mask & slots == 0 { continue }
      let key = key(of: bytes, place)
      if let key, claims[place][key] == owner { continue }
      if let old = keys[place].removeValue(forKey: owner) { claims[place][old] = nil }
      changed[place].insert(owner)
      if let key, mask & ~slots == 0 { claim(key, place, for: owner) }
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
    key.removeLast(KeyCoder.objectIDByteCount)
    return key
  }
}
