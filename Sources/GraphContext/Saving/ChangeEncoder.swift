import Predicates

/// Turns a context's unsaved changes into a ``SaveRequest``: checks what can be checked without the store, and encodes
/// the records straight from the objects' caches.
struct ChangeEncoder {
  private let context: ManagedObjectContext
  private var request: SaveRequest

  /// - Parameter invalid: failures that were found before.
  init(_ context: ManagedObjectContext, _ invalid: SaveFailures = SaveFailures()) {
    self.context = context
    request = SaveRequest(
      baseCommit: context.source.commit,
      conflicts: context.entities.map(\.conflicts),
      deletedInParent: context.entities.map(\.deletedInParent),
      failures: invalid
    )
  }

  consuming func encode() throws(ContextError) -> SaveRequest {
    for failure in context.deletedLinkFailures() { request.failures.note(failure) }
    for entity in context.coordinator.schema.entities {
      let changes = EntityChanges(entity)
      let pending = context.entities[entity.ordinal].changes
      for object in pending.inserted { encode(inserted: object, changes) }
      for object in pending.updated { try encode(updated: object, changes) }
      for object in pending.deleted {
        noteDenials(object, entity)
        changes.deleted.append(object._$state.number)
      }
      request.entities.append(changes)
      encodePairs(of: entity)
    }
    try context.checkUsable()
    return request
  }

  // MARK: Records

  private mutating func encode(inserted object: any ManagedObject, _ changes: EntityChanges) {
    let entity = changes.entity
    changes.encoder.begin()
    var visitor = SlotEncoder(changes)
    for slot in entity.slotsByPlace { object._$visit(slot, &visitor) }
    let number = object._$state.number
    let bytes = changes.encoder.finish()
    check(visitor, UnsafeRawBufferPointer(bytes), number, entity)
    changes.inserted.append(.init(number: number, bytes: bytes))
  }

  private mutating func encode(
    updated object: any ManagedObject,
    _ changes: EntityChanges
  ) throws(ContextError) {
    let entity = changes.entity
    let number = object._$state.number
    let known = object._$state.currentRecord
    let stored = if let known { known } else { try context.source.record(number, of: entity) }
    if stored == nil, !context.entities[entity.ordinal].mayBeMissing(number) {
      throw context.notFound(number, entity)
    }
    let changed = object._$state.changed
    changes.encoder.begin()
    var visitor = SlotEncoder(changes)
    for slot in entity.slotsByPlace where changed & 1 << UInt64(slot) != 0 { object._$visit(slot, &visitor) }
    let bytes = UnsafeRawBufferPointer(changes.encoder.finish())
    check(visitor, bytes, number, entity, changed: changed)
    let patch = RecordView(validated: bytes, layout: entity.layout)
    var slots = changed
    if let stored {
      // A slot that was set to the value that it had is not stored. After a change by another context it is a conflict all the same: two
      // contexts that both count from five to six have lost one.
      let known = request.conflicts[entity.ordinal][number]?.slots ?? 0
      let old = RecordView(validated: stored, layout: entity.layout)
      slots = patch.slots(in: changed, thatDifferFrom: old) | known & changed
    }
    if slots != 0 { changes.updated.append(.init(number: number, bytes: bytes, slots: slots)) }
  }

  private mutating func check(
    _ visitor: SlotEncoder,
    _ bytes: UnsafeRawBufferPointer,
    _ number: ObjectNumber,
    _ entity: StoredEntity,
    changed: UInt64 = .max
  ) {
    func note(_ slot: Int, _ problem: (StoredProperty) -> String) {
      let property = entity.schema.stored[slot]
      let context = ContextError.Context(
        entity: entity.name,
        objectID: context.id(number, entity),
        properties: [property.name]
      )
      request.failures.note(ContextError(.missingValue, problem(property), context: context))
    }
    if let slot = visitor.refusedSlot {
      note(slot) { "\(entity.name).\($0.name) is given a value that is no \($0.kind)" }
    }
    let record = RecordView(validated: bytes, layout: entity.layout)
    var missing = record.missingSlots(entity.requiredSlots & changed)
    while missing != 0 {
      let slot = missing.trailingZeroBitCount
      missing &= missing - 1
      if slot == visitor.refusedSlot { continue }
      note(slot) { "\(entity.name).\($0.name) is required, and object \(number) has no value for it" }
    }
    for check in context.coordinator.checks[entity.ordinal] where changed & 1 << UInt64(check.slot) != 0 {
      let value = record.value(check.slot)
      for rule in check.broken(by: value) { noteBroken(rule, value, check.slot, number, entity) }
    }
  }

