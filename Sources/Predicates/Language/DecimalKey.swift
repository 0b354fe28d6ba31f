import Foundation

/// Bytes in the order of the Decimals that they stand for, for index keys and filters. All spellings of a number have
/// equal bytes.
///
/// | value | bytes |
/// |---|---|
/// | zero | `80 00` |
/// | above zero | `82 00` plus the position of the point, 2 bytes, big-endian; a byte for every two digits from the first one on, the number they make plus 1; `00` |
/// | below zero | the complement of each byte of its opposite's |
/// | NaN | `FF FF` |
///
/// The digits are those without zeros at either end, and one zero where their number is odd. The position of the point
/// is counted from the first digit on: 2 for 12.5, −1 for 0.0125.
package enum DecimalKey {
  private static let zero: UInt16 = 0x8000
  private static let one: UInt16 = 0x8200
  private static let nan: UInt16 = 0xFFFF
  private static let terminator: UInt8 = 0
  /// The point of 10^-128 stands at −127; that of the greatest number, which has 39 digits, at 166.
  private static let points = -127...166
  /// The position of the point, 39 digits, the terminator.
  static let largestByteCount = 23

  /// Calls `body` with the bytes for the value.
  package static func withBytes<R>(
    of value: Decimal,
    _ body: (UnsafeRawBufferPointer) throws -> R
  ) rethrows -> R {
    try withUnsafeTemporaryAllocation(byteCount: largestByteCount, alignment: 1) { buffer in
      let count = write(DecimalParts(value)?.canonical, to: buffer)
      return try body(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
    }
  }

  /// Writes the bytes of a number in canonical form, or of NaN for nil, and returns their number.
  private static func write(_ parts: DecimalParts?, to buffer: UnsafeMutableRawBufferPointer) -> Int {
    guard let parts else { return write(nan, to: buffer) }
    if parts.mantissa == 0 { return write(zero, to: buffer) }
    let pairCount = write(digitsOf: parts, to: UnsafeMutableRawBufferPointer(rebasing: buffer[2...]))
    buffer[2 + pairCount] = terminator
    let count = write(UInt16(Int(one) + parts.pointPosition), to: buffer) + pairCount + 1
    if parts.isNegative { for place in 0..<count { buffer[place] = ~buffer[place] } }
    return count
  }

  private static func write(_ word: UInt16, to buffer: UnsafeMutableRawBufferPointer) -> Int {
    buffer.storeBytes(of: word.bigEndian, as: UInt16.self)
    return 2
  }

  /// Writes the pairs of digits, the last one first, and returns their number.
  private static func write(digitsOf parts: DecimalParts, to buffer: UnsafeMutableRawBufferPointer) -> Int {
    let digitCount = parts.digitCount
    let pairCount = (digitCount + 1) / 2
    var (rest, place) = (parts.mantissa, pairCount - 1)
    func put(_ pair: Int) {
      buffer[place] = UInt8(pair + 1)
      place -= 1
    }
    if digitCount % 2 == 1 {
      put(Int(rest % 10) * 10)
      rest /= 10
    }
    while rest > UInt64.max {
      put(Int(rest % 100))
      rest /= 100
    }
    var short = UInt64(rest)
    while place >= 0 {
      put(Int(short % 100))
      short /= 100
    }
    return pairCount
  }
}

// MARK: - Reading

extension DecimalKey {
  /// Reads the value at the start of the bytes, and returns it with the number of its bytes. Nil for bytes that
  /// ``withBytes(of:_:)`` doesn't write.
  package static func read(_ bytes: UnsafeRawBufferPointer) -> (value: Decimal, byteCount: Int)? {
    guard bytes.count >= 2 else { return nil }
    let word = UInt16(bigEndian: bytes.loadUnaligned(as: UInt16.self))
    if word == nan { return (.nan, 2) }
    if word == zero { return (0, 2) }
    let isNegative = word < zero
    let point = Int(isNegative ? ~word : word) - Int(one)
    guard points.contains(point),
      let (mantissa, digitCount, byteCount) = digits(bytes.dropFirst(2), isNegative),
      let value = DecimalParts(isNegative: isNegative, mantissa: mantissa, exponent: point - digitCount)
        .decimal
    else { return nil }
    return (value, 2 + byteCount)
  }

  /// Returns the digits up to the terminator, without the zero that may fill up the last pair.
  private static func digits(
    _ bytes: Slice<UnsafeRawBufferPointer>,
    _ isNegative: Bool
  ) -> (mantissa: UInt128, digitCount: Int, byteCount: Int)? {
    let pairs = bytes.lazy.map { isNegative ? ~$0 : $0 }.prefix { $0 != terminator }.prefix(20).map {
      Int($0) - 1
    }
    guard let first = pairs.first, first >= 10, let last = pairs.last, last > 0, pairs.count < bytes.count,
      bytes[bytes.startIndex + pairs.count] == (isNegative ? ~terminator : terminator)
    else { return nil }
    var mantissa: UInt128 = 0
    func append(_ value: Int, _ power: UInt128) -> Bool {
      let (scaled, overflow) = mantissa.multipliedReportingOverflow(by: power)
      let (sum, carry) = scaled.addingReportingOverflow(UInt128(value))
      mantissa = sum
      return value < power && !overflow && !carry
    }
    guard pairs.dropLast().allSatisfy({ append($0, 100) }) else { return nil }
    let isOdd = last % 10 == 0
    guard isOdd ? append(last / 10, 10) : append(last, 100) else { return nil }
    return (mantissa, 2 * pairs.count - (isOdd ? 1 : 0), pairs.count + 1)
  }
}
