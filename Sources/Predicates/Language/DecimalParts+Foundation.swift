import Foundation

extension DecimalParts {
  /// Makes the parts of a Decimal; nil for NaN. A number of Foundation's keeps its mantissa and exponent.
  package init?(_ value: Decimal) {
    if value.isNaN { return nil }
    if Self.isMemoryKnown {
      self.init(memoryOf: value)
    } else {
      self.init(textOf: value)
    }
  }

  /// The number as Foundation's type; nil where that has no room for it.
  package var decimal: Decimal? {
    guard let fitted else { return nil }
    return Self.isMemoryKnown ? fitted.decimalByMemory : fitted.decimalByText
  }
}

// MARK: - By memory

// The only public access to the mantissa in Foundation is text, which takes twenty microseconds for a long one. So the
// memory of a Decimal is read directly. Its layout is checked first; if it isn't as expected, the text is used.
// Nothing of this layout is ever stored.

extension DecimalParts {
  /// The layout of a Decimal in swift-foundation: 20 bytes.
  private enum Memory {
    static let byteCount = 20
    static let exponent = 0
    /// The mantissa's length in units of 16 bits, times 16, and the sign.
    static let lengthAndSign = 1
    static let signBit: UInt8 = 8
    static let mantissa = 4
  }

  /// True if Foundation's Decimals lie in memory as expected here.
  static let isMemoryKnown: Bool = {
    guard MemoryLayout<Decimal>.size == Memory.byteCount, _isPOD(Decimal.self) else { return false }
    let samples = ["-12345678901234567890123456789012345678e-3", "7e100", "-65537e-100", "0"]
    return samples.allSatisfy { sample in
      guard let decimal = Decimal(string: sample), let parts = DecimalParts(textOf: decimal) else {
        return false
      }
      return DecimalParts(memoryOf: decimal).canonical == parts.canonical && parts.decimalByMemory == decimal
    }
  }()

  init(memoryOf value: Decimal) {
    self = withUnsafeBytes(of: value) { bytes in
      let length = Int(bytes[Memory.lengthAndSign] >> 4)
      let words = UInt128(
        littleEndian: bytes.loadUnaligned(fromByteOffset: Memory.mantissa, as: UInt128.self)
      )
      let unused = max(0, UInt128.bitWidth - 16 * length)
      return DecimalParts(
        isNegative: bytes[Memory.lengthAndSign] & Memory.signBit != 0,
        mantissa: (words << UInt128(unused)) >> UInt128(unused),
        exponent: Int(bytes.load(fromByteOffset: Memory.exponent, as: Int8.self))
      )
    }
  }

  /// The Decimal, for numbers that are ``fitted``.
  var decimalByMemory: Decimal {
    withUnsafeTemporaryAllocation(byteCount: Memory.byteCount, alignment: 16) { bytes in
      bytes.initializeMemory(as: UInt8.self, repeating: 0)
      let length = (UInt128.bitWidth - mantissa.leadingZeroBitCount + 15) / 16
      bytes[Memory.exponent] = UInt8(bitPattern: Int8(exponent))
      bytes[Memory.lengthAndSign] = UInt8(length) << 4 | (isNegative ? Memory.signBit : 0)
      bytes.storeBytes(of: mantissa.littleEndian, toByteOffset: Memory.mantissa, as: UInt128.self)
      return bytes.loadUnaligned(as: Decimal.self)
    }
  }
}

// MARK: - By text

extension DecimalParts {
  /// Makes the parts of a Decimal; nil for NaN. Zeros at the mantissa's end are lost.
  init?(textOf value: Decimal) {
    guard let digits = DecimalDigits(value), let mantissa = UInt128("0" + digits.digits) else { return nil }
    self.init(
      isNegative: digits.isNegative,
      mantissa: mantissa,
      exponent: digits.exponent - digits.digits.utf8.count
    )
  }

  /// The Decimal, for numbers that are ``fitted``.
  var decimalByText: Decimal? {
    Decimal(string: "\(isNegative ? "-" : "")\(mantissa)e\(exponent)")
  }
}

// MARK: - Digits

extension DecimalDigits {
  /// Makes the digits of a number. Nil for NaN.
  init?(_ value: Decimal) { self.init(value.description) }

  /// The nearest Decimal, of two that are equally near the one whose last digit is even. Nil beyond the greatest.
  var nearestDecimal: Decimal? {
    // A mantissa has 39 digits at most, and not every number of 39 digits is one.
    for count in [39, 38] {
      let kept = min(digits.utf8.count, count, exponent - DecimalParts.exponents.lowerBound)
      if kept < 0 { return 0 }
      if let mantissa = rounded(to: kept) {
        return DecimalParts(isNegative: isNegative, mantissa: mantissa, exponent: exponent - kept).decimal
      }
    }
    return nil
  }

  /// Returns the first digits as an integer, rounded by the others; nil where 128 bits don't hold it.
  private func rounded(to count: Int) -> UInt128? {
    guard let floor = UInt128("0" + digits.prefix(count)) else { return nil }
    let rest = digits.utf8.dropFirst(count)
    guard let first = rest.first, first >= UInt8(ascii: "5") else { return floor }
    // The last of the digits isn't zero, so that one digit alone is exactly half.
    if first == UInt8(ascii: "5"), rest.count == 1, floor % 2 == 0 { return floor }
    let (raised, overflow) = floor.addingReportingOverflow(1)
    return overflow ? nil : raised
  }
}
