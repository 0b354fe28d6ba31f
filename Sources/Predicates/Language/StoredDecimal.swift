import Foundation

/// A Decimal in a record: 18 bytes that keep its mantissa and its exponent.
///
/// | bytes | content |
/// |---|---|
/// | 0 | 0 for zero and above, 1 below zero, 2 for NaN |
/// | 1 | the exponent of ten, two's complement |
/// | 2–17 | the mantissa, little-endian |
///
/// Below zero the mantissa isn't 0; for NaN everything else is.
package enum StoredDecimal {
  static let byteCount = 18
  private static let exponent = 1
  private static let mantissa = 2

  private enum Sign {
    static let plus: UInt8 = 0
    static let minus: UInt8 = 1
    static let nan: UInt8 = 2
  }

  /// Calls `body` with the bytes of a value.
  package static func withBytes<R>(
    of value: Decimal,
    _ body: (UnsafeRawBufferPointer) throws -> R
  ) rethrows -> R {
    try withUnsafeTemporaryAllocation(byteCount: byteCount, alignment: 1) { buffer in
      let parts = DecimalParts(value)
      buffer[0] = parts.map { $0.isNegative ? Sign.minus : Sign.plus } ?? Sign.nan
      buffer[exponent] = UInt8(truncatingIfNeeded: parts?.exponent ?? 0)
      buffer.storeBytes(of: (parts?.mantissa ?? 0).littleEndian, toByteOffset: mantissa, as: UInt128.self)
      return try body(UnsafeRawBufferPointer(buffer))
    }
  }

  /// Reads the value that the bytes stand for. Nil when they stand for none.
  static func read(_ bytes: UnsafeRawBufferPointer) -> Decimal? {
    guard bytes.count == byteCount else { return nil }
    let parts = DecimalParts(
      isNegative: bytes[0] == Sign.minus,
      mantissa: UInt128(littleEndian: bytes.loadUnaligned(fromByteOffset: mantissa, as: UInt128.self)),
      exponent: Int(bytes.load(fromByteOffset: exponent, as: Int8.self))
    )
    switch bytes[0] {
    case Sign.plus: return parts.decimal
    case Sign.minus: return parts.isNegative ? parts.decimal : nil
    case Sign.nan: return parts.mantissa == 0 && parts.exponent == 0 ? .nan : nil
    default: return nil
    }
  }
}
