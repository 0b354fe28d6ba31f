import Predicates

/// The changes of other contexts, in the store, to an object that a context has changed.
struct ForeignChange: Equatable {
  /// The slots that have other values.
  var slots = SlotSet.empty
  var isDeleted = false
  /// True if the object was deleted and an undo has brought it back: then ``slots`` doesn't tell which values differ.
  var isRevived = false
  /// The values that the slots had before, as far as they are known.
  var bases: [Int: AttributeValue] = [:]

  var isNone: Bool { slots.isEmpty && !isDeleted && !isRevived }

  /// Adds a later change. The values before both changes are the bases.
  mutating func merge(_ later: ForeignChange) {
    slots.formUnion(later.slots)
    isRevived = !later.isDeleted && (isRevived || later.isRevived)
    isDeleted = later.isDeleted || isDeleted && !later.isRevived
    bases.merge(later.bases) { earlier, _ in earlier }
  }

  /// Forgets the change of some slots.
  mutating func forget(_ slots: SlotSet) {
    self.slots.subtract(slots)
    bases = bases.filter { slot, _ in !slots.contains(slot) }
  }
}

/// The changes of the commits between two states of a store, by object.
struct ForeignChanges {
  private let changeSets: [ChangeSet]

  init(_ changeSets: [ChangeSet]) { self.changeSets = changeSets }

  /// Returns the objects of which others have changed a many-to-many link that programs see. A place is no change.
  /// O(links).
  func relinked(in schema: ResolvedSchema) -> Set<ObjectKey> {
    var keys: Set<ObjectKey> = []
    for (relationship, links) in changeSets.flatMap(\.links) {
      links.withoutOrder.forEachEnd(of: relationship, in: schema) { key, _ in keys.insert(key) }
    }
    return keys
  }

  /// Returns the changes of an object. O(commits · log of their changes).
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
