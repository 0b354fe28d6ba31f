import Foundation
import Predicates

/// A part of an embedded value of a tracer object, and the value that it is recognised by at the end of a key path.
///
/// A key path reads the whole value, and then takes a part of it, which the tracer can't see. So each part has a value
/// of its own in every round. For types with few values, each part has a different sequence of values.
struct TracedPart {
  /// The number of rounds: enough to give each of 64 parts a different sequence of two values, none of which consists
  /// of one value only.
  static let roundCount = 7

  /// The part's name without the name of the property. Empty for the value itself.
  let name: String
  /// True if the struct declares the part as optional.
  var isOptional = false
  /// The test of the value at the end of the key path: true if the key path leads to this part.
  private let isMark: (Any) -> Bool

  init<Value: AttributeType>(_ name: String, _ value: Value) {
    self.name = name
    let mark = value._attributeValue
    isMark = { end in (end as? Value._Present)?._attributeValue == mark }
  }

  /// Returns the part that stands for the value itself.
  static func whole<Value>(_ value: Value) -> TracedPart {
    TracedPart(name: "") { end in type(of: end) == Value.self }
  }

  private init(name: String, isMark: @escaping (Any) -> Bool) {
    self.name = name
    self.isMark = isMark
  }

  func isEnd(_ end: Any) -> Bool { isMark(end) }

  /// Returns the value of a part in a round.
  static func mark<Value: AttributeType>(_ part: Int, _ round: Int) -> Value {
    let isFirst = (part + 1) >> round & 1 == 0
    if let value = Value(_attributeValue: mark(of: Value._attributeKind, part: part, isFirst)) {
      return value
    }
    if let value: Value = address(part, isFirst) { return value }
    if let cases = (Value._Present.self as? any CaseIterable.Type)?.twoCases(of: Value.self) {
      return isFirst ? cases.0 : cases.1
    }
    return .anyValue
  }

  /// Returns a value of a type that is stored as a text and takes addresses alone, such as `URL`. The value isn't in
  /// standard form, so that its standard form is another value.
  static func address<Value: AttributeType>(_ part: Int, _ isFirst: Bool) -> Value? {
    guard Value._attributeKind == .string || Value._attributeKind == .externalString else { return nil }
    // A value of a file, if the type takes it: only such a value differs from its standard form as a file.
    let file: Value? = isFirst ? nil : Value(_attributeValue: .string("file:///b/./\(part)"))
    return file ?? Value(_attributeValue: .string("http://\(isFirst ? "a" : "b")@example.org/./\(part)"))
  }

  /// Returns the cases of a type, or of the type that it is an optional of, 64 at most; none for a type without cases.
  static func cases<Value: AttributeType>(of type: Value.Type) -> [Value] {
    (Value._Present.self as? any CaseIterable.Type)?.firstCases(64, as: Value.self) ?? []
  }

  /// Returns a value of a kind that functions rarely leave unchanged. Numbers are small, so that getters don't
  /// overflow.
  ///
  /// - Parameter part: nil for an attribute that is no part of an embedded value.
  static func mark(of kind: AttributeKind, part: Int? = nil, _ isFirst: Bool) -> AttributeValue {
    let number = part.map { isFirst ? 40 + $0 : -41 - $0 } ?? (isFirst ? 90 : -91)
    let place = part ?? 0
    return switch kind {
    case .bool: .bool(isFirst)
    case .int8, .int16, .int32, .int64: .int(Int64(number))
    case .uint8, .uint16, .uint32, .uint64, .reference: .int(Int64(isFirst ? 90 + place : 170 + place))
    case .float, .double: .double(Double(number) + 0.25)
    case .decimal: .decimal(Decimal(number) + 0.25)
    case .date: .date(Date(timeIntervalSinceReferenceDate: Double(number) + 0.25))
    case .uuid:
      .uuid(UUID(uuid: (90, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, UInt8(place), isFirst ? 15 : 16)))
    case .string, .externalString:
      .string((isFirst ? " aZ\u{E9}9 " : "\u{C9}z A\t") + (part?.description ?? ""))
    case .data, .externalData, .place: .data(Data(isFirst ? [90, 0, UInt8(place)] : [165, UInt8(place)]))
    // No type decodes this, so that the value is the type's placeholder.
    case .coded: .bool(isFirst)
    }
  }
}

extension CaseIterable {
  /// Returns the first and the second case as values of a type, which is this one or an optional of it.
  fileprivate static func twoCases<Value>(of type: Value.Type) -> (Value, Value)? {
    let cases = firstCases(2, as: type)
    return cases.count == 2 ? (cases[0], cases[1]) : nil
  }

  /// Returns the first cases as values of a type, which is this one or an optional of it.
  fileprivate static func firstCases<Value>(_ count: Int, as type: Value.Type) -> [Value] {
    allCases.prefix(count).compactMap { $0 as? Value }
  }
}
