import PageStore
import Predicates

// Changes of many entries at once. Entries are appended if they all lie behind the entries of the tree, as the
// records of new objects do. They are removed as ranges if they are neighbours.

extension WriteTree {
  /// The number of entries from which on it is worth checking whether they can be appended, or removed as a range.
  private static let bulkCount = 64

  /// Stores the keys of a sorted batch, without values.
  func put(_ batch: KeyBatch) throws(StoreError) {
    let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
    try batch.withKeys { keys throws(StoreError) in
      guard try canAppend(keys.count, first: keys.isEmpty ? nothing : keys[0]) else {
        for place in 0..<keys.count { try put(near: keys[place], nothing) }
        return
      }
      var place = 0
      try append { take throws(StoreError) in
        guard place < keys.count else { return false }
        try take(keys[place], nothing)
        place += 1
        return true
      }
    }
  }

  /// Stores the records of new objects, which ascend by number. Returns the number of an object that the tree
  /// already has, if there is one.
  func put(new records: [EntityChanges.Record]) throws(StoreError) -> ObjectNumber? {
    guard let first = records.first else { return nil }
    guard try withKey(first.number, { key throws(StoreError) in try canAppend(records.count, first: key) })
    else {
      for record in records {
        let replaces = try withKey(record.number) { key throws(StoreError) in
          try put(near: key, UnsafeRawBufferPointer(record.bytes))
        }
        if replaces { return record.number }
      }
      return nil
    }
    var rest = records[...]
    try append { take throws(StoreError) in
      guard let record = rest.popFirst() else { return false }
      try withKey(record.number) { key throws(StoreError) in
        try take(key, UnsafeRawBufferPointer(record.bytes))
      }
      return true
    }
    return nil
  }

  /// Removes the keys of a sorted batch, each of which the tree has.
  func remove(_ batch: KeyBatch) throws(StoreError) {
    try batch.withKeys { keys throws(StoreError) in
      try removeSorted(0..<keys.count) { keys[$0] }
    }
  }

  /// Removes the records of objects, which ascend by number and of which the tree has each.
  func remove(_ numbers: [ObjectNumber]) throws(StoreError) {
    let keys = recordKeys(numbers)
    let result = keys.withUnsafeBytes { bytes in
      Result { () throws(StoreError) in
        try removeSorted(0..<keys.count) { place in
          let start = place * KeyCoder.numberByteCount
          return UnsafeRawBufferPointer(rebasing: bytes[start..<start + KeyCoder.numberByteCount])
        }
      }
    }
    try result.get()
  }

  /// Removes ascending keys, each of which the tree has. Keys that are neighbours in the tree are removed as one
  /// range, which changes few pages and is one entry of the log. The tree's counts show which keys are neighbours.
  private func removeSorted(
    _ places: Range<Int>,
    _ key: (Int) -> UnsafeRawBufferPointer
  ) throws(StoreError) {
    guard places.count >= Self.bulkCount else {
      for place in places { try remove(near: key(place)) }
      return
    }
    let range = KeyRange(
      lower: .including([UInt8](key(places.lowerBound))),
      upper: .including([UInt8](key(places.upperBound - 1)))
    )
    if try count(in: range) == places.count {
      try removeRange(range)
      return
    }
    let middle = places.lowerBound + places.count / 2
    try removeSorted(places.lowerBound..<middle, key)
    try removeSorted(middle..<places.upperBound, key)
  }

  private func canAppend(_ count: Int, first: UnsafeRawBufferPointer) throws(StoreError) -> Bool {
    guard count >= Self.bulkCount else { return false }
    var cursor = try cursor()
    guard try cursor.previous() else { return true }
    return try cursor.key().lexicographicallyPrecedes(first)
  }
}
