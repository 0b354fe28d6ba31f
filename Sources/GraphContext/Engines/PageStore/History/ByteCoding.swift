import Predicates

/// Writes numbers and strings one after the other, as the tree `history` has them.
struct ByteWriter {
  private(set) var bytes: [UInt8] = []

  mutating func append(byte: UInt8) { bytes.append(byte) }

  /// Appends a number in LEB128: seven bits a byte, the lowest first, and the highest bit of every byte but the last.
  mutating func append(_ number: UInt64) {
    var rest = number
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  mutating func append(_ count: Int) { append(UInt64(count)) }

  /// Appends the eight bytes of a Double, the lowest first.
  mutating func append(_ number: Double) {
    withUnsafeBytes(of: number.bitPattern.littleEndian) { bytes.append(contentsOf: $0) }
  }

  /// Appends the number of the UTF-8 bytes plus one, then the bytes; 0 for nil.
  mutating func append(_ text: String?) {
    guard let text else { return append(byte: 0) }
    append(text.utf8.count + 1)
    bytes.append(contentsOf: text.utf8)
  }

  /// Appends ascending numbers of objects: each as its distance from the one before.
  mutating func append(_ number: ObjectNumber, after last: inout ObjectNumber) {
    append(number.rawValue &- last.rawValue)
    last = number
  }
}

/// Reads the format of ``ByteWriter``, from bytes that may be malformed. After a nil the reader must not be used
/// any more: its position is undefined. The reader of the same name in PageStore reads other fields, and its numbers
/// have at most 63 bits instead of 64.
struct ByteReader {
  private var rest: UnsafeRawBufferPointer.SubSequence

  init(_ bytes: UnsafeRawBufferPointer) { rest = bytes[...] }

  var isAtEnd: Bool { rest.isEmpty }

  mutating func byte() -> UInt8? { rest.popFirst() }

  mutating func number() -> UInt64? {
    var (number, shift) = (UInt64(0), UInt64(0))
    while let byte = rest.popFirst() {
      if shift == 63, byte > 1 { break }
      number |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return number }
      shift += 7
    }
    rest = rest.suffix(0)
    return nil
  }

  /// Reads the count of elements that have at least one byte each.
  mutating func count() -> Int? {
    guard let number = number(), number <= rest.count else { return nil }
    return Int(number)
  }

  mutating func double() -> Double? {
    guard rest.count >= 8 else { return nil }
    let bits = UnsafeRawBufferPointer(rebasing: rest.prefix(8)).loadUnaligned(as: UInt64.self)
    rest = rest.dropFirst(8)
    return Double(bitPattern: UInt64(littleEndian: bits))
  }

  /// Reads a string or nil; the outer nil is a failure.
  mutating func text() -> String?? {
    guard let number = number(), number <= rest.count + 1 else { return nil }
    if number == 0 { return .some(nil) }
    guard let text = String(validating: rest.prefix(Int(number) - 1), as: UTF8.self) else { return nil }
    rest = rest.dropFirst(Int(number) - 1)
    return text
  }

  mutating func objectNumber(after last: inout ObjectNumber) -> ObjectNumber? {
    guard let distance = number() else { return nil }
    let (sum, overflows) = last.rawValue.addingReportingOverflow(distance)
    let number = ObjectNumber(rawValue: sum)
    guard !overflows, number.isSound else { return nil }
    last = number
    return number
  }

  /// Reads a count, and as many elements.
  mutating func list<Element>(_ next: (inout ByteReader) -> Element?) -> [Element]? {
    guard let count = count() else { return nil }
    var list: [Element] = []
    for _ in 0..<count {
      guard let element = next(&self) else { return nil }
      list.append(element)
    }
    return list
  }
}