  private mutating func noteBroken(
    _ rule: AttributeRule,
    _ value: AttributeValue,
    _ slot: Int,
    _ number: ObjectNumber,
    _ entity: StoredEntity
  ) {
    let name = entity.schema.stored[slot].name
    let shown = context.coordinator.showsValues ? " is \(value.spelling) and" : ""
    request.failures.note(
      ContextError(
        .validationFailed,
        "\(entity.name).\(name) of object \(number)\(shown) \(rule)",
        context: .init(
          entity: entity.name,
          objectID: context.id(number, entity),
          properties: [name],
          values: context.coordinator.showsValues ? [value] : []
        )
      )
    )
  }

  // MARK: Relationships

  /// A to-one relationship whose rule is `deny` must lead nowhere, or to an object that is deleted too.
  private mutating func noteDenials(_ object: any ManagedObject, _ entity: StoredEntity) {
    for toOne in entity.toOnes where toOne.deleteRule == .deny {
      let number = object.reference(at: toOne.slot)
      let destination = context.entity(toOne.destination)
      guard !number.isNone, context.knownObject(number, of: destination)?._$state.phase != .deleted else {
        continue
      }
      let failure = ContextError(
        .deletionDenied,
        "\(entity.name) \(object._$state.number) can't be deleted: its \(toOne.name) leads to \(destination.name) \(number)",
        context: .init(
          entity: entity.name,
          objectID: context.id(object._$state.number, entity),
          otherID: context.id(number, destination),
          properties: [toOne.name]
        )
      )
      request.failures.note(failure)
    }
  }

  private mutating func encodePairs(of entity: StoredEntity) {
    for relationship in entity.toManys {
      guard case .pairs(let trees) = relationship.storage else { continue }
      let links = context.entities[entity.ordinal].pairs[relationship.ordinal]
      if links.isEmpty { continue }
      request.pairs.append(
        PairChanges(source: entity, relationship: relationship, trees: trees, links: links)
      )
    }
  }
}

/// Writes the slots of an object into the record that its entity's encoder is building.
struct SlotEncoder: PropertyVisitor {
  private let changes: EntityChanges
  /// A slot whose value didn't fit its kind: a type converts to another kind of value than it declares.
  private(set) var refusedSlot: Int?

  init(_ changes: EntityChanges) { self.changes = changes }

  mutating func visit<Value: AttributeType>(attribute slot: Int, _ cache: inout Cached<Value>) {
    if !changes.encoder.set(cache.value._attributeValue, at: slot) { refusedSlot = refusedSlot ?? slot }
  }

  mutating func visit<Target: ManagedObject>(toOne slot: Int, _ cache: inout ToOneReference<Target>) {
    let value: AttributeValue = cache.number.isNone ? .null : .reference(cache.number)
    if !changes.encoder.set(value, at: slot) { refusedSlot = refusedSlot ?? slot }
  }

  mutating func visit<Target: ManagedObject>(toMany relationship: Int, _ cache: inout ToManyMembers<Target>) {
  }
}

extension RecordView {
  /// Bits of the slots in `mask` that are nil.
  func missingSlots(_ mask: UInt64) -> UInt64 {
    var (rest, missing) = (mask, UInt64(0))
    while rest != 0 {
      let bit = rest & (0 &- rest)
      if isNull(bit.trailingZeroBitCount) { missing |= bit }
      rest &= ~bit
    }
    return missing
  }
}

extension RecordView {
  /// Of the slots in `mask`, those whose bytes are not those of another record of the same layout.
  fileprivate func slots(in mask: UInt64, thatDifferFrom other: RecordView) -> UInt64 {
    var different: UInt64 = 0
    for slot in layout.fields.indices where mask & 1 << UInt64(slot) != 0 {
      if !holdsEqualBytes(at: slot, as: other) { different |= 1 << UInt64(slot) }
    }
    return different
  }

  private func holdsEqualBytes(at slot: Int, as other: RecordView) -> Bool {
    if isNull(slot) || other.isNull(slot) { return isNull(slot) == other.isNull(slot) }
    return valueBytes(slot).elementsEqual(other.valueBytes(slot))
  }
}
