import Predicates

/// What other contexts have done in the store to an object that a context has changed.
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
      if let place = objects.updated.firstIndex(sorted: number, by: \.number) {
        change.slots |= objects.updated[place].slots
      }
    }
    return change
  }
}

extension Array {
  /// Returns the index of the element of a key, in an array that ascends by the key; nil if it has none. O(log n).
  fileprivate func firstIndex<Key: Comparable>(sorted key: Key, by keyPath: (Element) -> Key) -> Int? {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if keyPath(self[middle]) < key { low = middle + 1 } else { high = middle }
    }
    return low < count && keyPath(self[low]) == key ? low : nil
  }

  fileprivate func contains<Key: Comparable>(sorted key: Key, by keyPath: (Element) -> Key) -> Bool {
    firstIndex(sorted: key, by: keyPath) != nil
  }
}
