import Predicates

/// A struct whose properties are attributes of the object that has it: an address of a person.
///
/// `@Embeddable` on a struct writes the conformance, and `@Embedded` on a property of a model embeds a value:
///
/// ```swift
/// @Embeddable struct Address {
///   var street: String
///   var city: String
/// }
///
/// @Model final class Person {
///   @Embedded var home: Address
///   @Embedded var work: Address?
///   …
/// }
/// ```
///
/// Each property of the struct, a *part*, is an attribute of the entity, named `home.city`: conditions, sorting,
/// indexes, `select`, batches and rules treat it as any other attribute. Two contexts that change different parts of
/// one value have no conflict.
///
/// A property of the struct may be an embedded value itself, marked `@Embedded`. Its parts are parts of the whole:
/// `home.position.latitude`.
public protocol EmbeddedValue: EmbeddedProperty, PredicateRoot {
  /// The key path to each property of the struct, and the property's name.
  static var _$properties: [(keyPath: AnyKeyPath, name: String)] { get }
}

extension EmbeddedValue {
  /// Returns the name of the property that a key path leads to.
  ///
  /// - Throws: `QueryError` of code `keyPath` when the key path is no part.
  public static func predicatePath(of keyPath: AnyKeyPath) throws(QueryError) -> [String] {
    guard let property = _$properties.first(where: { $0.keyPath == keyPath }) else {
      let message = "the key path \(keyPath) is no part of \(Self.self): parts are its stored properties"
      throw QueryError(.keyPath, message, keyPath: "\(keyPath)")
    }
    return [property.name]
  }
}

extension ValueExpression where Value: EmbeddedValue {
  /// Returns a condition that there is no value. Only for a value that may be nil.
  public static func == (left: Self, right: _OptionalNilComparisonType) -> Where<Root> {
    left.compare(.equal, .value(.null))
  }

  /// Returns a condition that there is a value. Only for a value that may be nil.
  public static func != (left: Self, right: _OptionalNilComparisonType) -> Where<Root> {
    left.compare(.notEqual, .value(.null))
  }
}

/// A type of properties that are embedded: an ``EmbeddedValue``, or an optional of one.
public protocol EmbeddedProperty {
  /// The storage for the parts of a value of an object.
  associatedtype _Parts: EmbeddedParts where _Parts.Value == Self
}

/// The storage, in an object, for the parts of an embedded value that were decoded or set: a cache for each part.
///
/// `@Embeddable` writes one for each struct.
public protocol EmbeddedParts<Value> {
  /// The value that consists of the parts.
  associatedtype Value
  /// The parts, named without the property that has the value. A part without a name is named by that property alone.
  static var attributes: [PropertyDescription] { get }
  /// The number of parts.
  static var count: Int { get }
  /// Makes parts that are not there yet.
  init()
  /// Makes the parts of a value.
  init(_ value: Value)
  /// Returns the value, whose parts are decoded from the object's record where they aren't there yet.
  ///
  /// - Parameters:
  ///   - object: the object that has the value.
  ///   - slot: that of the first part.
  mutating func value(of object: some ManagedObject, at slot: Int) -> Value
  /// Reads the parts, in their order.
  static func value<Reader: ValuesReader>(from reader: inout Reader) throws(Reader.Failure) -> Value
  /// Hands the cache of a part to the visitor.
  ///
  /// - Parameters:
  ///   - part: counts the parts from 0.
  ///   - slot: that of the part.
  ///   - visitor: takes the cache.
  mutating func visit<Visitor: PropertyVisitor>(_ part: Int, at slot: Int, _ visitor: inout Visitor)
}

/// The storage, in an object, for one part of an embedded value.
public struct EmbeddedPart<Value: AttributeType> {
  /// The part; nil if the value that it belongs to is nil.
  private var cache: Cached<Value._Present?>

  /// Makes a part that is not there yet.
  public init() { cache = Cached() }

  /// Makes the part of a value.
  public init(_ value: Value) { cache = Cached(value as? Value._Present) }

  /// Returns the part of the object's value, decoded from the object's record if it isn't there yet.
  public mutating func value(of object: some ManagedObject, at slot: Int) -> Value {
    let present = object._$load(slot, &cache)
    if Value._isOptionalAttribute, object._$state.phase == .tracer { object.tracer.noteOptionalPart() }
    if let present, let value = present as? Value { return value }
    return Value(_attributeValue: .null) ?? .anyValue
  }

  /// Hands the cache to the visitor.
  public mutating func visit(at slot: Int, _ visitor: inout some PropertyVisitor) {
    visitor.visit(attribute: slot, &cache)
  }
}

/// The storage, in an object, for an embedded value.
public struct EmbeddedCache<Value: EmbeddedProperty> {
  var parts: Value._Parts

  /// Makes a value that is not there yet.
  public init() { parts = Value._Parts() }

  /// Makes a value that was set.
  public init(_ value: Value) { parts = Value._Parts(value) }

  /// Hands the cache of a part to the visitor.
  public mutating func visit(_ part: Int, at slot: Int, _ visitor: inout some PropertyVisitor) {
    parts.visit(part, at: slot, &visitor)
  }
}
