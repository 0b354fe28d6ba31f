import Foundation

/// Literals of types that have none of their own, written as NSPredicate prints them: `CAST(631152000.0,
/// "NSDate")`.
///
/// | text | value |
/// |---|---|
/// | `CAST(seconds, "Date")` | the instant so many seconds after 1 January 2001 UTC |
/// | `CAST("E621E1F8-…", "UUID")` | the UUID |
/// | `CAST("AAEC", "Data")` | the bytes, in Base64 |
/// | `CAST("1.10", "Decimal")`, `CAST(1.10, "Decimal")`, `"NaN"` | the nearest Decimal |
/// | `CAST("nan", "Double")`, `"inf"`, `"-inf"` | numbers that digits don't write |
/// | `CAST("Airport/42", "ObjectID")` | the object of an entity with that number |
///
/// The types may carry the prefix `NS`. Other casts are functions of a value: `CAST(month, "String")`, `CAST("5", "Number")`.
enum LiteralCast {
  static func text(of value: Double) -> String { "CAST(\"\(nonFiniteText(value))\", \"Double\")" }

  static func text(of value: Decimal) -> String { "CAST(\"\(value)\", \"Decimal\")" }

  static func text(of date: Date) -> String {
    let seconds = date.timeIntervalSinceReferenceDate
    return seconds.isFinite ? "CAST(\(seconds), \"Date\")" : "CAST(\"\(nonFiniteText(seconds))\", \"Date\")"
  }

  static func text(of uuid: UUID) -> String { "CAST(\"\(uuid.uuidString)\", \"UUID\")" }
  static func text(of data: Data) -> String { "CAST(\"\(data.base64EncodedString())\", \"Data\")" }
  static func text(of object: ObjectReference) -> String {
    "CAST(\("\(object.entity)/\(object.number)".formatLiteral), \"ObjectID\")"
  }
  static func text(ofReference number: ObjectNumber) -> String { "CAST(\"\(number)\", \"ObjectID\")" }

  /// Returns the literal as the named type; nil when it is none, or there is no such type.
  static func convert(_ literal: PredicateOperand.Content, to typeName: String) -> PredicateOperand.Content? {
    let type = typeName.hasPrefix("NS") ? String(typeName.dropFirst(2)) : typeName
    if type == "Decimal" { return decimal(literal).map { .value(.decimal($0)) } }
    guard case .value(let value) = literal else { return nil }
    switch (type, value) {
    case ("Date", _):
      return seconds(value).map { .value(.date(Date(timeIntervalSinceReferenceDate: $0))) }
    case ("Double", .string(let text)):
      return nonFinite(text).map { .value(.double($0)) }
    case ("UUID", .string(let text)):
      return UUID(uuidString: text).map { .value(.uuid($0)) }
    case ("Data", .string(let text)):
      return Data(base64Encoded: text).map { .value(.data($0)) }
    case ("ObjectID", .string(let text)):
      return object(text)
    default:
      return nil
    }
  }

  /// Returns the function that converts a value to the named type; nil when there is none.
  static func conversion(to typeName: String) -> PredicateFunction? {
    switch typeName.hasPrefix("NS") ? String(typeName.dropFirst(2)) : typeName {
    case "Date": .toDate
    case "String": .toText
    case "Number", "Double": .toNumber
    default: nil
    }
  }

  /// Reads a number in text or in digits; never by way of a Double.
  private static func decimal(_ literal: PredicateOperand.Content) -> Decimal? {
    switch literal {
    case .value(.string(let text)): text == "NaN" ? .nan : DecimalDigits(text)?.nearestDecimal
    case .value(let value): value.decimalDigits?.nearestDecimal
    case .digits(let digits): digits.nearestDecimal
    default: nil
    }
  }

  private static func seconds(_ value: AttributeValue) -> Double? {
    switch value {
    case .int(let seconds): Double(seconds)
    case .double(let seconds): seconds
    case .string(let text): nonFinite(text)
    default: nil
    }
  }

  private static func nonFinite(_ text: String) -> Double? {
    switch text {
    case "nan": .nan
    case "inf": .infinity
    case "-inf": -.infinity
    default: nil
    }
  }

  /// Returns one spelling for every NaN, whatever its sign and payload: they are equal literals.
  private static func nonFiniteText(_ value: Double) -> String {
    value.isNaN ? "nan" : value < 0 ? "-inf" : "inf"
  }

  private static func object(_ text: String) -> PredicateOperand.Content? {
    let scalars = text.unicodeScalars
    guard let slash = scalars.lastIndex(of: "/") else {
      return objectNumber(text).map { .value(.reference($0)) }
    }
    guard let number = objectNumber(String(scalars[scalars.index(after: slash)...])) else { return nil }
    return .reference(ObjectReference(entity: String(scalars[..<slash]), number: number))
  }

  private static func objectNumber(_ text: String) -> ObjectNumber? {
    UInt64(text).map { ObjectNumber(rawValue: $0) }
  }
}
