/// Keys on their way into one tree, collected in one buffer and sorted before they go in: neighbours in the tree are
/// then neighbours in time, and keys beyond the tree's last are simply appended.
struct KeyBatch {
  struct Entry {
    /// The first 16 bytes of the key, big-endian, zeros after its end: most comparisons need no more.
    let head: UInt128
    let offset: Int
    let count: Int
    /// Whether a uniqueness constraint looks at the key: no component is nil.
    let isConstrained: Bool
  }

  private var bytes: [UInt8] = []
  private(set) var entries: [Entry] = []

  var isEmpty: Bool { entries.isEmpty }
  var count: Int { entries.count }
  /// Bytes of memory that the keys take.
  var byteCount: Int { bytes.count + entries.count * MemoryLayout<Entry>.stride }

  /// Adds a key.
  mutating func append(_ key: [UInt8], isConstrained: Bool = false) {
    entries.append(
      Entry(head: Self.head(of: key), offset: bytes.count, count: key.count, isConstrained: isConstrained)
    )
    bytes.append(contentsOf: key)
  }

  mutating func removeAll() { self = KeyBatch() }

  /// Brings the entries into the order of their keys.
  mutating func sort() {
    bytes.withUnsafeBytes { bytes in
      func precedes(_ left: Entry, _ right: Entry) -> Bool {
        if left.head != right.head { return left.head < right.head }
        return Self.tailPrecedes(left, right, bytes)
      }
      if zip(entries, entries.dropFirst()).allSatisfy({ !precedes($1, $0) }) { return }
      entries.sort(by: precedes)
    }
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

  private static func head(of key: [UInt8]) -> UInt128 {
    key.withUnsafeBytes { key in
      if key.count >= 16 { return UInt128(bigEndian: key.loadUnaligned(as: UInt128.self)) }
      var head: UInt128 = 0
      for byte in key { head = head << 8 | UInt128(byte) }
      return head << UInt128(8 * (16 - key.count))
    }
  }

  private static func tailPrecedes(_ left: Entry, _ right: Entry, _ bytes: UnsafeRawBufferPointer) -> Bool {
    let a = bytes[left.offset..<left.offset + left.count]
    let b = bytes[right.offset..<right.offset + right.count]
    return a.lexicographicallyPrecedes(b)
  }
}
