import BenchmarkHarness

/// The records of the key-value workloads: random keys of 16 bytes, values of 100, the same for every peer.
// Safety: nothing changes after `init`, and the bytes live as long as the object.
final class Entries: @unchecked Sendable {
  static let keyByteCount = 16
  static let valueByteCount = 100

  let count: Int
  // At fixed addresses: handing one out costs nothing.
  private let keys: UnsafeRawBufferPointer
  private let values: UnsafeRawBufferPointer
  /// The numbers of the records in the order of their keys.
  let sortedOrder: [Int]
  /// The numbers of the records in a random order, other than that of insertion.
  let readOrder: [Int]

  init(count: Int, seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var keys: [UInt8] = []
    var values: [UInt8] = []
    keys.reserveCapacity(count * Self.keyByteCount)
    values.reserveCapacity(count * Self.valueByteCount + 8)
    for number in 0..<count {
      Self.append(random.next(), to: &keys)
      // The number makes every key different from every other.
      Self.append(SeededGenerator.mix(UInt64(number)), to: &keys)
      while values.count < (number + 1) * Self.valueByteCount { Self.append(random.next(), to: &values) }
      values.removeLast(values.count - (number + 1) * Self.valueByteCount)
    }
    self.count = count
    self.keys = Self.copy(keys)
    self.values = Self.copy(values)
    sortedOrder = Self.order(of: keys, count: count)
    var shuffled = Array(0..<count)
    shuffled.shuffle(using: &random)
    readOrder = shuffled
  }

  /// Makes one record of the given key, to look it up; its value is not used.
  init(key: [UInt8]) {
    count = 1
    keys = Self.copy(key)
    values = Self.copy(Array(repeating: 0, count: Self.valueByteCount))
    sortedOrder = [0]
    readOrder = [0]
  }

  deinit {
    keys.deallocate()
    values.deallocate()
  }

  func withKey<R, E: Error>(_ number: Int, _ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    let start = number &* Self.keyByteCount
    return try body(UnsafeRawBufferPointer(rebasing: keys[start..<start &+ Self.keyByteCount]))
  }

  func withValue<R, E: Error>(_ number: Int, _ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    let start = number &* Self.valueByteCount
    return try body(UnsafeRawBufferPointer(rebasing: values[start..<start &+ Self.valueByteCount]))
  }

  /// The key of a record and the value that a change gives it.
  func withChanged<R, E: Error>(
    _ number: Int,
    _ shift: Int,
    _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    try withKey(number) { key throws(E) in
      try withValue((number + shift) % count) { value throws(E) in try body(key, value) }
    }
  }

  func key(_ number: Int) -> [UInt8] { withKey(number) { Array($0) } }

  private static func copy(_ bytes: [UInt8]) -> UnsafeRawBufferPointer {
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 16)
    copy.copyBytes(from: bytes)
    return UnsafeRawBufferPointer(copy)
  }

  private static func append(_ word: UInt64, to bytes: inout [UInt8]) {
    withUnsafeBytes(of: word.bigEndian) { bytes.append(contentsOf: $0) }
  }

  private static func order(of keys: [UInt8], count: Int) -> [Int] {
    keys.withUnsafeBytes { bytes in
      let words = (0..<count).map { number in
        (
          UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: number * keyByteCount, as: UInt64.self)),
          UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: number * keyByteCount + 8, as: UInt64.self)),
          number
        )
      }
      return words.sorted { ($0.0, $0.1) < ($1.0, $1.1) }.map(\.2)
    }
  }
}
