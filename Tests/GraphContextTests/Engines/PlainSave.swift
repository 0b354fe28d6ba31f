import Foundation
import Predicates

@testable import GraphContext

/// A save on plain values. The order of its steps is the one that ``SaveTransaction`` documents.
struct PlainSave {
  var store: PlainStore
  private let schema: ResolvedSchema
  private let storeID: UUID
  private(set) var ruleChanges = RuleChanges()
  private var deletions: [(entity: StoredEntity, number: ObjectNumber)] = []
  private var condemned: [(entity: StoredEntity, number: ObjectNumber)] = []
  /// What forbids the save unless it is false by the end, and the object that can't be deleted.
  private var deniedPairs: [(ObjectNumber, ObjectNumber, StoredToMany, Int)] = []
  private var denials: [(isStillThere: (PlainStore) -> Bool, StoredEntity, ObjectNumber)] = []
  /// References that were stored: where from and where to.
  private var references: [(from: ObjectNumber, StoredEntity, StoredToOne, to: ObjectNumber)] = []

  init(_ store: PlainStore, _ schema: ResolvedSchema, _ storeID: UUID) {
    self.store = store
    self.schema = schema
    self.storeID = storeID
    self.store.commit += 1
  }

  mutating func apply(_ request: SaveRequest) throws(ContextError) {
    try request.failures.throwIfAny()
    for changes in request.entities {
      for record in changes.inserted {
        put(record.number, changes.entity, UnsafeRawBufferPointer(record.bytes), in: .all)
      }
      for patch in changes.updated {
        try check(patch.number, changes.entity, request)
        put(patch.number, changes.entity, patch.bytes, in: patch.slots)
      }
      for number in changes.deleted {
        try check(number, changes.entity, request)
        let row = store.rows[changes.entity.ordinal].removeValue(forKey: number)
        if let row, let slots = changes.followed[number] { follow(row, in: slots, number, changes.entity) }
        deletions.append((changes.entity, number))
      }
    }
    for pairs in request.pairs { try apply(pairs) }
    try applyRules()
    for (entity, owners) in zip(schema.entities, request.unifiedOwners) {
      for owner in owners where ruleChanges.objects[entity.number]?.deleted.contains(owner) == true {
        throw .conflict(id(owner, entity), "deleted")
      }
    }
    for reference in references {
      let (entity, toOne) = (reference.1, reference.2)
      let destination = schema.entities[toOne.destination]
      let isDeletedByRule = ruleChanges.objects[destination.number]?.deleted.contains(reference.to) == true
      let isStillThere = store.reference(toOne.slot, of: reference.from, entity.ordinal) == reference.to
      if isDeletedByRule, !isStillThere { continue }
      try checkExists(reference.to, destination)
    }
    for entity in schema.entities { derive(entity) }
    for entity in schema.entities { try checkUniqueness(entity) }
  }

  // MARK: Records

  private func check(
    _ number: ObjectNumber,
    _ entity: StoredEntity,
    _ request: SaveRequest
  ) throws(ContextError) {
    let row = store.row(number, of: entity.ordinal)
    if let row, row.commit <= request.baseCommit { return }
    throw .conflict(id(number, entity), row == nil ? "deleted" : "changed")
  }

  private mutating func put(
    _ number: ObjectNumber,
    _ entity: StoredEntity,
    _ bytes: UnsafeRawBufferPointer,
    in slots: SlotSet
  ) {
    let record = RecordView(validated: bytes, layout: entity.layout)
    var values =
      store.row(number, of: entity.ordinal)?.values ?? entity.schema.stored.map { _ in AttributeValue.null }
    for slot in values.indices where slots.contains(slot) {
      values[slot] = record.isNull(slot) ? .null : record.value(slot)
      if case .reference(let target) = values[slot], let toOne = entity.toOne(slot: slot) {
        references.append((number, entity, toOne, target))
      }
    }
    store.rows[entity.ordinal][number] = PlainStore.Row(values: values, commit: store.commit)
  }

  private mutating func apply(_ changes: PairChanges) throws(ContextError) {
    let (source, relationship) = (changes.source, changes.relationship)
    for (owner, elements) in changes.links.removed {
      for element in elements { store.unlink(owner, element, relationship, source.ordinal) }
    }
    for (owner, elements) in changes.links.added {
      for element in elements {
        try checkExists(owner, source)
        try checkExists(element, schema.entities[relationship.destination])
        store.link(owner, element, relationship, source.ordinal)
      }
    }
  }

  private func checkExists(_ number: ObjectNumber, _ entity: StoredEntity) throws(ContextError) {
    if store.row(number, of: entity.ordinal) == nil {
      throw ContextError(.missingDestination, "\(entity.name) \(number) doesn't exist")
    }
  }

  // MARK: Rules

