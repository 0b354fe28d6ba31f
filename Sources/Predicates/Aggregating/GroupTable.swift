/// A table that numbers byte strings in the order in which they are first seen: a hash table with open addressing.
struct GroupTable {
  private(set) var count = 0
  /// For each slot of the table, the upper half of a byte string's hash and the byte string's number plus 1; 0 if the
  /// slot is free. At most half of the slots are used. The upper half also determines the first slot of a search, so
  /// the table can grow without reading the byte strings.
  private var places: [UInt64] = Array(repeating: 0, count: 64)
  /// The end of each number's bytes in `bytes`; the bytes begin at the end of the bytes before.
  private var ends: [Int] = []
  private var bytes: [UInt8] = []

  /// The seed of the hashes, a different one in each process, so that hostile values can't be chosen to collide.
  private static let seed = UInt64.random(in: .min ... .max)
  private static let hashHalf: UInt64 = 0xFFFF_FFFF_0000_0000

  /// Returns the number of a byte string, a new one if it wasn't seen before. O(bytes).
  mutating func number(of key: UnsafeRawBufferPointer) -> Int {
    number(Self.hash(key), isEqual: { $0.isEqual($1, key) }, append: { $0.append(key) })
  }

  /// Returns the number of a word's eight bytes: that of the byte string, found without a loop over bytes. O(1).
  mutating func number(of word: Int64) -> Int {
    number(Self.hash(word), isEqual: { $0.isEqual($1, word) }) { table in
      withUnsafeBytes(of: word) { table.append($0) }
    }
  }

  @inline(__always)
  private mutating func number(
    _ hash: UInt64,
    isEqual: (borrowing GroupTable, Int) -> Bool,
    append: (inout GroupTable) -> Int
  ) -> Int {
    var place = firstPlace(hash)
    while places[place] != 0 {
      let entry = places[place]
      let number = Int(truncatingIfNeeded: entry & ~Self.hashHalf) - 1
      if entry & Self.hashHalf == hash & Self.hashHalf, isEqual(self, number) { return number }
      place = (place + 1) & (places.count - 1)
    }
    places[place] = hash & Self.hashHalf | UInt64(count + 1)
    return append(&self)
  }

  /// Returns a new number that no byte string finds.
  mutating func newNumber() -> Int { append(UnsafeRawBufferPointer(start: nil, count: 0), isFound: false) }

  /// Calls `body` with the bytes of a number.
  func withBytes<R>(of number: Int, _ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
    let start = number == 0 ? 0 : ends[number - 1]
    return try bytes.withUnsafeBytes {
      try body(UnsafeRawBufferPointer(rebasing: $0[start..<ends[number]]))
    }
  }

  private func isEqual(_ number: Int, _ key: UnsafeRawBufferPointer) -> Bool {
    withBytes(of: number) { $0.count == key.count && ByteComparison.order($0, key) == 0 }
  }

  @inline(__always)
  private func isEqual(_ number: Int, _ word: Int64) -> Bool {
    let start = number == 0 ? 0 : ends[number - 1]
    guard ends[number] - start == MemoryLayout<Int64>.size else { return false }
    return bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: start, as: Int64.self) } == word
  }

  private mutating func append(_ key: UnsafeRawBufferPointer, isFound: Bool = true) -> Int {
    bytes.append(contentsOf: key)
    ends.append(bytes.count)
    count += 1
    if isFound, 2 * count > places.count { grow() }
    return count - 1
  }

  private mutating func grow() {
    let old = places
    places = Array(repeating: 0, count: 2 * old.count)
    for entry in old where entry != 0 {
      var place = firstPlace(entry)
      while places[place] != 0 { place = (place + 1) & (places.count - 1) }
      places[place] = entry
    }
  }

  /// Returns the first slot of a search.
  ///
  /// - Parameter hash: its upper half counts.
  @inline(__always)
  private func firstPlace(_ hash: UInt64) -> Int {
    Int(truncatingIfNeeded: hash >> 32) & (places.count - 1)
  }

  /// Returns the hash of bytes, which are folded by multiplication, eight at a time.
  private static func hash(_ key: UnsafeRawBufferPointer) -> UInt64 {
    var hash = seed ^ UInt64(key.count)
    var position = 0
    while position + 8 <= key.count {
      hash = fold(hash ^ key.loadUnaligned(fromByteOffset: position, as: UInt64.self))
      position += 8
    }
    var rest: UInt64 = 0
    while position < key.count {
      rest = rest << 8 | UInt64(key[position])
      position += 1
    }
    return fold(fold(hash ^ rest))
  }

  /// Returns the hash of a word's eight bytes.
  @inline(__always)
  private static func hash(_ word: Int64) -> UInt64 {
    fold(fold(fold(seed ^ UInt64(MemoryLayout<Int64>.size) ^ UInt64(bitPattern: word))))
  }

  @inline(__always)
  private static func fold(_ value: UInt64) -> UInt64 {
    let (high, low) = value.multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
    return high ^ low
  }
}
