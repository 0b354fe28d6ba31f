import Predicates

/// Makes a property of a ``StoredObject`` a to-many relationship: an array, a `Set`, a ``ToMany`` or an
/// ``OrderedToMany``.
///
/// ```swift
/// @ToManyLink(deleteRule: .cascade) var songs: [Song]
/// ```
///
/// It begins without members, and has no initial value. The inverse, where there is one, is named at one end of each
/// pair.
@propertyWrapper
public struct ToManyLink<Members: RelationshipCollection> {
  /// The ordinal among the to-many relationships.
  var place = 0
  var members = ToManyMembers<Members.Element>()
  let declaration: FieldDeclaration?

  /// Declares a relationship without options.
  public init() {
    declaration = FieldDeclaration.ofRelationship(.toMany("", to: Members.Element.entityName))
  }

  /// Declares a relationship.
  ///
  /// - Parameters:
  ///   - options: `.ordered` for members with an order that the program gives them. Where the inverse is to one, both
  ///     ends say so.
  ///   - deleteRule: what happens to the objects at the other end when this one is deleted.
  ///   - inverse: the relationship at the other end that leads back; nil where that end names this one.
  ///   - minimumCount: the least number of members that a save accepts.
  ///   - maximumCount: the greatest number of members that a save accepts; nil for no limit.
  ///   - originalName: the relationship's name in an earlier version.
  public init(
    _ options: RelationshipOption...,
    deleteRule: DeleteRule = .nullify,
    inverse: @autoclosure () -> PartialKeyPath<Members.Element>? = nil,
    minimumCount: Int = 0,
    maximumCount: Int? = nil,
    originalName: String? = nil
  ) {
    declaration = FieldDeclaration.ofRelationship(
      .toMany(
        "",
        to: Members.Element.entityName,
        deleteRule: deleteRule,
        isOrdered: options.contains(.ordered),
        minimumCount: minimumCount,
        maximumCount: maximumCount,
        originalName: originalName
      ),
      inverse: .init(inverse())
    )
  }

  /// Declares a relationship that is its own inverse, or has none although there are relationships that could be it.
  ///
  /// - Parameters:
  ///   - deleteRule: what happens to the objects at the other end when this one is deleted.
  ///   - inverse: `.itself` or `.hidden`.
  ///   - minimumCount: the least number of members that a save accepts.
  ///   - maximumCount: the greatest number of members that a save accepts; nil for no limit.
  ///   - originalName: the relationship's name in an earlier version.
  public init(
    deleteRule: DeleteRule = .nullify,
    inverse: OwnInverse,
    minimumCount: Int = 0,
    maximumCount: Int? = nil,
    originalName: String? = nil
  ) {
    declaration = FieldDeclaration.ofRelationship(
      .toMany(
        "",
        to: Members.Element.entityName,
        deleteRule: deleteRule,
        minimumCount: minimumCount,
        maximumCount: maximumCount,
        originalName: originalName
      ),
      inverse: .init(inverse)
    )
  }

  /// Reads and sets the relationship of an object.
  public static subscript<Owner: StoredObject>(
    _enclosingInstance object: Owner,
    wrapped wrapped: ReferenceWritableKeyPath<Owner, Members>,
    storage storage: ReferenceWritableKeyPath<Owner, ToManyLink<Members>>
  ) -> Members {
    get {
      object._$awake()
      return object._$toMany(object[keyPath: storage].place, &object[keyPath: storage].members)
    }
    set {
      object[keyPath: storage].members =
        object._$putToMany(object[keyPath: storage].place, newValue, isWhole: true)
      object._$didPutToMany()
    }
    _modify {
      object._$awake()
      let place = object[keyPath: storage].place
      var members: Members = object._$takeToMany(place, &object[keyPath: storage].members)
      defer {
        object[keyPath: storage].members = object._$putToMany(place, members)
        object._$didPutToMany()
      }
      yield &members
    }
  }

  /// Unavailable: the wrapper alone doesn't know its object.
  @available(
    *,
    unavailable,
    message: "'@ToManyLink' belongs to a property of a class that derives from 'StoredObject'"
  )
  public var wrappedValue: Members {
    get { fatalError("a wrapper outside of its object was read") }
    set { fatalError("a wrapper outside of its object was set") }
  }
}

extension ToManyLink where Members.Element == ManagedRecord {
  /// Declares a relationship to an entity without a class.
  ///
  /// - Parameters:
  ///   - entity: the name of the entity.
  ///   - options: `.ordered` for members with an order that the program gives them. Where the inverse is to one, both
  ///     ends say so.
  ///   - deleteRule: what happens to the objects at the other end when this one is deleted.
  ///   - inverse: the name of the relationship at the other end that leads back; nil where that end names this one.
  ///   - minimumCount: the least number of members that a save accepts.
  ///   - maximumCount: the greatest number of members that a save accepts; nil for no limit.
  ///   - originalName: the relationship's name in an earlier version.
  public init(
    to entity: String,
    _ options: RelationshipOption...,
    deleteRule: DeleteRule = .nullify,
    inverse: String? = nil,
    minimumCount: Int = 0,
    maximumCount: Int? = nil,
    originalName: String? = nil
  ) {
    declaration = FieldDeclaration.ofRelationship(
      .toMany(
        "",
        to: entity,
        inverse: inverse,
        deleteRule: deleteRule,
        isOrdered: options.contains(.ordered),
        minimumCount: minimumCount,
        maximumCount: maximumCount,
        originalName: originalName
      )
    )
  }
}

extension ToManyLink: StoredField {
  static var isToMany: Bool { true }
  static var knowsPositions: Bool { Members.self == OrderedToMany<Members.Element>.self }
  static var placeOffset: Int { MemoryLayout<Self>.offset(of: \.place) ?? 0 }
  mutating func visit<Visitor: PropertyVisitor>(_ visitor: inout Visitor) {
    visitor.visit(toMany: place, &members)
  }
}
