import Predicates

/// Makes a property of a ``StoredObject`` a to-one relationship that always leads to an object.
///
/// ```swift
/// @RequiredLink(inverse: \Album.songs) var album: Album
/// ```
///
/// It has no initial value: a save of an object whose relationship leads nowhere fails with `missingValue`. The inverse
/// is named at one end of each pair; there may be none.
@propertyWrapper
public struct RequiredLink<Target: ManagedObject> {
  /// The slot.
  var place = 0
  var reference = ToOneReference<Target>()
  let declaration: FieldDeclaration?

  /// Declares a relationship without options.
  public init() {
    declaration = FieldDeclaration.ofRelationship(.requiredToOne("", to: Target.entityName))
  }

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
    declaration = FieldDeclaration.ofRelationship(
      .requiredToOne(
        "",
        to: Target.entityName,
        deleteRule: deleteRule,
        isOrdered: options.contains(.ordered),
        originalName: originalName
      ),
      inverse: .init(inverse())
    )
  }

  /// Declares a relationship that is its own inverse.
  ///
  /// - Parameters:
  ///   - deleteRule: what happens to the object at the other end when this one is deleted.
  ///   - inverse: `.itself` or `.hidden`.
  ///   - originalName: the relationship's name in an earlier version.
  public init(deleteRule: DeleteRule = .nullify, inverse: OwnInverse, originalName: String? = nil) {
    declaration = FieldDeclaration.ofRelationship(
      .requiredToOne("", to: Target.entityName, deleteRule: deleteRule, originalName: originalName),
      inverse: .init(inverse)
    )
  }

  /// Reads and sets the relationship of an object.
  public static subscript<Owner: StoredObject>(
    _enclosingInstance object: Owner,
    wrapped wrapped: ReferenceWritableKeyPath<Owner, Target>,
    storage storage: ReferenceWritableKeyPath<Owner, RequiredLink<Target>>
  ) -> Target {
    get {
      object._$awake()
      return object._$requiredToOne(object[keyPath: storage].place, &object[keyPath: storage].reference)
    }
    set {
      let place = object[keyPath: storage].place
      object._$willSetToOne(newValue)
      object.loadNumber(place, &object[keyPath: storage].reference)
      // Observers may read the property before it changes, so nothing accesses it meanwhile.
      var reference = object[keyPath: storage].reference
      let change = object._$setToOne(place, &reference, newValue)
      object[keyPath: storage].reference = reference
      object._$didSetToOne(place, change)
    }
  }

  /// Unavailable: the wrapper alone doesn't know its object.
  @available(
    *,
    unavailable,
    message: "'@RequiredLink' belongs to a property of a class that derives from 'StoredObject'"
  )
  public var wrappedValue: Target {
    get { fatalError("a wrapper outside of its object was read") }
    set { fatalError("a wrapper outside of its object was set") }
  }
}

extension RequiredLink where Target == ManagedRecord {
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
    declaration = FieldDeclaration.ofRelationship(
      .requiredToOne(
        "",
        to: entity,
        inverse: inverse,
        deleteRule: deleteRule,
        isOrdered: options.contains(.ordered),
        originalName: originalName
      )
    )
  }
}

extension RequiredLink: StoredField {
  static var isToMany: Bool { false }
  static var placeOffset: Int { MemoryLayout<Self>.offset(of: \.place) ?? 0 }
  mutating func visit<Visitor: PropertyVisitor>(_ visitor: inout Visitor) {
    visitor.visit(toOne: place, &reference)
  }
}
