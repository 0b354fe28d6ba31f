import PageStore
import Predicates

// Many entries at once: appended where they all lie behind what a tree has, as the records of new objects do.

extension WriteTree {
  /// Entries from which on it pays to look whether they can be appended.
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

  /// Stores the records of new objects, which ascend by number. Returns the number of one whose place is taken.
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

  private func canAppend(_ count: Int, first: UnsafeRawBufferPointer) throws(StoreError) -> Bool {
    guard count >= Self.bulkCount else { return false }
    var cursor = try cursor()
    guard try cursor.previous() else { return true }
    return try cursor.key().lexicographicallyPrecedes(first)
  }
}
