import Foundation

/// A type whose values predicates can be about: a model class, or any type that can name its own key paths.
public protocol PredicateRoot {
  /// Returns the names along a key path whose root is this type, through to-one relationships to an attribute or a
  /// to-one relationship: `\.origin?.name` is `["origin", "name"]`.
  ///
  /// - Throws: `QueryError` of code `keyPath` when the key path is not a persistent property.
  static func predicatePath(of keyPath: AnyKeyPath) throws(QueryError) -> [String]
  /// The name that conditions on the class of an object have for this type; nil for a type that is no class of
  /// stored objects.
  static var predicateClassName: String? { get }
}

extension PredicateRoot {
  /// Nil: the type is no class of stored objects.
  public static var predicateClassName: String? { nil }
}

/// The identity of an object, as far as predicates need it.
public struct ObjectReference: Sendable, Codable {
  /// The object's entity.
  public var entity: String
  /// The object's number within the entity, which a `reference` holds.
  public var number: ObjectNumber
  /// The store that the object is in; nil where the store is not known, for example in a text, which stands for an
  /// object of any store. A query over another store is a mistake. The store takes no part in equality, and isn't
  /// archived.
  public var store: UUID?
  /// The number of the entity in that store, which stays when the entity is renamed; nil where the number is not known.
  /// It takes no part in equality, and isn't archived, because it has no meaning in another store.
  package var entityNumber: UInt32?

  private enum CodingKeys: CodingKey { case entity, number }

  /// Makes the identity of an object. Without a store, the identity stands for an object of the queried store.
  public init(entity: String, number: ObjectNumber, store: UUID? = nil) {
    self.entity = entity
    self.number = number
    self.store = store
  }
}

extension ObjectReference: Hashable {
  public static func == (left: ObjectReference, right: ObjectReference) -> Bool {
    left.number == right.number && left.entity == right.entity
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(entity)
    hasher.combine(number)
  }
}

/// Something that stands for an object in a predicate: the object, or its ID.
public protocol ObjectReferencing: PredicateArgument {
  /// The object's identity; nil while it has none because it is in no context.
  var objectReference: ObjectReference? { get }
}

extension ObjectReferencing {
  /// The object's identity; ``FormatArgument/objectWithoutID`` if it has none yet.
  public var _predicateArgument: FormatArgument {
    objectReference.map(FormatArgument.object) ?? .objectWithoutID
  }
}

extension PredicateRoot {
  /// Returns the names along a key path, or the reason why it has none; a query keeps this result until it is used.
  @usableFromInline
  package static func names(of keyPath: AnyKeyPath) -> Result<[String], QueryError> {
    Result { () throws(QueryError) in try predicatePath(of: keyPath) }
  }
}
