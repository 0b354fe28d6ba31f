import Predicates

/// Makes a property of a ``StoredObject`` a to-one relationship that can be nil.
///
/// ```swift
/// @ToOneLink(inverse: \Album.songs) var album: Album?
/// ```
///
/// It begins as nil, and has no initial value. The inverse is named at one end of each pair; there may be none.
@propertyWrapper
public struct ToOneLink<Target: ManagedObject> {
  var contents: ToOneContents<Target>

  /// Declares a relationship without options.
  public init() { contents = ToOneContents(.optional) }

  /// Declares a relationship.
  ///
  /// - Parameters:
  ///   - options: `.ordered`, at both ends, where the other end is an ordered to-many relationship.
  ///   - deleteRule: what happens to the object at the other end when this one is deleted.
  ///   - inverse: the relationship at the other end that leads back; nil where there is none, and where that end names
  ///     this one.
  ///   - originalName: the relationship's name in an earlier version.
  public init(
    _ options: RelationshipOption...,
    deleteRule: DeleteRule = .nullify,
    inverse: @autoclosure () -> PartialKeyPath<Target>? = nil,
    originalName: String? = nil
  ) {
    contents = ToOneContents(
      .optional,
      options,
      deleteRule: deleteRule,
      inverse: .init(inverse()),
      originalName: originalName
    )
  }

  /// Declares a relationship that is its own inverse, or has none although there are relationships that could be it.
  ///
  /// - Parameters:
  ///   - deleteRule: what happens to the object at the other end when this one is deleted.
  ///   - inverse: `.itself` or `.hidden`.
  ///   - originalName: the relationship's name in an earlier version.
  public init(deleteRule: DeleteRule = .nullify, inverse: OwnInverse, originalName: String? = nil) {
    contents = ToOneContents(
      .optional,
      deleteRule: deleteRule,
      inverse: .init(inverse),
      originalName: originalName
    )
  }

  /// Reads and sets the relationship of an object.
  public static subscript<Owner: StoredObject>(
    _enclosingInstance object: Owner,
    wrapped wrapped: ReferenceWritableKeyPath<Owner, Target?>,
    storage storage: ReferenceWritableKeyPath<Owner, ToOneLink<Target>>
  ) -> Target? {
    get {
      object._$awake()
      return object._$toOne(
        object[keyPath: storage].contents.place,
        &object[keyPath: storage].contents.reference
      )
    }
    set { assign(newValue, to: object, storage) }
  }

  /// Unavailable: the wrapper alone doesn't know its object.
  @available(
    *,
    unavailable,
    message: "'@ToOneLink' belongs to a property of a class that derives from 'StoredObject'"
  )
  public var wrappedValue: Target? {
    get { fatalError("a wrapper outside of its object was read") }
    set { fatalError("a wrapper outside of its object was set") }
  }
}

extension ToOneLink where Target == ManagedRecord {
  /// Declares a relationship to an entity without a class.
  ///
  /// - Parameters:
  ///   - entity: the name of the entity.
  ///   - options: `.ordered`, at both ends, where the other end is an ordered to-many relationship.
  ///   - deleteRule: what happens to the object at the other end when this one is deleted.
  ///   - inverse: the name of the relationship at the other end that leads back; nil where there is none, and where
  ///     that end names this one.
  ///   - originalName: the relationship's name in an earlier version.
  public init(
    to entity: String,
    _ options: RelationshipOption...,
    deleteRule: DeleteRule = .nullify,
    inverse: String? = nil,
    originalName: String? = nil
  ) {
    contents = ToOneContents(
      .optional,
      to: entity,
      options,
      deleteRule: deleteRule,
      inverseName: inverse,
      originalName: originalName
    )
  }
}

extension ToOneLink: ToOneField {
  static var placeOffset: Int { MemoryLayout<Self>.offset(of: \.contents.place) ?? 0 }
}
