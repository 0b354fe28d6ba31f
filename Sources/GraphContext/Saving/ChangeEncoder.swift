import Predicates

/// An encoder that turns a context's unsaved changes into a ``SaveRequest``: it checks what can be checked without the
/// store, and encodes the records straight from the objects' caches.
struct ChangeEncoder {
  private let context: ManagedObjectContext
  private let checks: RecordChecks
  private var request: SaveRequest

  /// - Parameter invalid: failures that were found before.
  init(_ context: ManagedObjectContext, _ invalid: SaveFailures = SaveFailures()) {
    self.context = context
    checks = RecordChecks(context.coordinator)
    request = SaveRequest(
      baseCommit: context.source.commit,
      conflicts: context.entities.map(\.conflicts),
      deletedInParent: context.entities.map(\.deletedInParent),
      countRules: context.coordinator.models.countRules,
      origin: context.coordinator.origin(context.author, context.name),
      failures: invalid
    )
  }

  consuming func encode() throws(ContextError) -> SaveRequest {
    for failure in context.deletedLinkFailures() { request.failures.note(failure) }
    request.entities = context.coordinator.schema.entities.map(EntityChanges.init)
    for (entity, changes) in zip(context.coordinator.schema.entities, request.entities) {
      if !context.entities[entity.ordinal].mayHaveChanges { continue }
      let pending = context.entities[entity.ordinal].changes
      for object in pending.inserted { try encode(inserted: object, changes) }
      for object in pending.updated { try encode(updated: object, changes) }
      for object in pending.deleted {
        let decided = try decidedReferences(ofDeleted: object, entity)
        try noteReferences(ofDeleted: object, decided, changes)
        try noteDenials(object, decided, changes)
        changes.deleted.append(object._$state.number)
      }
      try encodePairs(of: entity)
    }
    try context.checkUsable()
    return request
  }

  // MARK: Records

  private mutating func encode(
    inserted object: any ManagedObject,
    _ changes: EntityChanges
  ) throws(ContextError) {
    let entity = changes.entity
    changes.encoder.begin()
    var visitor = SlotEncoder(changes)
    for slot in entity.slotsByPlace { object._$visit(slot, &visitor) }
    let number = object._$state.number
    let bytes = changes.encoder.finish()
    let record = RecordView(validated: UnsafeRawBufferPointer(bytes), layout: entity.layout)
    checks.check(record, refused: changes.encoder.refused, number, entity, &request.failures)
    try noteMissingTargets(of: record, number, entity)
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
    let changed = object._$state.changed.subtracting(entity.derivedSlots)
    changes.encoder.begin()
    var visitor = SlotEncoder(changes)
    for slot in entity.slotsByPlace where changed.contains(slot) { object._$visit(slot, &visitor) }
    let bytes = UnsafeRawBufferPointer(changes.encoder.finish())
    let patch = RecordView(validated: bytes, layout: entity.layout)
    checks.check(patch, refused: changes.encoder.refused, number, entity, in: changed, &request.failures)
    var slots = changed
    if let stored {
      // A slot that was set to the value that it had is not stored. After a change by another context it is a conflict
      // all the same: if two contexts both count from five to six, one count is lost.
      let known = request.conflicts[entity.ordinal][number]?.slots ?? .empty
      let old = RecordView(validated: stored, layout: entity.layout)
      slots = context.source.slots(in: changed, of: patch, thatDifferFrom: old, entity)
      slots.formUnion(known.intersection(changed))
      // With a reference the place is stored that was given for it, even an equal one: another context may have moved
      // the object in its old list.
      slots.formUnion(entity.places(of: slots).intersection(changed))
    }
    if slots.isEmpty { return }
    try noteMissingTargets(of: patch, number, entity, in: slots)
    changes.updated.append(.init(number: number, bytes: bytes, slots: slots))
  }

  // MARK: Relationships

  /// Returns the references of a deleted object whose delete rules were decided on before. References that a replay has
  /// left alone don't count if the parent has changed their targets since.
  private func decidedReferences(
    ofDeleted object: any ManagedObject,
    _ entity: StoredEntity
  ) throws(ContextError) -> DecidedReferences {
    let number = object._$state.number
    let objects = context.entities[entity.ordinal]
    guard var decided = objects.decidedReferences[number], context.parent != nil,
      try context.source.contains(number, of: entity)
    else { return objects.decidedReferences[number] ?? DecidedReferences() }
    // References that this context has set itself count, whatever the parent has.
    for slot in decided.byReplay.subtracting(decided.byChildren).subtracting(object._$state.changed) {
      let known = objects.ruledReferences[number]?[slot] ?? .none
      if try context.source.reference(at: slot, of: number, entity) != known {
        decided.byReplay.remove(slot)
      }
    }
    return decided
  }

  /// Notes for the parent the references of a deleted object that the context has set or decided on, and those whose
  /// targets the parent has changed since. The parent applies its cascading rules to the new targets.
  private mutating func noteReferences(
    ofDeleted object: any ManagedObject,
    _ decided: DecidedReferences,
    _ changes: EntityChanges
  ) throws(ContextError) {
    guard context.parent != nil else { return }
    let entity = changes.entity
    let number = object._$state.number
    var own = decided
    own.byChildren.formUnion(object._$state.changed.intersection(entity.referenceSlots))
    changes.noteOwnReferences(own, of: number)
    // The parent or others may have deleted the object as well: then there is nothing to follow.
    guard try context.source.contains(number, of: entity) else { return }
    for toOne in entity.toOnes where toOne.deleteRule == .cascade && !own.all.contains(toOne.slot) {
      let known = context.entities[entity.ordinal].ruledReferences[number]?[toOne.slot] ?? .none
      let present = try context.source.reference(at: toOne.slot, of: number, entity)
      if present != known { changes.follow(SlotSet(toOne.slot), of: number) }
    }
  }

