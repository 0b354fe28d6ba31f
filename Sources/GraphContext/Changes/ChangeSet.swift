import Predicates

/// The changes that one commit has made to the objects of a store, for every consumer: contexts that move to the
/// commit, and their observers.
///
/// A change set has numbers and masks, no values: a consumer that needs values reads them from the snapshots before and
/// after the commit. It names entities and relationships by their stable numbers. The save attaches it to the commit
/// before a reader can see the commit, so a reader always finds the change sets of all commits between two of its
/// snapshots.
///
/// Memory: 16 bytes for each run of inserted objects whose numbers follow one another, 16 for each updated and 8 for
/// each deleted object, 16 for each link, and some 16 for each owner of links that were moved.
struct ChangeSet: Sendable {
  /// The objects of one entity.
  struct Objects: Sendable, Hashable {
    /// Ascending.
    var inserted = ObjectNumberRanges()
    /// Ascending by number.
    var updated: [Update] = []
    /// Ascending.
    var deleted: [ObjectNumber] = []

    var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }
  }

  /// The new values of an object.
  struct Update: Sendable, Hashable {
    var number: ObjectNumber
    /// The slots that have other values. The slots are those of the schema at the commit.
    var slots: SlotSet
  }

  /// A many-to-many relationship, by the end that the change was made at.
  struct Relationship: Sendable, Hashable {
    let entity: EntityNumber
    let property: PropertyNumber
  }

  struct Link: Sendable, Hashable {
    let owner: ObjectNumber
    let element: ObjectNumber

    /// The same link, seen from its other end.
    var reversed: Link { Link(owner: element, element: owner) }
  }

  /// The links of one many-to-many relationship. Those of other relationships are values of slots.
  struct Links: Sendable, Hashable {
    var added: [Link] = []
    var removed: [Link] = []
    /// The owners of links that have other places in an order.
    var reordered: Set<ObjectNumber> = []

    var isEmpty: Bool { added.isEmpty && removed.isEmpty && reordered.isEmpty }

    /// The links that are added and removed.
    var withoutOrder: Links { Links(added: added, removed: removed) }
  }

  let commit: UInt64
  /// The author of the changes: ``ManagedObjectContext/author``.
  var author: String?
  /// The changes by entity, for the entities with changes.
  private(set) var objects: [EntityNumber: Objects] = [:]
  private(set) var links: [Relationship: Links] = [:]

  init(commit: UInt64) { self.commit = commit }

  var isEmpty: Bool { objects.isEmpty && links.isEmpty }

  /// Sets the changes of an entity that has none yet.
  mutating func setObjects(_ changes: Objects, of entity: EntityNumber) {
    if !changes.isEmpty { objects[entity] = changes }
  }

  mutating func noteAdded(_ link: Link, to relationship: Relationship) {
    links[relationship, default: Links()].added.append(link)
  }

  mutating func noteRemoved(_ link: Link, from relationship: Relationship) {
    links[relationship, default: Links()].removed.append(link)
  }

  mutating func noteReordered(_ owner: ObjectNumber, in relationship: Relationship) {
    links[relationship, default: Links()].reordered.insert(owner)
  }

  /// The changes of links alone.
  var withoutObjects: ChangeSet {
    var changes = self
    changes.objects = [:]
    return changes
  }

  /// Adds the changes that delete rules have made in the same commit.
  mutating func merge(_ rules: RuleChanges, in schema: ResolvedSchema) {
    for (entity, changes) in rules.objects {
      var merged = objects[entity] ?? Objects()
      merged.merge(changes)
      objects[entity] = merged.isEmpty ? nil : merged
      forgetReordered(changes.deleted, of: entity)
    }
    forgetPassingLinks(in: schema)
  }

  /// Forgets reordered lists of objects that a delete rule has deleted.
  private mutating func forgetReordered(_ deleted: some Sequence<ObjectNumber>, of entity: EntityNumber) {
    for relationship in Array(links.keys) where relationship.entity == entity {
      links[relationship]?.reordered.subtract(deleted)
      if links[relationship]?.isEmpty == true { links[relationship] = nil }
    }
  }

  /// Forgets links that the commit has added and a delete rule has removed again: they were never in the store. The
  /// rule may have been applied at the other end.
  private mutating func forgetPassingLinks(in schema: ResolvedSchema) {
    for relationship in Array(links.keys) {
      forgetLinks(addedTo: relationship, removedFrom: relationship) { $0 }
      guard let inverse = schema.inverse(of: relationship) else { continue }
      forgetLinks(addedTo: relationship, removedFrom: inverse, \.reversed)
    }
  }

  /// - Parameter turned: a removed link as the relationship that has added it sees it.
  private mutating func forgetLinks(
    addedTo relationship: Relationship,
    removedFrom other: Relationship,
    _ turned: (Link) -> Link
  ) {
    guard let added = links[relationship]?.added, let removed = links[other]?.removed, !added.isEmpty else {
      return
    }
    let passing = Set(added).intersection(removed.map(turned))
    if passing.isEmpty { return }
    links[relationship]?.added.removeAll(where: passing.contains)
    links[other]?.removed.removeAll { passing.contains(turned($0)) }
    for end in [relationship, other] where links[end]?.isEmpty == true { links[end] = nil }
  }
}

extension ResolvedSchema {
  /// Returns the other end of a many-to-many relationship; nil for one that the schema doesn't have.
  fileprivate func inverse(of relationship: ChangeSet.Relationship) -> ChangeSet.Relationship? {
    guard let (_, toMany, trees) = pairs(of: relationship), let place = trees.inverse,
      case .pairs(let others) = entities[toMany.destination].toManys[place].storage
    else { return nil }
    return others.relationship
  }

  /// Returns a many-to-many relationship, with the entity of its owners; nil for one that the schema doesn't have.
  func pairs(
    of relationship: ChangeSet.Relationship
  ) -> (source: StoredEntity, toMany: StoredToMany, trees: PairTrees)? {
    guard let source = entity(relationship.entity) else { return nil }
    for toMany in source.toManys {
      if case .pairs(let trees) = toMany.storage, trees.relationship == relationship {
        return (source, toMany, trees)
      }
    }
    return nil
  }
}

extension ChangeSet.Objects {
  fileprivate mutating func merge(_ rules: RuleChanges.Objects) {
    var slots = Dictionary(uniqueKeysWithValues: updated.map { ($0.number, $0.slots) })
    for (number, mask) in rules.updated where !inserted.contains(number) {
      slots[number, default: .empty].formUnion(mask)
    }
    for number in rules.deleted { slots[number] = nil }
    // An object that the same commit has inserted was never in the store.
    let gone = rules.deleted.filter { !inserted.contains($0) }
    inserted = inserted.subtracting(rules.deleted)
    deleted = (deleted + gone).sorted()
    updated = slots.map { ChangeSet.Update(number: $0.key, slots: $0.value) }.sorted { $0.number < $1.number }
  }
}
