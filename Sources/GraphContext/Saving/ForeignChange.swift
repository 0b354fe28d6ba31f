import Predicates

/// The changes of other contexts, in the store, to an object that a context has changed.
struct ForeignChange: Equatable {
  /// Bits of the slots that have other values.
  var slots: UInt64 = 0
  var isDeleted = false
  /// True if the object was deleted and is back, by an undo: then ``slots`` says nothing of the values that differ.
  var isRevived = false
  /// The values that the slots had before, as far as they are known.
  var bases: [Int: AttributeValue] = [:]

  var isNone: Bool { slots == 0 && !isDeleted && !isRevived }

  /// Adds a later change. What there was before both is the base.
  mutating func merge(_ later: ForeignChange) {
    slots |= later.slots
    isRevived = !later.isDeleted && (isRevived || later.isRevived)
    isDeleted = later.isDeleted || isDeleted && !later.isRevived
    bases.merge(later.bases) { earlier, _ in earlier }
  }

  /// Forgets the change of some slots.
  mutating func forget(_ slots: UInt64) {
    self.slots &= ~slots
    bases = bases.filter { slot, _ in slots & 1 << UInt64(slot) == 0 }
  }
}

/// The changes of the commits between two states of a store, by object.
struct ForeignChanges {
  private let changeSets: [ChangeSet]

  init(_ changeSets: [ChangeSet]) { self.changeSets = changeSets }

  /// The objects of which others have changed a many-to-many link that programs see. O(links).
  func relinked(in schema: StoredSchema) -> Set<ObjectKey> {
    var keys: Set<ObjectKey> = []
    for (relationship, links) in changeSets.flatMap(\.links) {
      links.forEachEnd(of: relationship, in: schema) { key, _ in keys.insert(key) }
    }
    return keys
  }

  /// Calls `body` for each many-to-many link that others have added and not removed since, with its relationship and that one's entity. O(links).
  func forEachAddedLink(in schema: StoredSchema, _ body: (ChangeSet.Link, StoredToMany, StoredEntity) -> Void)
  {
    var added: [ChangeSet.Relationship: Set<ChangeSet.Link>] = [:]
    for (relationship, links) in changeSets.flatMap(\.links) {
      added[relationship, default: []].subtract(links.removed)
      added[relationship, default: []].formUnion(links.added)
    }
    for (relationship, links) in added {
      guard let source = schema.entity(relationship.entity) else { continue }
      for toMany in source.toManys {
        guard case .pairs(let trees) = toMany.storage, trees.relationship == relationship else { continue }
        for link in links { body(link, toMany, source) }
      }
    }
  }

  /// How many objects of an entity others have inserted or updated, at most. O(commits).
  func keptCount(of entity: EntityNumber) -> Int {
    changeSets.reduce(0) { count, changes in
      count + (changes.objects[entity].map { $0.updated.count + $0.inserted.count } ?? 0)
    }
  }

  /// The objects of an entity to which others have given a value of a slot, or that they have inserted. O(changes of the entity).
  func objects(of entity: EntityNumber, thatGet slot: Int) -> Set<ObjectNumber> {
    var numbers: Set<ObjectNumber> = []
    for objects in changeSets.compactMap({ $0.objects[entity] }) {
      for update in objects.updated where update.slots & 1 << UInt64(slot) != 0 {
        numbers.insert(update.number)
      }
      for range in objects.inserted.ranges { numbers.formUnion(range.lazy.map(ObjectNumber.init(rawValue:))) }
    }
    return numbers
  }

  /// O(commits · log of their changes).
  func change(of number: ObjectNumber, _ entity: EntityNumber) -> ForeignChange {
    var change = ForeignChange()
    for changes in changeSets {
      guard let objects = changes.objects[entity] else { continue }
      if objects.deleted.contains(sorted: number, by: \.self) { change.merge(ForeignChange(isDeleted: true)) }
      if objects.inserted.contains(number) {
        change.merge(ForeignChange(isRevived: true))
      }
      if let index = objects.updated.firstIndex(sorted: number, by: \.number) {
        change.merge(ForeignChange(slots: objects.updated[index].slots))
      }
    }
    return change
  }
}
