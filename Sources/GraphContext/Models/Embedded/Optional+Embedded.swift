import Predicates

extension Optional: EmbeddedProperty where Wrapped: EmbeddedValue {
  /// The parts, and whether the value is there.
  public typealias _Parts = OptionalEmbeddedParts<Wrapped>
}

/// The parts of an embedded value that may be nil: whether it is there, and its parts, all of which are nil if it
/// isn't.
public struct OptionalEmbeddedParts<Wrapped: EmbeddedValue>: EmbeddedParts {
  private var isThere: Cached<Bool?>
  private var parts: Wrapped._Parts

  /// The attribute that says whether the value is there, and those of its parts, which may be nil.
  public static var attributes: [PropertyDescription] {
    [.attribute("", Bool?.self)] + Wrapped._Parts.attributes.map { $0.optional }
  }

  /// The number of the value's parts, and one more for the attribute that says whether the value is there.
  public static var count: Int { 1 + Wrapped._Parts.count }

  /// Makes parts that are not there yet.
  public init() {
    isThere = Cached()
    parts = Wrapped._Parts()
  }

  /// Makes the parts of a value; each part is nil if the value is nil.
  public init(_ value: Wrapped?) {
    isThere = Cached(value == nil ? nil : true)
    parts = value.map(Wrapped._Parts.init) ?? Wrapped._Parts()
    if value == nil { clear() }
  }

  /// Sets every part to nil.
  private mutating func clear() {
    var clearer = SlotWriter(value: .null)
    for part in 0..<Wrapped._Parts.count { parts.visit(part, at: part, &clearer) }
  }

  /// Returns the value; nil where the object's record says that it isn't there.
  public mutating func value(of object: some ManagedObject, at slot: Int) -> Wrapped? {
    let isThere = object._$load(slot, &isThere)
    if isThere == nil, object._$state.phase != .tracer { return nil }
    return parts.value(of: object, at: slot + 1)
  }

  /// Reads whether the value is there, and the parts if it is.
  public static func value<Reader: ValuesReader>(from reader: inout Reader) throws(Reader.Failure) -> Wrapped?
  {
    if try reader.attribute() as Bool? != nil { return try Wrapped._Parts.value(from: &reader) }
    for _ in 0..<Wrapped._Parts.count { reader.skip() }
    return nil
  }

  /// Hands the cache of a part to the visitor; the first says whether the value is there.
  public mutating func visit<Visitor: PropertyVisitor>(_ part: Int, at slot: Int, _ visitor: inout Visitor) {
    if part == 0 { return visitor.visit(attribute: slot, &isThere) }
    parts.visit(part - 1, at: slot, &visitor)
  }
}

extension PropertyDescription {
  /// The attribute as one that may be nil, without a default for objects whose value is nil.
  fileprivate var optional: PropertyDescription {
    guard case .attribute(var attribute) = self else { return self }
    attribute.isRequiredPart = !attribute.isOptional
    attribute.isOptional = true
    attribute.partDefault = attribute.defaultValue
    (attribute.defaultValue, attribute.initialValue) = (nil, nil)
    return .attribute(attribute)
  }
}
