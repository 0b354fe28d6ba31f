import Predicates

/// Keys for one tree, collected in one buffer and sorted before they are stored. So neighbours in the tree are
/// stored one after the other, and keys beyond the tree's last key are simply appended.
struct KeyBatch {
  struct Entry {
    /// The first 16 bytes of the key, big-endian, zeros after its end: most comparisons need no more.
    let head: UInt128
    let offset: Int
    /// The length of the key; `UInt32.max` for a longer one. No such key is stored: the code that adds it compares the
    /// length that ``KeyBatch/append(_:)`` returns with the limit, and refuses the value.
    private let byteCount: UInt32
    /// True if a uniqueness constraint applies to the key: no component is nil.
    let isConstrained: Bool

    init(head: UInt128, offset: Int, count: Int, isConstrained: Bool) {
      self.head = head
      self.offset = offset
      byteCount = UInt32(clamping: count)
      self.isConstrained = isConstrained
    }

    var count: Int { Int(byteCount) }
  }

  private var bytes: [UInt8] = []
  private(set) var entries: [Entry] = []

  var isEmpty: Bool { entries.isEmpty }
  var count: Int { entries.count }
  /// Bytes of memory that the keys take.
  var byteCount: Int { bytes.count + entries.count * MemoryLayout<Entry>.stride }

  /// Adds the key that `write` appends to its argument. `write` returns whether no component is nil.
  ///
  /// - Returns: bytes of the key.
  @discardableResult
  mutating func append(_ write: (inout [UInt8]) -> Bool) -> Int {
    let offset = bytes.count
    let isConstrained = write(&bytes)
    let count = bytes.count - offset
    let head = bytes.withUnsafeBytes { Self.head(of: UnsafeRawBufferPointer(rebasing: $0[offset...])) }
    entries.append(Entry(head: head, offset: offset, count: count, isConstrained: isConstrained))
    return count
  }

  /// Adds a key that no uniqueness constraint applies to.
  mutating func append(_ key: [UInt8]) {
    append { bytes in
      bytes.append(contentsOf: key)
      return false
    }
  }

  /// Adds the key of two numbers.
  mutating func append(pair first: ObjectNumber, _ second: ObjectNumber) {
    append { key in
      KeyCoder.append(number: first, to: &key)
      KeyCoder.append(number: second, to: &key)
      return false
    }
  }

  /// Removes the key that was added last. The entries are not sorted yet.
  mutating func removeLast() {
    if let last = entries.popLast() { bytes.removeLast(bytes.count - last.offset) }
  }

  /// Returns whether the keys that were added last to two batches are equal.
  static func lastAreEqual(_ left: KeyBatch, _ right: KeyBatch) -> Bool {
    guard let a = left.entries.last, let b = right.entries.last, a.head == b.head, a.count == b.count else {
      return false
    }
    return left.bytes[a.offset...].elementsEqual(right.bytes[b.offset...])
  }

  mutating func removeAll() { self = KeyBatch() }

  /// Brings the entries into the order of their keys.
  mutating func sort() {
    if zip(entries, entries.dropFirst()).allSatisfy({ $0.head < $1.head }) { return }
    sortByHeads()
    sortEqualHeads()
  }

  /// The keys, in the order of the entries, while ``withKeys(_:)`` lends them.
  struct Keys {
    fileprivate let bytes: UnsafeRawBufferPointer
    fileprivate let entries: [Entry]

    var count: Int { entries.count }
    var isEmpty: Bool { entries.isEmpty }

    subscript(place: Int) -> UnsafeRawBufferPointer {
      let entry = entries[place]
      return UnsafeRawBufferPointer(rebasing: bytes[entry.offset..<entry.offset + entry.count])
    }
  }

  /// Calls `body` with the keys, which it must not keep.
  func withKeys<R, E: Error>(_ body: (Keys) throws(E) -> R) throws(E) -> R {
    let result = bytes.withUnsafeBytes { bytes in
      Result { () throws(E) in try body(Keys(bytes: bytes, entries: entries)) }
    }
    return try result.get()
  }

  /// Calls `body` with each key, in the order of the entries.
  func forEach<E: Error>(_ body: (UnsafeRawBufferPointer, Entry) throws(E) -> Void) throws(E) {
    try withKeys { keys throws(E) in
      for place in 0..<keys.count { try body(keys[place], entries[place]) }
    }
  }

  private static func head(of key: UnsafeRawBufferPointer) -> UInt128 {
    if key.count >= 16 { return UInt128(bigEndian: key.loadUnaligned(as: UInt128.self)) }
    var head: UInt128 = 0
    for byte in key { head = head << 8 | UInt128(byte) }
    return head << UInt128(8 * (16 - key.count))
  }
}

// MARK: - Sorting

extension KeyBatch {
  /// The number of entries below which entries are compared with each other instead of distributed.
  private static let distributedCount = 256

  /// Sorts by the heads alone. Many entries are distributed by one byte of the head after the other, beginning with
  /// the last byte. A byte that is equal in all heads costs nothing, and most bytes are.
  private mutating func sortByHeads() {
    guard entries.count >= Self.distributedCount else { return entries.sort { $0.head < $1.head } }
    let differences = entries.reduce(into: UInt128(0)) { $0 |= $1.head ^ entries[0].head }
    for shift in stride(from: 0, to: UInt128.bitWidth, by: 8)
    where UInt8(truncatingIfNeeded: differences >> UInt128(shift)) != 0 {
      distribute(by: shift)
    }
  }

  /// Sorts by the byte of the heads at `shift`. Entries with equal bytes stay in their order.
  private mutating func distribute(by shift: Int) {
    func byte(_ entry: Entry) -> Int { Int(UInt8(truncatingIfNeeded: entry.head >> UInt128(shift))) }
    var ends = Array(repeating: 0, count: 257)
    for entry in entries { ends[byte(entry) + 1] += 1 }
    for value in 1...256 { ends[value] += ends[value - 1] }
    entries = [Entry](unsafeUninitializedCapacity: entries.count) { target, count in
      for entry in entries {
        let value = byte(entry)
        target.initializeElement(at: ends[value], to: entry)
        ends[value] += 1
      }
      count = entries.count
    }
  }

  /// Sorts each run of entries with one head by the rest of their keys.
  private mutating func sortEqualHeads() {
    var start = 0
    while start < entries.count {
      var end = start + 1
      while end < entries.count, entries[end].head == entries[start].head { end += 1 }
      if end > start + 1 {
        bytes.withUnsafeBytes { bytes in
          entries[start..<end].sort { Self.key($0, bytes).lexicographicallyPrecedes(Self.key($1, bytes)) }
        }
      }
      start = end
    }
  }

  private static func key(_ entry: Entry, _ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: bytes[entry.offset..<entry.offset + entry.count])
  }
}
