import Predicates

/// The changes of other contexts, in the store, to an object that a context has changed.
struct ForeignChange: Equatable {
  /// Bits of the slots that have other values.
  var slots: UInt64 = 0
  var isDeleted = false

  var isNone: Bool { slots == 0 && !isDeleted }

  mutating func merge(_ later: ForeignChange) {
    slots |= later.slots
    isDeleted = isDeleted || later.isDeleted
  }
}

/// The changes of the commits between two states of a store, by object.
struct ForeignChanges {
  private let changeSets: [ChangeSet]

  init(_ changeSets: [ChangeSet]) { self.changeSets = changeSets }

  /// O(commits · log of their changes).
  func change(of number: ObjectNumber, _ entity: EntityNumber) -> ForeignChange {
    var change = ForeignChange()
    for changes in changeSets {
      guard let objects = changes.objects[entity] else { continue }
      if objects.deleted.contains(sorted: number, by: \.self) { change.isDeleted = true }
      if let index = objects.updated.firstIndex(sorted: number, by: \.number) {
        change.slots |= objects.updated[index].slots
      }
    }
    return change
  }
}
