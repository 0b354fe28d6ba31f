import Foundation

// Lists and sets of values as attributes: `var tags: [String] = []`. They are stored as JSON, like a
// `CodableAttribute`; the schema has the kind of the elements, so conditions can test them.

extension Array: ColumnType where Element: AttributeType {}

extension Array: AttributeType where Element: AttributeType {
  public static var _attributeKind: AttributeKind { .coded }
  public static var _elementKind: AttributeKind? {
    Element._attributeKind == .coded ? nil : Element._attributeKind
  }
  /// No elements.
  public static var tracerValue: [Element]? { [] }

  /// The JSON of the elements in their order; data without bytes, which no attribute of the kind takes, if one
  /// can't be encoded.
  public var _attributeValue: AttributeValue {
    guard Element._attributeKind == .coded else {
      return .string(ListText.json(of: lazy.map { $0._attributeValue }, Element._attributeKind))
    }
    let values = map { $0._attributeValue }
    return values.contains(where: \.isUnencodable)
      ? .data(Data()) : .string(ListText.json(of: values, .coded))
  }

  /// Makes the list of its JSON. Nil for JSON that is no list, or has an element of another type.
  public init?(_attributeValue stored: AttributeValue) {
    guard case .string(let json) = stored,
      let values = try? ListElements.values(of: json, Element._attributeKind)
    else { return nil }
    self = []
    reserveCapacity(values.count)
    for value in values {
      guard let element = Element(_attributeValue: value) else { return nil }
      append(element)
    }
  }
}

extension Set: ColumnType where Element: AttributeType {}

extension Set: AttributeType where Element: AttributeType {
  public static var _attributeKind: AttributeKind { .coded }
  public static var _elementKind: AttributeKind? { [Element]._elementKind }
  /// No elements.
  public static var tracerValue: Set<Element>? { [] }

  /// The JSON of the elements, in the order of their own JSON: equal sets have equal bytes. Data without bytes if
  /// one can't be encoded.
  public var _attributeValue: AttributeValue {
    let values = map { $0._attributeValue }
    if Element._attributeKind == .coded, values.contains(where: \.isUnencodable) { return .data(Data()) }
    let elements = values.map { ListText.json(of: CollectionOfOne($0), Element._attributeKind) }
    return .string("[" + elements.sorted().map { $0.dropFirst().dropLast() }.joined(separator: ",") + "]")
  }

  /// Makes the set of its JSON. Nil for JSON that is no list, or has an element of another type.
  public init?(_attributeValue stored: AttributeValue) {
    guard let elements = [Element](_attributeValue: stored) else { return nil }
    self.init(elements)
  }
}

extension AttributeValue {
  /// True if the value stands for a list that can't be encoded as JSON.
  fileprivate var isUnencodable: Bool { if case .data = self { true } else { false } }
}
