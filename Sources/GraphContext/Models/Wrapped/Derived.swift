import Predicates

/// Makes a property of a ``StoredObject`` a derived attribute: at each save, the store makes its value from other
/// values.
///
/// ```swift
/// @ToManyLink(deleteRule: .cascade) var songs: [Song]
/// @Derived("songs.@count") var songCount: Int
/// @Derived("songs.@max.seconds") var longest: Int?
/// @Derived("name[cd]") var plainName: String
/// ```
///
/// The rules are those of ``AttributeDerivation``; a container refuses a model with an invalid rule. The property can
/// only be read. A new object shows nil, 0 or an empty string until it is saved.
@propertyWrapper
public struct Derived<Value: AttributeType> {
  /// The slot.
  var place = 0
  var cache = Cached<Value>()
  let declaration: FieldDeclaration?

  /// Declares an attribute.
  ///
  /// - Parameters:
  ///   - rule: the rule by which the value is made.
  ///   - originalName: the attribute's name in an earlier version.
  public init(_ rule: @autoclosure () -> String, originalName: @autoclosure () -> String? = nil) {
    declaration =
      FieldDeclaration.isRead
      ? FieldDeclaration(Value.self, derived: AttributeDerivation(rule()), originalName: originalName()) : nil
  }

  /// Reads the attribute of an object.
  public static subscript<Owner: StoredObject>(
    _enclosingInstance object: Owner,
    wrapped wrapped: KeyPath<Owner, Value>,
    storage storage: ReferenceWritableKeyPath<Owner, Derived<Value>>
  ) -> Value {
    object._$awake()
    return object.load(object[keyPath: storage].place, &object[keyPath: storage].cache)
  }

  /// Unavailable: the wrapper alone doesn't know its object.
  @available(
    *,
    unavailable,
    message: "'@Derived' belongs to a property of a class that derives from 'StoredObject'"
  )
  public var wrappedValue: Value { fatalError("a wrapper outside of its object was read") }
}

extension Derived: StoredField {
  static var isToMany: Bool { false }
  static var placeOffset: Int { MemoryLayout<Self>.offset(of: \.place) ?? 0 }
  mutating func visit<Visitor: PropertyVisitor>(_ visitor: inout Visitor) {
    visitor.visit(attribute: place, &cache)
  }
}