  /// Notes a failure for each to-one relationship with the rule `deny` that leads to an object that isn't deleted too.
  /// A relationship that is not changed here leads to its target in the store at that moment; the store checks it for
  /// the outermost context.
  private mutating func noteDenials(
    _ object: any ManagedObject,
    _ decided: DecidedReferences,
    _ changes: EntityChanges
  ) throws(ContextError) {
    let entity = changes.entity
    for toOne in entity.toOnes where toOne.deleteRule == .deny {
      if decided.all.contains(toOne.slot) { continue }
      if context.parent == nil, !object._$state.changed.contains(toOne.slot) {
        changes.follow(SlotSet(toOne.slot), of: object._$state.number)
        continue
      }
      let number = object.reference(at: toOne.slot)
      let destination = context.entity(toOne.destination)
      guard !number.isNone, try context.isUndeleted(number, destination) else { continue }
      let failure = ContextError(
        .deletionDenied,
        "\(entity.name) \(object._$state.number) can't be deleted:"
          + " its \(toOne.name) leads to \(destination.name) \(number)",
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

  private mutating func encodePairs(of entity: StoredEntity) throws(ContextError) {
    for relationship in entity.toManys {
      guard case .pairs(let trees) = relationship.storage else { continue }
      let links = context.entities[entity.ordinal].pairs[relationship.ordinal].links
      let places = context.entities[entity.ordinal].pairs[relationship.ordinal].places
      if links.isEmpty, places.isEmpty { continue }
      try noteMissingEnds(of: links.added, entity, relationship)
      request.pairs.append(
        PairChanges(
          source: entity,
          relationship: relationship,
          trees: trees,
          links: links,
          places: places
        )
      )
    }
  }

  /// Notes links to objects that the parent has deleted and that have no changes here. The store checks this for the
  /// outermost context.
  private mutating func noteMissingEnds(
    of added: [ObjectNumber: Set<ObjectNumber>],
    _ entity: StoredEntity,
    _ relationship: StoredToMany
  ) throws(ContextError) {
    if context.parent == nil { return }
    let destination = context.entity(relationship.destination)
    for (owner, elements) in added {
      for element in elements where try !context.isThere(element, destination) {
        noteMissing(element, destination, linkedBy: relationship.name, of: owner, entity)
      }
    }
  }

  /// Notes references to objects that the parent has deleted and that have no changes here.
  ///
  /// - Parameter slots: the slots that the save hands to the parent.
  private mutating func noteMissingTargets(
    of record: RecordView,
    _ number: ObjectNumber,
    _ entity: StoredEntity,
    in slots: SlotSet = .all
  ) throws(ContextError) {
    if context.parent == nil { return }
    for toOne in entity.toOnes where slots.contains(toOne.slot) {
      let (target, destination) = (record.reference(toOne.slot), context.entity(toOne.destination))
      if target.isNone { continue }
      if try context.isThere(target, destination) { continue }
      noteMissing(target, destination, linkedBy: toOne.name, of: number, entity)
    }
  }

  private mutating func noteMissing(
    _ target: ObjectNumber,
    _ destination: StoredEntity,
    linkedBy name: String,
    of owner: ObjectNumber,
    _ entity: StoredEntity
  ) {
    let failure = ContextError(
      .missingDestination,
      "\(entity.name) \(owner) is linked by \(name) to \(destination.name) \(target), which is deleted",
      context: .init(
        entity: entity.name,
        objectID: context.id(owner, entity),
        otherID: context.id(target, destination),
        properties: [name]
      )
    )
    request.failures.note(failure)
  }
}

extension ManagedObjectContext {
  /// Returns whether the parent has an object, or this context has unsaved changes of it, whose own checks tell whether
  /// it is deleted. An object without changes may stand for one that no longer exists: a reference led to it.
  fileprivate func isThere(_ number: ObjectNumber, _ entity: StoredEntity) throws(ContextError) -> Bool {
    if knownObject(number, of: entity)?._$state.hasChanges == true { return true }
    return try source.contains(number, of: entity)
  }

  /// Returns whether an object is there, and the context hasn't deleted it. A new object that is deleted leaves the
  /// context.
  fileprivate func isUndeleted(_ number: ObjectNumber, _ entity: StoredEntity) throws(ContextError) -> Bool {
    if let object = knownObject(number, of: entity) { return object._$state.phase != .deleted }
    return try source.contains(number, of: entity)
  }
}

/// A visitor that writes the slots of an object into the record that its entity's encoder is building. The encoder
/// notes the values that it refuses.
struct SlotEncoder: PropertyVisitor {
  private let changes: EntityChanges

  init(_ changes: EntityChanges) { self.changes = changes }

  mutating func visit<Value: AttributeType>(attribute slot: Int, _ cache: inout Cached<Value>) {
    // The checks find a required attribute that has no value.
    let value = cache.stored?._attributeValue ?? .null
    _ = changes.encoder.set(value, at: slot)
  }

  mutating func visit<Target: ManagedObject>(toOne slot: Int, _ cache: inout ToOneReference<Target>) {
    let value: AttributeValue = cache.number.isNone ? .null : .reference(cache.number)
    _ = changes.encoder.set(value, at: slot)
  }

  mutating func visit<Target: ManagedObject>(toMany relationship: Int, _ cache: inout ToManyMembers<Target>) {
  }
}
