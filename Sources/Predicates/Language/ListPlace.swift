import Foundation

/// The position of an object in an ordered relationship: the object with the least place is the first.
///
/// A place is a whole number and a fraction, encoded as bytes with the same order. So there is room before the
/// first place, after the last one and between any two, and an object can get another place without changes of the
/// others. By default an object has the place of its number, so objects are in the order of their insertion until
/// the program changes the order.
///
/// | bytes | meaning |
/// |---|---|
/// | `20` | the whole number 0 |
/// | `20` + *n*, then *n* bytes | a whole number above 0: its significant bytes, the highest first |
/// | `20` − *n*, then *n* bytes | one below 0: the low bytes of its two's complement, as many as its complement needs, but 1 at the least |
/// | the rest | the fraction, the highest digit first; its last byte is not `00` |
public struct ListPlace: Sendable, Hashable {
  package let bytes: [UInt8]

  private static let zeroMarker: UInt8 = 0x20
  /// The greatest length of a place: where a place would be longer, objects around it get shorter places.
  package static let greatestByteCount = 16
  /// The greatest length of those shorter places, so that there is room for more between them.
  package static let spreadByteCount = 12

  /// Makes the default place of an object.
  package init(of number: ObjectNumber) {
    // Without the class: objects of several classes are in the order of their insertion, too.
    self.init(Int64(number.sequence))
  }

  package init(_ whole: Int64, fraction: [UInt8] = []) {
    // The complement of −1 is 0, which needs no bytes; one is kept, so that the marker differs from zero's.
    let bits = UInt64(bitPattern: whole)
    let count = whole >= 0 ? Self.significantBytes(bits) : max(1, Self.significantBytes(~bits))
    let marker = whole >= 0 ? Self.zeroMarker + UInt8(count) : Self.zeroMarker - UInt8(count)
    bytes = [marker] + withUnsafeBytes(of: bits.bigEndian) { $0.suffix(count) } + fraction
  }

  /// Makes a place of its bytes; nil for bytes that are no place.
  package init?(_ bytes: [UInt8]) {
    self.bytes = bytes
    guard let parts, ListPlace(parts.whole, fraction: parts.fraction).bytes == bytes else { return nil }
  }

  private static func significantBytes(_ value: UInt64) -> Int { (64 - value.leadingZeroBitCount + 7) / 8 }

  /// The whole number and the fraction; nil where the bytes are no place.
  private var parts: (whole: Int64, fraction: [UInt8])? {
    guard let marker = bytes.first, bytes.count <= Self.greatestByteCount else { return nil }
    let distance = Int(marker) - Int(Self.zeroMarker)
    let count = abs(distance)
    guard count <= 8, bytes.count > count else { return nil }
    let bits = bytes.dropFirst().prefix(count).reduce(distance < 0 ? .max : 0 as UInt64) {
      $0 << 8 | UInt64($1)
    }
    let whole = Int64(bitPattern: bits)
    let fraction = Array(bytes.dropFirst(count + 1))
    guard (whole < 0) == (distance < 0), fraction.last != 0 else { return nil }
    return (whole, fraction)
  }
}

extension ListPlace: Comparable {
  public static func < (left: ListPlace, right: ListPlace) -> Bool {
    left.bytes.lexicographicallyPrecedes(right.bytes)
  }
}

// MARK: - Places between others

extension ListPlace {
  /// Returns places between two others, ascending; nil if there are none, or one would have more bytes than `limit`.
  ///
  /// - Parameters:
  ///   - lower: nil for places before `upper`.
  ///   - upper: nil for places behind `lower`.
  package static func places(
    _ count: Int,
    after lower: ListPlace?,
    before upper: ListPlace?,
    limit: Int
  ) -> [ListPlace]? {
    let places: [ListPlace]?
    switch (lower?.parts, upper?.parts) {
    case (nil, nil): places = whole(count, from: 1)
    case (let lower?, nil): places = whole(count, after: lower.whole)
    case (nil, let upper?):
      let (first, overflow) = upper.whole.subtractingReportingOverflow(Int64(count))
      places = overflow ? nil : whole(count, from: first)
    case (let lower?, let upper?): places = self.places(count, between: lower, upper)
    }
    return places?.allSatisfy { $0.bytes.count <= limit } ?? false ? places : nil
  }

  private static func whole(_ count: Int, after last: Int64) -> [ListPlace]? {
    let (first, overflow) = last.addingReportingOverflow(1)
    return overflow ? nil : whole(count, from: first)
  }

  private static func whole(_ count: Int, from first: Int64) -> [ListPlace]? {
    guard !first.addingReportingOverflow(Int64(count)).overflow else { return nil }
    return (0..<Int64(count)).map { ListPlace(first + $0) }
  }

  private typealias Parts = (whole: Int64, fraction: [UInt8])

  /// Returns whole numbers at equal distances where there are enough, else the first ones in the middle, and the others
  /// in the middles of the halves.
  private static func places(_ count: Int, between lower: Parts, _ upper: Parts) -> [ListPlace]? {
    let (distance, overflow) = upper.whole.subtractingReportingOverflow(lower.whole)
    if !overflow, distance < 0 { return nil }
    if !overflow, distance > count {
      let step = distance / Int64(count + 1)
      return (1...Int64(count)).map { ListPlace(lower.whole + $0 * step) }
    }
    if overflow { return nil }
    return halved(count, between: lower, upper)
  }

  private static func halved(_ count: Int, between lower: Parts, _ upper: Parts) -> [ListPlace]? {
    if count == 0 { return [] }
    let end = lower.whole == upper.whole ? upper.fraction : nil
    guard let fraction = middle(of: lower.fraction, and: end) else { return nil }
    let place = (lower.whole, fraction)
    guard let before = halved((count - 1) / 2, between: lower, place),
      let behind = halved(count - 1 - (count - 1) / 2, between: place, upper)
    else { return nil }
    return before + [ListPlace(place.0, fraction: fraction)] + behind
  }

  /// Returns a fraction between two; nil if there is none.
  ///
  /// - Parameter upper: nil for 1.
  private static func middle(of lower: [UInt8], and upper: [UInt8]?) -> [UInt8]? {
    var (result, upper): ([UInt8], [UInt8]?) = ([], upper)
    for place in 0...max(lower.count, upper?.count ?? 0) + 1 {
      let digit = place < lower.count ? Int(lower[place]) : 0
      let end = upper.map { place < $0.count ? Int($0[place]) : 0 } ?? 256
      if end < digit { return nil }
      if end > digit + 1 { return result + [UInt8((digit + end) / 2)] }
      if end == digit + 1 { upper = nil }
      result.append(UInt8(digit))
    }
    return nil
  }
}

// MARK: - Values

extension ListPlace: AttributeType {
  public static var _attributeKind: AttributeKind { .place }
  /// The place of the number 1.
  public static var tracerValue: ListPlace? { ListPlace(1) }
  public var _attributeValue: AttributeValue { .data(Data(bytes)) }

  public init?(_attributeValue stored: AttributeValue) {
    guard case .data(let data) = stored else { return nil }
    self.init(Array(data))
  }
}

extension ListPlace: CustomStringConvertible {
  /// The whole number, and the fraction in hexadecimal digits: `5`, `5.80`.
  public var description: String {
    guard let parts else { return "none" }
    let digits = parts.fraction.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    return digits.isEmpty ? "\(parts.whole)" : "\(parts.whole).\(digits)"
  }
}
