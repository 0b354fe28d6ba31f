import Predicates

/// The values of an object of a model, apart from the object: `Song.Values`.
///
/// `@Model` writes one for each model. It has a property for each attribute and each embedded value, of the same name
/// and type, and one for each to-one relationship: the ID of the object that it leads to. To-many relationships,
/// derived attributes, transient properties and externally stored attributes are left out.
///
/// ```swift
/// let songs = try context.fetch(From<Song>().where { $0.year > 1970 }.values())
/// var values = songs[0]
/// values.title = "Carey"
/// try context.apply(values, since: songs[0])
/// ```
///
/// Values are `Sendable`: they cross tasks and actors. They have no context, so nothing that happens to the object
/// changes them.
///
/// ## Equality
/// Values are equal when they have equal IDs and equal values; equality of values is that of a store.
/// ``differences(from:)`` leaves the ID aside.
///
/// ## JSON
/// Values are `Codable`, as an object whose keys are the names of the properties, and `objectID`; a key is left out for
/// nil. Every value is read back exactly, as far as the coder's strategies for dates and data let it; by default they
/// do. An embedded value is an object of its parts. Numbers that are infinite or not a number are the strings
/// `Infinity`, `-Infinity` and `NaN`. Lists are lists, a `CodableAttribute` encodes itself, and any other attribute is
/// coded as its raw value. IDs are their URIs; a provisional ID can't be encoded.
///
/// ## Models that inherit
/// The values of a subclass contain those of its superclass, whose properties are theirs too: `values.name` for
/// `values.superclassValues.name`.
///
/// ```swift
/// var values = Dog.Values(Animal.Values(name: "Rex"), isGood: true)
/// values.name = "Max"
/// let all = try context.fetch(From<Dog>().values(Dog.Values.self))
/// ```
///
/// `Dog.Values(dog)` makes them of an object. The `Animal.Values` of a dog are the values that it has as an animal.
///
/// ## Without the macro
/// A model written by hand can have one too: a struct with the requirements of this protocol, and a conformance of the
/// class to ``ModelWithValues``, if it is final.
public protocol ModelValues<_$Model>: Sendable, Hashable, Codable {
  /// The class.
  associatedtype _$Model: ManagedObject
  /// The names of the attributes and to-one relationships in the order in which they are read and visited. They may be
  /// any names of the model, except those of externally stored attributes. All parts of an embedded value come one
  /// after the other; ``_$names(of:in:)`` gives their names.
  static var _$names: [String] { get }
  /// The ID of the object that has the values; nil for values of no stored object. Insertions ignore it;
  /// ``ManagedObjectContext/apply(_:since:)`` sets the properties of this object.
  var objectID: ManagedObjectID? { get set }
  /// Asks the reader for the ID, and then for the value of each name.
  init<Reader: ValuesReader>(_$from reader: inout Reader) throws(Reader.Failure)
  /// Hands the value of each name to the visitor.
  func _$visit<Visitor: ValuesVisitor>(_ visitor: inout Visitor)
}

/// A model that has a type for the values of its objects. `@Model` writes the conformance, unless the class has a type
/// named `Values` already. A subclass has the conformances of its superclass and can't have another type of values by
/// them, so models that inherit from each other have the type without the conformance.
public protocol ModelWithValues: ManagedObject {
  /// The type.
  associatedtype Values: ModelValues where Values._$Model == Self
}

/// A source of values: an object, a row of a query, a decoder.
public protocol ValuesReader {
  /// The error that reading throws; `Never` for values of an object.
  associatedtype Failure: Error
  /// Reads the object's ID.
  mutating func objectID() throws(Failure) -> ManagedObjectID?
  /// Reads the next value, that of an attribute.
  mutating func attribute<Value: AttributeType>() throws(Failure) -> Value
  /// Reads the next value, that of a to-one relationship which can be nil.
  mutating func toOne() throws(Failure) -> ManagedObjectID?
  /// Reads the next value, that of a required to-one relationship.
  mutating func requiredToOne() throws(Failure) -> ManagedObjectID
  /// Leaves the next value unread.
  mutating func skip()
}

/// An operation on each value of an object's values.
public protocol ValuesVisitor {
  /// Takes the value of an attribute.
  mutating func visit<Value: AttributeType>(attribute value: Value)
  /// Takes the ID that a to-one relationship leads to.
  mutating func visit(toOne id: ManagedObjectID?)
}

extension ModelValues {
  /// Returns the initial value that a declaration gives.
  public static func _$initial<Value>(_ value: Value) -> Value { value }

  /// Returns the names of the parts of a property with an embedded value.
  ///
  /// - Parameters:
  ///   - type: an embedded value, or an optional of one.
  ///   - property: the property's name.
  public static func _$names<Value: EmbeddedProperty>(of type: Value.Type, in property: String) -> [String] {
    Value._Parts.attributes.map { PropertyDescription.partName($0.name, in: property) }
  }

  /// Stands in for a type that can't be embedded; the getter in the class reports it.
  @_disfavoredOverload
  public static func _$names<Value>(of type: Value.Type, in property: String) -> [String] { [] }

  /// Stands in for an initial value that isn't of the property's type; the property's declaration reports it.
  @_disfavoredOverload
  public static func _$initial<Value>(_ value: Any) -> Value { fatalError("\(value) is no \(Value.self)") }
}

extension ValuesReader {
  /// Reads the next values, the parts of an embedded value.
  public mutating func embedded<Value: EmbeddedProperty>() throws(Failure) -> Value {
    try Value._Parts.value(from: &self)
  }

  /// Stands in for a type that can't be embedded; the getter in the class reports it.
  @_disfavoredOverload
  public mutating func embedded<Value>() throws(Failure) -> Value {
    fatalError("\(Value.self) is no EmbeddedValue")
  }

  /// Stands in for an attribute whose type can't be stored; the getter in the class reports it.
  @_disfavoredOverload
  public mutating func attribute<Value>() throws(Failure) -> Value {
    fatalError("\(Value.self) is no AttributeType")
  }
}

extension ValuesVisitor {
  /// Takes an embedded value: each of its parts, as an attribute that may be nil.
  public mutating func visit<Value: EmbeddedProperty>(embedded value: Value) {
    var parts = Value._Parts(value)
    var forwarding = PartForwarding(visitor: self)
    for part in Value._Parts.attributes.indices { parts.visit(part, at: part, &forwarding) }
    self = forwarding.visitor
  }

  /// Stands in for a type that can't be embedded; the getter in the class reports it.
  @_disfavoredOverload
  public mutating func visit<Value>(embedded value: Value) {
    fatalError("\(Value.self) is no EmbeddedValue")
  }

  /// Stands in for an attribute whose type can't be stored; the getter in the class reports it.
  @_disfavoredOverload
  public mutating func visit<Value>(attribute value: Value) {
    fatalError("\(Value.self) is no AttributeType")
  }
}

/// Passes on the parts of an embedded value.
private struct PartForwarding<Visitor: ValuesVisitor>: PropertyVisitor {
  var visitor: Visitor

  mutating func visit<Value: AttributeType>(attribute slot: Int, _ cache: inout Cached<Value>) {
    visitor.visit(attribute: cache.value)
  }
  mutating func visit<Target: ManagedObject>(toOne slot: Int, _ cache: inout ToOneReference<Target>) {}
  mutating func visit<Target: ManagedObject>(toMany ordinal: Int, _ cache: inout ToManyMembers<Target>) {}
}
