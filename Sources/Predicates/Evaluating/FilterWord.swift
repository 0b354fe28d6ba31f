import Foundation

/// Values of fixed width as signed 64-bit integers that order as the values do, so that every range is two comparisons.
enum FilterWord {
  /// NaN's word: after infinity's, and before nothing.
  static let nan = Int64.max

  /// Returns the word of a Double: its bits, with the bits below the sign inverted if it is negative. −0.0 has the word
  /// of 0.0.
  @inline(__always)
  static func word(_ value: Double) -> Int64 {
    if value.isNaN { return nan }
    let bits = Int64(bitPattern: (value == 0 ? 0.0 : value).bitPattern)
    return bits ^ (bits >> 63 & .max)
  }

  /// Returns the Double of a word: 0.0 for either zero, and always the same NaN.
  @inline(__always)
  static func double(_ word: Int64) -> Double {
    word == nan ? .nan : Double(bitPattern: UInt64(bitPattern: word ^ (word >> 63 & .max)))
  }

  /// Returns the unsigned integer of a word.
  @inline(__always)
  static func unsigned(_ word: Int64) -> UInt64 { UInt64(bitPattern: word) ^ 1 << 63 }

  /// Returns the word of an unsigned integer.
  @inline(__always)
  static func word(_ value: UInt64) -> Int64 { Int64(bitPattern: value ^ 1 << 63) }

  /// Returns the word of a field's value in a record; the value isn't nil. A value without a word, such as a string,
  /// gives 0: it is only tested against the range of all words.
  @inline(__always)
  static func word(of field: RowField, in record: UnsafeRawBufferPointer) -> Int64 {
    switch field.kind {
    case .bool: field.load(UInt8.self, from: record) != 0 ? 1 : 0
    case .int8: Int64(field.load(Int8.self, from: record))
    case .int16: Int64(field.load(Int16.self, from: record))
    case .int32: Int64(field.load(Int32.self, from: record))
    case .int64: field.load(Int64.self, from: record)
    case .uint8: Int64(field.load(UInt8.self, from: record))
    case .uint16: Int64(field.load(UInt16.self, from: record))
    case .uint32: Int64(field.load(UInt32.self, from: record))
    case .uint64, .reference: word(field.load(UInt64.self, from: record))
    case .float: word(Double(Float(bitPattern: field.load(UInt32.self, from: record))))
    case .double, .date: word(Double(bitPattern: field.load(UInt64.self, from: record)))
    case .uuid, .string, .data, .coded, .place, .externalString, .externalData, .decimal: 0
    }
  }

  /// Returns the word of a literal for an attribute of a kind. Nil for values without a word.
  static func word(of literal: AttributeValue, as kind: AttributeKind) -> Int64? {
    switch literal {
    case .bool(let value): value ? 1 : 0
    case .int(let value): kind == .uint64 ? word(UInt64(max(0, value))) : value
    case .uint(let value): word(value)
    case .reference(let value): word(value.rawValue)
    case .double(let value): word(value)
    case .date(let value): word(value.timeIntervalSinceReferenceDate)
    case .null, .uuid, .string, .data, .decimal: nil
    }
  }

  /// Returns the value that a word of a kind stands for.
  static func value(_ word: Int64, _ kind: AttributeKind) -> AttributeValue {
    switch kind {
    case .bool: .bool(word != 0)
    case .uint64: .unsigned(unsigned(word))
    case .reference: .reference(ObjectNumber(rawValue: unsigned(word)))
    case .float, .double: .double(double(word))
    case .date: .date(Date(timeIntervalSinceReferenceDate: double(word)))
    default: .int(word)
    }
  }

  /// Returns the set's segments as pairs of a first and a last word, ascending; nil for kinds without words.
  static func ranges(of set: ValueSet) -> [ClosedRange<Int64>]? {
    var result: [ClosedRange<Int64>] = []
    for segment in set.segments where segment.upper != .afterNull {
      guard let first = first(from: segment.lower, set.kind), let last = last(to: segment.upper, set.kind)
      else {
        return nil
      }
      if first <= last { result.append(first...last) }
    }
    return result
  }

  private static func first(from cut: ValueCut, _ kind: AttributeKind) -> Int64? {
    switch cut {
    case .lowest, .afterNull: .min
    case .before(let value): word(of: value, as: kind)
    case .after(let value): word(of: value, as: kind).map { $0 == .max ? $0 : $0 + 1 }
    case .highest: .max
    }
  }

  private static func last(to cut: ValueCut, _ kind: AttributeKind) -> Int64? {
    switch cut {
    case .lowest: .min
    case .before(let value): word(of: value, as: kind).map { $0 == .min ? $0 : $0 - 1 }
    case .after(let value): word(of: value, as: kind)
    case .highest: .max
    }
  }
}
