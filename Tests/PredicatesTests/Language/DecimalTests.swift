import Foundation
import TestSupport
import Testing

@testable import Predicates

/// Decimals as the engine sees them, against Foundation's own.
struct DecimalTests {
  private func bytes(_ value: Decimal) -> [UInt8] { DecimalKey.withBytes(of: value) { Array($0) } }

  private func stored(_ value: Decimal) -> [UInt8] { StoredDecimal.withBytes(of: value) { Array($0) } }

  private func parts(_ text: String) throws -> DecimalParts {
    try #require(DecimalDigits(text)?.nearestDecimal.flatMap { DecimalParts($0) })
  }

  /// Foundation's order, with NaN at the end.
  private func order(_ a: Decimal, _ b: Decimal) -> Int {
    if a.isNaN || b.isNaN { return (a.isNaN ? 1 : 0) - (b.isNaN ? 1 : 0) }
    return a < b ? -1 : a == b ? 0 : 1
  }

  @Test func memoryAndTextSayTheSame() throws {
    #expect(DecimalParts.isMemoryKnown, "the slow way is taken")
    var random = SeededGenerator()
    for _ in 0..<4_000 {
      let value = random.decimal()
      guard !value.isNaN else { continue }
      let (byMemory, byText) = (DecimalParts(memoryOf: value), try #require(DecimalParts(textOf: value)))
      #expect(byMemory.canonical == byText.canonical, "\(value)")
      #expect(byMemory.decimalByMemory == value && byMemory.decimalByText == value, "\(value)")
      #expect(byMemory.canonical.decimal == value, "\(value)")
    }
  }

  @Test func keysAndComparisonsOrderAsFoundationDoes() {
    var random = SeededGenerator()
    for _ in 0..<6_000 {
      let (a, b) = (random.decimal(), random.decimal())
      let expected = order(a, b)
      let (left, right) = (bytes(a), bytes(b))
      let byKey = left.lexicographicallyPrecedes(right) ? -1 : left == right ? 0 : 1
      #expect(byKey == expected, "\(a) against \(b)")
      #expect(ValueComparison.sortOrder(.decimal(a), .decimal(b)) == expected, "\(a) against \(b)")
      #expect((AttributeValue.decimal(a) == .decimal(b)) == (expected == 0))
      if expected == 0 { #expect(AttributeValue.decimal(a).hashValue == AttributeValue.decimal(b).hashValue) }
    }
  }

  @Test func everySpellingOfANumberHasOneKeyAndOneHash() throws {
    let spellings = [("15", -1), ("150", -2), ("1500000000000000000000000000000000000", -36)]
    let values = try spellings.map { mantissa, exponent in
      let mantissa = try #require(UInt128(mantissa))
      return try #require(DecimalParts(isNegative: true, mantissa: mantissa, exponent: exponent).decimal)
    }
    for value in values {
      #expect(bytes(value) == bytes(-1.5))
      #expect(AttributeValue.decimal(value) == .decimal(-1.5))
      #expect(AttributeValue.decimal(value).hashValue == AttributeValue.decimal(-1.5).hashValue)
    }
    #expect(Set(values.map(stored)).count == 3, "a record keeps the spelling")
    for value in values {
      #expect(stored(value).withUnsafeBytes(StoredDecimal.read).map(stored) == stored(value))
    }
  }

  @Test func aKeyIsReadBack() {
    var random = SeededGenerator()
    for _ in 0..<4_000 {
      let value = random.decimal()
      let key = bytes(value)
      let read = (key + [7]).withUnsafeBytes { DecimalKey.read($0) }
      #expect(read?.byteCount == key.count && read.map { order($0.value, value) } == 0, "\(value)")
      for count in 0..<key.count { #expect(key.prefix(count).withUnsafeBytes { DecimalKey.read($0) } == nil) }
    }
  }

  @Test func aRecordKeepsTheValue() {
    var random = SeededGenerator()
    for _ in 0..<4_000 {
      let value = random.decimal()
      #expect(stored(value).withUnsafeBytes(StoredDecimal.read).map { order($0, value) } == 0, "\(value)")
    }
  }

  @Test func bytesOfAnyKindAreReadWithoutATrap() {
    var random = SeededGenerator()
    var (accepted, keys) = (0, 0)
    for _ in 0..<20_000 {
      var record = random.bytes(StoredDecimal.byteCount)
      if random.chance(2, in: 3) { record[0] &= 3 }
      if let value = record.withUnsafeBytes(StoredDecimal.read) {
        accepted += 1
        #expect(stored(value) == record)
      }
      let start: [UInt8] = random.pick([
        [], [0x82], [0x82, UInt8(random.number(in: 0...40))], [0x7D], [0xFF, 0xFF],
      ])
      let key =
        start + random.bytes(random.number(in: 0...24)).map { random.chance(1, in: 2) ? $0 % 101 : $0 }
      if let (value, byteCount) = key.withUnsafeBytes({ DecimalKey.read($0) }) {
        keys += 1
        #expect(bytes(value) == Array(key.prefix(byteCount)), "\(key)")
      }
    }
    #expect(accepted > 1_000 && keys > 100)
  }

  @Test func aDecimalAndADoubleCompareExactly() throws {
    // The Double 0.1 is above a tenth, 0.3 is below three tenths.
    #expect(DecimalParts.order(try parts("0.1"), 0.1) == -1)
    #expect(DecimalParts.order(try parts("0.3"), 0.3) == 1)
    #expect(DecimalParts.order(try parts("-0.1"), -0.1) == 1)
    #expect(DecimalParts.order(try parts("0.1000000000000000055511151231257827021"), 0.1) == -1)
    #expect(DecimalParts.order(try parts("0.1000000000000000055511151231257827022"), 0.1) == 1)
    #expect(DecimalParts.order(try parts("9007199254740993"), 0x1p53) == 1)
    #expect(DecimalParts.order(try parts("0"), -0.0) == 0)
    #expect(DecimalParts.order(try parts("1e-127"), .leastNonzeroMagnitude) == 1)
    #expect(DecimalParts.order(try parts("-1e-127"), -.leastNormalMagnitude) == -1)
    #expect(DecimalParts.order(try parts("1e165"), .greatestFiniteMagnitude) == -1)
    #expect(DecimalParts.order(try parts("1e165"), -.infinity) == 1)
    #expect(DecimalParts.order(try parts("1"), .nan) == nil)
    var random = SeededGenerator()
    for _ in 0..<5_000 {
      // A Double that Foundation's Decimals hold exactly, and its neighbours.
      let eighths = random.number(in: -(1 << 40)...(1 << 40))
      let decimal = Decimal(eighths) / 1024
      let double = Double(eighths) / 1024
      let parts = try #require(DecimalParts(decimal))
      #expect(DecimalParts.order(parts, double) == 0)
      #expect(
        DecimalParts.order(parts, double.nextUp) == -1 && DecimalParts.order(parts, double.nextDown) == 1
      )
      let above = try #require(DecimalParts(decimal + Decimal(sign: .plus, exponent: -20, significand: 1)))
      #expect(DecimalParts.order(above, double) == 1)
    }
  }

  @Test(arguments: [
    ("0.1", "0.1"), ("1.50", "1.5"), ("-0", "0"), ("1e100", "1" + String(repeating: "0", count: 100)),
    ("340282366920938463463374607431768211455", "340282366920938463463374607431768211455"),
    ("340282366920938463463374607431768211456", "340282366920938463463374607431768211460"),
    ("0.12345678901234567890123456789012345678949", "0.123456789012345678901234567890123456789"),
    ("1000000000000000000000000000000000000005e-1", "100000000000000000000000000000000000000"),
    ("1000000000000000000000000000000000000015e-1", "100000000000000000000000000000000000002"),
    ("10000000000000000000000000000000000000051e-2", "100000000000000000000000000000000000001"),
    ("1e-200", "0"), ("3e-129", "0"), ("7e-129", "1e-128"), ("-26e-129", "-3e-128"),
  ])
  func textIsRoundedToTheNearestDecimal(_ text: String, _ expected: String) throws {
    let value = try #require(DecimalDigits(text)?.nearestDecimal)
    let digits = try #require(DecimalDigits(expected))
    let number = try #require(DecimalParts(value)).canonical
    #expect(UInt128("0" + digits.digits) == number.mantissa, "\(value)")
    #expect(number.isNegative == digits.isNegative)
    if number.mantissa != 0 { #expect(number.pointPosition == digits.exponent) }
  }

  @Test func textBeyondTheGreatestIsNoDecimal() throws {
    #expect(try #require(DecimalDigits("1e166")).nearestDecimal == nil)
    #expect(
      try #require(DecimalDigits("-3402823669209384634633746074317682114555e126")).nearestDecimal == nil
    )
    let greatest = "340282366920938463463374607431768211455e127"
    #expect(try #require(DecimalDigits(greatest)).nearestDecimal == .greatestFiniteMagnitude)
    #expect(try #require(DecimalDigits("-\(greatest)")).nearestDecimal == .leastFiniteMagnitude)
  }
}
