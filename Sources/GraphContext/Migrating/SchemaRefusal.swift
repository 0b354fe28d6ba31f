import Predicates

/// All reasons why a store can't be migrated to another schema. When it is thrown, nothing was written.
public struct SchemaRefusal: Sendable, Hashable, Codable {
  /// A change that can't be inferred from the two schemas.
  public struct Obstacle: Sendable, Hashable, Codable {
    /// The entity, by the name that it has in the schema that names the property.
    public let entity: String
    /// The property; nil if the obstacle is the entity as a whole.
    public let property: String?
    /// A clause that names the entity and the property, and says how the two schemas differ.
    public let message: String
  }

  /// An object that breaks a rule of the new schema, or of a conversion.
  public struct Offender: Sendable, Hashable, Codable {
    /// A rule that an object breaks.
    public enum Rule: String, Sendable, Hashable, Codable {
      /// The property is required, and the object has nil.
      case required
      /// The properties are unique, and another object has equal values.
      case unique
      /// The properties are indexed, and the object's values are longer than a key can be.
      case keyLength
      /// The relationship is to one, and continues an inverse through which several objects lead to the object.
      case severalDestinations
      /// The relationship continues an inverse through which objects lead to the object, and the object's class
      /// doesn't have the relationship.
      case otherClass
      /// The property is converted to another kind, which can't hold the object's value.
      case conversion
    }

    /// The rule that the object breaks.
    public let rule: Rule
    /// The object's ID.
    public let objectID: ManagedObjectID
    /// The properties, by their names in the new schema; for a conversion, by their names in the store's schema.
    public let properties: [String]
    /// The object's values of `properties`, in the same order. Empty if values must not be shown, or if a value to be
    /// converted is long and stored externally.
    public let values: [AttributeValue]
  }

  /// The greatest number of offenders that a refusal lists.
  public static let listedOffenderCount = 10_000

  /// The changes that can't be inferred.
  public internal(set) var obstacles: [Obstacle] = []
  /// The offenders, by entity and number; the first ``listedOffenderCount``.
  public internal(set) var offenders: [Offender] = []
  /// The number of offenders.
  public internal(set) var offenderCount = 0

  /// True if there are no obstacles and no offenders.
  public var isEmpty: Bool { obstacles.isEmpty && offenderCount == 0 }

  mutating func add(_ offender: Offender) {
    offenderCount += 1
    if offenders.count < Self.listedOffenderCount { offenders.append(offender) }
  }
}

extension SchemaRefusal: CustomStringConvertible {
  /// A line for each obstacle and each listed offender.
  public var description: String { lines.joined(separator: "\n") }

  /// The lines of ``description``. A value may contain line breaks.
  var lines: [String] {
    let listed = obstacles.map(\.message) + offenders.map(\.description)
    let rest = offenderCount - offenders.count
    return rest > 0 ? listed + ["and \(rest) more objects"] : listed
  }
}

extension SchemaRefusal.Offender: CustomStringConvertible {
  /// The object and what is wrong with it, in a clause.
  public var description: String {
    let what = values.isEmpty ? properties : zip(properties, values).map { "\($0) \($1)" }
    let list = what.joined(separator: ", ")
    return switch rule {
    case .required: "\(objectID) has no \(properties.joined(separator: ", ")), which is required"
    case .unique: "\(objectID) is not the only one with \(list)"
    case .severalDestinations: "\(objectID) would have several destinations in \(list), which is to one"
    case .otherClass: "\(objectID) is linked, and its class has no \(list)"
    case .conversion: "\(objectID) has the value \(list), which can't be converted"
    case .keyLength:
      "\(objectID) has values too long for the index over \(properties.joined(separator: ", "))"
    }
  }
}

// MARK: - As an error

extension ContextError {
  /// Returns the error of a refused change. Its code is that of the first obstacle or offender.
  static func refused(_ refusal: SchemaRefusal) -> ContextError {
    guard refusal.obstacles.isEmpty, let first = refusal.offenders.first else {
      let context = Context(
        entity: refusal.obstacles.first?.entity,
        properties: refusal.obstacles.first?.property.map { [$0] } ?? []
      )
      return ContextError(
        .schemaMismatch,
        "the store was written with other models: "
          + refusal.obstacles.map(\.message).joined(separator: "; "),
        context: context,
        refusal: refusal
      )
    }
    let context = Context(
      entity: first.objectID.entityName,
      objectID: first.objectID,
      properties: first.properties,
      values: first.values
    )
    let rest = refusal.offenderCount == 1 ? "" : ", the first of \(refusal.offenderCount) objects in the way"
    return ContextError(
      first.rule.code,
      "the objects in the store don't fit the models: \(first)\(rest)",
      context: context,
      refusal: refusal
    )
  }
}

extension SchemaRefusal.Offender.Rule {
  fileprivate var code: ContextError.Code {
    switch self {
    case .required: .missingValue
    case .unique, .severalDestinations: .notUnique
    case .keyLength: .indexedValueTooLong
    case .conversion, .otherClass: .wrongValue
    }
  }
}
