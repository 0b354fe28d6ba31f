import Predicates

/// The changes that one commit has made to the objects of a store, for every consumer: contexts that move to the commit, and whatever observes
/// them.
///
/// A change set has numbers and masks, no values: a consumer that needs values reads them from the snapshots before and after the commit. It names entities and
/// relationships by their stable numbers. The save attaches it to the commit before a reader can see that, so a reader always finds the change sets of all commits
/// between two of its snapshots.
///
/// Memory: 16 bytes for each run of inserted objects whose numbers follow one another, 16 for each updated and 8 for each deleted object, 16 for each link.
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
    /// Bits of the slots that have other values. The slots are those of the schema at the commit.
    var slots: UInt64
  }

  /// A many-to-many relationship, by the end that the change was made at.
  struct Relationship: Sendable, Hashable {
    let entity: EntityNumber
    let property: PropertyNumber
  }

  struct Link: Sendable, Hashable {
    let owner: ObjectNumber
    let element: ObjectNumber
  }

  /// The links of one many-to-many relationship. Those of other relationships are values of slots.
  struct Links: Sendable, Hashable {
    var added: [Link] = []
    var removed: [Link] = []
  }

  let commit: UInt64
  /// Who made the changes: ``ManagedObjectContext/author``.
  var author: String?
  /// Of the entities with changes.
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

  /// The changes of links alone.
  var withoutObjects: ChangeSet {
    var changes = self
    changes.objects = [:]
    return changes
  }

  /// Adds the changes that delete rules have made in the same commit.
  mutating func merge(_ rules: RuleChanges) {
    for (entity, changes) in rules.objects {
      var merged = objects[entity] ?? Objects()
      merged.merge(changes)
      objects[entity] = merged.isEmpty ? nil : merged
    }
    forgetPassingLinks()
  }

  /// Forgets links that the commit has added and a delete rule has removed again: they never were in the store.
  private mutating func forgetPassingLinks() {
    for (relationship, changes) in links where !changes.added.isEmpty && !changes.removed.isEmpty {
      let passing = Set(changes.added).intersection(changes.removed)
      if passing.isEmpty { continue }
      var rest = changes
      rest.added.removeAll(where: passing.contains)
      rest.removed.removeAll(where: passing.contains)
      links[relationship] = rest.added.isEmpty && rest.removed.isEmpty ? nil : rest
    }
  }
}

extension ChangeSet.Objects {
  fileprivate mutating func merge(_ rules: RuleChanges.Objects) {
    var slots = Dictionary(uniqueKeysWithValues: updated.map { ($0.number, $0.slots) })
    for (number, mask) in rules.updated where !inserted.contains(number) {
      slots[number, default: 0] |= mask
    }
    for number in rules.deleted { slots[number] = nil }
    // An object that the same commit has inserted never was in the store.
    let gone = rules.deleted.filter { !inserted.contains($0) }
    inserted = inserted.subtracting(rules.deleted)
    deleted = (deleted + gone).sorted()
    updated = slots.map { ChangeSet.Update(number: $0.key, slots: $0.value) }.sorted { $0.number < $1.number }
  }
}
