import Predicates

/// Makes a property of a ``StoredObject`` an attribute.
///
/// ```swift
/// @Stored var title: String = ""
/// @Stored(.unique) var isrc: String?
/// @Stored(.min(0), .max(5)) var rating: Int = 0
/// @Stored(.perInsert { UUID() }) var token: UUID
/// ```
///
/// The initial value is computed for each object, and dropped for one that is read from the store. Objects that were
/// stored before the attribute existed have it too: one value for all of them, computed when the class is first used.
/// Beside ``StoredOption/perInsert(_:)``, only these objects have it. A property without an initial value is nil, or,
/// if its type has no nil, lacks its value: reading it gives any value of the type, and a save without it fails with
/// `missingValue`.
@propertyWrapper
public struct Stored<Value: AttributeType> {
  /// The slot.
  @usableFromInline var place = 0
  @usableFromInline var cache: Cached<Value>
  @usableFromInline let declaration: FieldDeclaration?

  /// Declares an attribute with an initial value.
  @inlinable
  public init(
    wrappedValue: @autoclosure @escaping @Sendable () -> Value,
    _ first: @autoclosure () -> StoredOption<Value> = .none,
    _ second: @autoclosure () -> StoredOption<Value> = .none,
    _ third: @autoclosure () -> StoredOption<Value> = .none,
    _ fourth: @autoclosure () -> StoredOption<Value> = .none,
    originalName: @autoclosure () -> String? = nil
  ) {
    cache = Cached(wrappedValue())
    declaration =
      FieldDeclaration.isRead
      ? FieldDeclaration(
        initial: wrappedValue,
        options: [first(), second(), third(), fourth()],
        originalName: originalName()
      ) : nil
  }

  /// Declares an attribute without options, which is nil until it is set, or lacks its value.
  @inlinable
  public init() { self.init(.none) }

  /// Declares an attribute that is nil until it is set, or lacks its value.
  @inlinable
  public init(
    _ first: @autoclosure () -> StoredOption<Value> = .none,
    _ second: @autoclosure () -> StoredOption<Value> = .none,
    _ third: @autoclosure () -> StoredOption<Value> = .none,
    _ fourth: @autoclosure () -> StoredOption<Value> = .none,
    originalName: @autoclosure () -> String? = nil
  ) {
    cache = Value._isOptionalAttribute ? Cached(Value.unreadable) : Cached()
    declaration =
      FieldDeclaration.isRead
      ? FieldDeclaration(
        initial: nil,
        options: [first(), second(), third(), fourth()],
        originalName: originalName()
      ) : nil
  }

  /// Reads and sets the attribute of an object.
  @inlinable
  public static subscript<Owner: StoredObject>(
    _enclosingInstance object: Owner,
    wrapped wrapped: ReferenceWritableKeyPath<Owner, Value>,
    storage storage: ReferenceWritableKeyPath<Owner, Stored<Value>>
  ) -> Value {
    @inline(__always) get {
      if object._$state.isFast(object[keyPath: storage].place),
        let value = object[keyPath: storage].cache.stored
      {
        return value
      }
      return load(object, storage)
    }
    @inline(__always) set {
      object._$willSet(object[keyPath: storage].place)
      object[keyPath: storage].cache = Cached(newValue)
    }
  }

  /// Reads an attribute that isn't loaded.
  @inlinable
  static func load<Owner: StoredObject>(
    _ object: Owner,
    _ storage: ReferenceWritableKeyPath<Owner, Stored<Value>>
  ) -> Value {
    object._$awake()
    return object.load(object[keyPath: storage].place, &object[keyPath: storage].cache)
  }

  /// Unavailable: the wrapper alone doesn't know its object.
  @available(
    *,
    unavailable,
    message: "'@Stored' belongs to a property of a class that derives from 'StoredObject'"
  )
  public var wrappedValue: Value {
    get { fatalError("a wrapper outside of its object was read") }
    set { fatalError("a wrapper outside of its object was set") }
  }
}

extension Stored: StoredField {
  static var isToMany: Bool { false }
  static var placeOffset: Int { MemoryLayout<Self>.offset(of: \.place) ?? 0 }
  mutating func visit<Visitor: PropertyVisitor>(_ visitor: inout Visitor) {
    visitor.visit(attribute: place, &cache)
  }
}