  private mutating func applyRules() throws(ContextError) {
    while true {
      if let (entity, number) = condemned.popLast() {
        delete(number, entity)
      } else if let (entity, number) = deletions.popLast() {
        try release(number, entity)
      } else {
        break
      }
    }
    // A link whose two ends are both deleted denies nothing.
    for (owner, element, relationship, ordinal) in deniedPairs
    where store.row(element, of: relationship.destination) == nil {
      store.unlink(owner, element, relationship, ordinal)
    }
    for (isStillThere, entity, number) in denials where isStillThere(store) {
      throw ContextError(.deletionDenied, "\(entity.name) \(number) can't be deleted")
    }
  }

  private mutating func release(_ number: ObjectNumber, _ entity: StoredEntity) throws(ContextError) {
    for incoming in entity.incoming {
      let (source, slot) = (schema.entities[incoming.source], incoming.toOne.slot)
      for referrer in store.elements(of: number, in: incoming.toOne.links) {
        switch incoming.rule {
        case .cascade: condemned.append((source, referrer))
        case .deny:
          denials.append(({ $0.reference(slot, of: referrer, source.ordinal) == number }, entity, number))
        case .nullify:
          if source.requiredSlots(of: referrer).contains(slot) {
            throw ContextError(.missingValue, "\(source.name) \(referrer) needs \(entity.name) \(number)")
          }
          store.rows[source.ordinal][referrer]?.values[slot] = .null
          store.rows[source.ordinal][referrer]?.commit = store.commit
          ruleChanges.noteUpdated(referrer, slot: slot, of: source.number)
        }
      }
    }
    for relationship in entity.toManys {
      guard case .pairs = relationship.storage else { continue }
      for element in store.elements(of: number, in: relationship.links) {
        switch relationship.deleteRule {
        case .deny:
          let links = relationship.links
          denials.append(({ $0.elements(of: number, in: links).contains(element) }, entity, number))
          deniedPairs.append((number, element, relationship, entity.ordinal))
        case .cascade:
          store.unlink(number, element, relationship, entity.ordinal)
          condemned.append((schema.entities[relationship.destination], element))
        case .nullify: store.unlink(number, element, relationship, entity.ordinal)
        }
      }
    }
  }

  private mutating func delete(_ number: ObjectNumber, _ entity: StoredEntity) {
    guard let row = store.rows[entity.ordinal].removeValue(forKey: number) else { return }
    ruleChanges.noteDeleted(number, of: entity.number)
    deletions.append((entity, number))
    follow(row, in: .all, number, entity)
  }

  private mutating func follow(
    _ row: PlainStore.Row,
    in slots: SlotSet,
    _ number: ObjectNumber,
    _ entity: StoredEntity
  ) {
    for toOne in entity.toOnes where slots.contains(toOne.slot) {
      guard case .reference(let target) = row.values[toOne.slot] else { continue }
      let destination = schema.entities[toOne.destination]
      switch toOne.deleteRule {
      case .nullify: break
      case .cascade: condemned.append((destination, target))
      case .deny: denials.append(({ $0.row(target, of: destination.ordinal) != nil }, entity, number))
      }
    }
  }

  // MARK: Uniqueness

  private func checkUniqueness(_ entity: StoredEntity) throws(ContextError) {
    for index in entity.declaredIndexes where index.isUnique {
      var seen: Set<[AttributeValue]> = []
      for row in store.rows[entity.ordinal].values {
        let tuple = index.slots.map { row.values[$0] }
        if tuple.contains(.null) { continue }
        if !seen.insert(tuple).inserted {
          throw ContextError(.notUnique, "\(entity.name) is unique by \(index.name)")
        }
      }
    }
  }

  private func id(_ number: ObjectNumber, _ entity: StoredEntity) -> ManagedObjectID {
    ManagedObjectID(entity: entity.label, number: number, storeID: storeID)
  }
}

extension ChangeSet {
  /// The difference of two states.
  init(from old: PlainStore, to new: PlainStore, _ schema: ResolvedSchema) {
    self.init(commit: new.commit)
    for entity in schema.entities {
      let (before, after) = (old.rows[entity.ordinal], new.rows[entity.ordinal])
      var changes = Objects()
      for number in after.keys.filter({ before[$0] == nil }).sorted() { changes.inserted.append(number) }
      changes.deleted = before.keys.filter { after[$0] == nil }.sorted()
      for (number, row) in before.sorted(by: { $0.key < $1.key }) {
        guard let values = after[number]?.values, values != row.values else { continue }
        let slots = values.indices.filter { values[$0] != row.values[$0] }
        changes.updated.append(.init(number: number, slots: SlotSet(slots)))
      }
      setObjects(changes, of: entity.number)
      noteLinks(of: entity, old, new)
    }
  }

  private mutating func noteLinks(of entity: StoredEntity, _ old: PlainStore, _ new: PlainStore) {
    for relationship in entity.toManys {
      guard case .pairs(let trees) = relationship.storage else { continue }
      let before = old.pairs[entity.ordinal][relationship.ordinal]
      let after = new.pairs[entity.ordinal][relationship.ordinal]
      for link in after.subtracting(before) {
        noteAdded(.init(owner: link.owner, element: link.element), to: trees.relationship)
      }
      for link in before.subtracting(after) {
        noteRemoved(.init(owner: link.owner, element: link.element), from: trees.relationship)
      }
    }
  }
}
