import Foundation

/// A type whose values an attribute stores encoded, as JSON.
///
/// ```swift
/// struct Opening: CodableAttribute {
///   var days: Set<Int>
///   var hours: [ClosedRange<Int>]
/// }
///
/// @Model final class Shop {
///   var name: String
///   var opening: Opening?
///   …
/// }
/// ```
///
/// The type is a value type: its content doesn't change without the object's setter. Queries can ask whether such
/// an attribute is nil, and select it; they don't compare, sort or group it, and no index is of it. For a type that
/// queries should compare, declare a raw value instead: see ``AttributeType``.
///
/// Dates keep all their digits, and numbers that are infinite or not a number are strings in the JSON. A save
/// refuses a value that can't be encoded. A stored value that the type can't decode reads as nil, or as
/// ``AttributeType/tracerValue`` where nil is none, and makes its object's next fetch or save throw `corrupt`: so a
/// type that gets another property later decodes values without it.
///
/// A getter decodes the value once, and a save encodes what was set. Both take time and memory in proportion to the
/// value.
public protocol CodableAttribute: AttributeType, Codable {}

extension CodableAttribute {
  public static var _attributeKind: AttributeKind { .coded }

  /// The JSON; empty data for a value that can't be encoded, which attributes of the kind refuse.
  public var _attributeValue: AttributeValue {
    guard let json = try? CodedValue.encoder.encode(self) else { return .data(Data()) }
    return .string(String(decoding: json, as: UTF8.self))
  }

  public init?(_attributeValue stored: AttributeValue) {
    guard case .string(let text) = stored,
      let value = try? CodedValue.decoder.decode(Self.self, from: Data(text.utf8))
    else { return nil }
    self = value
  }

  public init?(_record record: borrowing RecordView, slot: Int) {
    guard record.field(slot).kind == .coded, !record.isNull(slot),
      let value = try? CodedValue.decoder.decode(Self.self, from: Data(record.variable(slot)))
    else { return nil }
    self = value
  }

  /// The value that a decoder makes of zeros, empty strings, empty lists and nil; nil if the type refuses those,
  /// for example an enum whose cases have payloads on the heap. Such a type must declare a value itself.
  public static var tracerValue: Self? { try? PlaceholderDecoder().value(Self.self) }
}

extension CodableAttribute where Self: CaseIterable {
  /// The first case; nil for a type without cases.
  public static var tracerValue: Self? { allCases.first }
}

/// The encoder and decoder of attributes.
private enum CodedValue {
  /// Sorted keys, so that equal values mostly have equal bytes: setting a value to an equal one is then no change.
  static let encoder: JSONEncoder = {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "Infinity",
      negativeInfinity: "-Infinity",
      nan: "NaN"
    )
    return encoder
  }()

  static let decoder: JSONDecoder = {
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: "Infinity",
      negativeInfinity: "-Infinity",
      nan: "NaN"
    )
    return decoder
  }()
}
