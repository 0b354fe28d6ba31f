import Foundation

/// A position between the values of an attribute, in the order of ``ValueComparison/sortOrder(_:_:)``, at which
/// a range begins or ends.
package enum ValueCut: Sendable, Hashable {
  /// Before nil, the first value of all.
  case lowest
  case before(AttributeValue)
  case after(AttributeValue)
  /// After NaN, the last value of all.
  case highest

  /// Between nil and the first value.
  package static let afterNull = ValueCut.after(.null)
}

extension ValueCut: Comparable {
  package static func < (left: ValueCut, right: ValueCut) -> Bool { compare(left, right) < 0 }

  private static func compare(_ left: ValueCut, _ right: ValueCut) -> Int {
    switch (left, right) {
    case (.lowest, .lowest), (.highest, .highest): 0
    case (.lowest, _), (_, .highest): -1
    case (_, .lowest), (.highest, _): 1
    case (.before(let a), .before(let b)), (.after(let a), .after(let b)): ValueComparison.sortOrder(a, b)
    case (.before(let a), .after(let b)): ValueComparison.sortOrder(a, b) <= 0 ? -1 : 1
    case (.after(let a), .before(let b)): ValueComparison.sortOrder(a, b) >= 0 ? 1 : -1
    }
  }
}

extension ValueCut {
  /// Returns the unique spelling of this position for an attribute of a kind, so that equal sets have equal
  /// cuts.
  ///
  /// In a kind whose values have successors, `after(5)` is `before(6)`; the end of a kind's values is spelled
  /// `before(nan)` where there are NaNs and `highest` where there are none.
  func canonical(for kind: AttributeKind) -> ValueCut {
    switch self {
    case .lowest, .highest, .afterNull: self
    case .before(.null): .lowest
    case .before(let value):
      if value.isNaN {
        self
      } else if kind.isAtOrBelowFirst(value) {
        .afterNull
      } else {
        clipped(value, kind)
      }
    case .after(let value):
      if value.isNaN {
        .highest
      } else if kind.isAtOrAboveLast(value) {
        kind.comparableEnd
      } else {
        kind.successor(of: value).map(ValueCut.before)?.canonical(for: kind) ?? self
      }
    }
  }

  /// Returns the cut within the kind. A cut before a value that is above all that the kind can hold is the end of the
  /// kind.
  private func clipped(_ value: AttributeValue, _ kind: AttributeKind) -> ValueCut {
    guard let last = kind.lastInteger else { return self }
    return ValueComparison.sortOrder(value, last) > 0 ? kind.comparableEnd : self
  }
}

extension AttributeKind {
  /// The cut at the end of the kind's comparable values.
  var comparableEnd: ValueCut {
    switch self {
    case .float, .double: .before(.double(.nan))
    case .decimal: .before(.decimal(.nan))
    case .date: .before(.date(Date(timeIntervalSinceReferenceDate: .nan)))
    default: .highest
    }
  }

  /// The least integer (or Bool) of the kind; nil for the other kinds. The greatest is `lastInteger`.
  private var firstInteger: AttributeValue? {
    switch self {
    case .bool: .bool(false)
    case .int8: .int(Int64(Int8.min))
    case .int16: .int(Int64(Int16.min))
    case .int32: .int(Int64(Int32.min))
    case .int64: .int(.min)
    case .uint8, .uint16, .uint32, .uint64: .int(0)
    case .reference: .reference(.none)
    case .float, .double, .decimal, .date, .uuid, .string, .data, .coded, .place, .externalString,
      .externalData:
      nil
    }
  }

  fileprivate var lastInteger: AttributeValue? {
    switch self {
    case .bool: .bool(true)
    case .int8: .int(Int64(Int8.max))
    case .int16: .int(Int64(Int16.max))
    case .int32: .int(Int64(Int32.max))
    case .int64: .int(.max)
    case .uint8: .int(Int64(UInt8.max))
    case .uint16: .int(Int64(UInt16.max))
    case .uint32: .int(Int64(UInt32.max))
    case .uint64: .uint(.max)
    case .reference: .reference(ObjectNumber(rawValue: .max))
    case .float, .double, .decimal, .date, .uuid, .string, .data, .coded, .place, .externalString,
      .externalData:
      nil
    }
  }

  func isAtOrBelowFirst(_ value: AttributeValue) -> Bool {
    switch value {
    case .double(let value): value == -.infinity
    case .date(let value): value.timeIntervalSinceReferenceDate == -.infinity
    case .string(let value): value.utf8.isEmpty
    case .data(let value): value.isEmpty
    default: firstInteger.map { ValueComparison.sortOrder(value, $0) <= 0 } ?? false
    }
  }

  func isAtOrAboveLast(_ value: AttributeValue) -> Bool {
    switch value {
    case .double(let value): value == .infinity
    case .date(let value): value.timeIntervalSinceReferenceDate == .infinity
    default: lastInteger.map { ValueComparison.sortOrder(value, $0) >= 0 } ?? false
    }
  }

  /// Returns the next value, for kinds that have one. `value` is not the last.
  ///
  /// References have no successor: no query asks for a range of them, and separate points needn't be joined.
  func successor(of value: AttributeValue) -> AttributeValue? {
    switch value {
    case .bool: .bool(true)
    case .int(let value): value == .max ? .uint(1 << 63) : .int(value + 1)
    case .uint(let value): .uint(value + 1)
    case .null, .double, .decimal, .date, .uuid, .string, .data, .reference: nil
    }
  }

  /// Returns the value before, for kinds that have one.
  func predecessor(of value: AttributeValue) -> AttributeValue? {
    switch value {
    case .bool: .bool(false)
    case .int(let value): value == .min ? nil : .int(value - 1)
    case .uint(let value): .unsigned(value - 1)
    case .null, .double, .decimal, .date, .uuid, .string, .data, .reference: nil
    }
  }
}
