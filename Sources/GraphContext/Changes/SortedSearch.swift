import Predicates

// Search in arrays that ascend by a key.

extension Array {
  /// Returns the index of the first element whose key is not less than this one. O(log n).
  func insertionIndex<Key: Comparable>(sorted key: Key, by keyPath: (Element) -> Key) -> Int {
    indices.partitionPoint { keyPath(self[$0]) >= key }
  }

  /// Returns the index of the element of a key; nil if there is none. O(log n).
  func firstIndex<Key: Comparable>(sorted key: Key, by keyPath: (Element) -> Key) -> Int? {
    let index = insertionIndex(sorted: key, by: keyPath)
    return index < count && keyPath(self[index]) == key ? index : nil
  }

  func contains<Key: Comparable>(sorted key: Key, by keyPath: (Element) -> Key) -> Bool {
    firstIndex(sorted: key, by: keyPath) != nil
  }

  /// Returns the number that is no element's key, and that has as many such numbers below it, from 0 on, as `place`
  /// says. O(log n).
  func number(ofGap place: Int, by keyPath: (Element) -> Int) -> Int {
    place + indices.partitionPoint { keyPath(self[$0]) - $0 > place }
  }
}
