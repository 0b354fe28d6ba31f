import Predicates

/// The contents of a wrapper of a to-one relationship.
struct ToOneContents<Target: ManagedObject> {
  /// The slot.
  var place = 0
  var reference = ToOneReference<Target>()
  let declaration: FieldDeclaration?

  /// Declares a relationship. Each object makes its wrappers anew, so nothing is computed of a declaration that isn't
  /// kept.
  ///
  /// - Parameters:
  ///   - cardinality: `.optional` or `.required`.
  ///   - entity: the name of the entity at the other end.
  ///   - inverse: the relationship that leads back, where its name isn't known yet.
  ///   - inverseName: the name of the relationship that leads back, where it is known.
  @inline(__always)
  init(
    _ cardinality: RelationshipDescription.Cardinality,
    to entity: @autoclosure () -> String = Target.entityName,
    _ options: [RelationshipOption] = [],
    deleteRule: DeleteRule = .nullify,
    inverse: @autoclosure () -> FieldDeclaration.Inverse = .unnamed,
    inverseName: String? = nil,
    originalName: String? = nil
  ) {
    declaration = FieldDeclaration.ofRelationship(
      .relationship(
        RelationshipDescription(
          name: "",
          destination: entity(),
          cardinality: cardinality,
          inverse: inverseName,
          deleteRule: deleteRule,
          isOrdered: options.contains(.ordered),
          originalName: originalName
        )
      ),
      inverse: inverse()
    )
  }
}

/// A wrapper of a to-one relationship: ``RequiredLink`` or ``ToOneLink``, which differ in the type of their property.
protocol ToOneField: StoredField {
  associatedtype Target: ManagedObject
  var contents: ToOneContents<Target> { get set }
}

// Inlined into the members of the two wrappers, so that they access the contents in place.
extension ToOneField {
  static var isToMany: Bool { false }
  var declaration: FieldDeclaration? { contents.declaration }

  @inline(__always)
  mutating func visit<Visitor: PropertyVisitor>(_ visitor: inout Visitor) {
    visitor.visit(toOne: contents.place, &contents.reference)
  }

  /// Sets the relationship of an object.
  @inline(__always)
  static func assign<Owner: StoredObject>(
    _ target: Target?,
    to object: Owner,
    _ storage: ReferenceWritableKeyPath<Owner, Self>
  ) {
    let place = object[keyPath: storage].contents.place
    object._$willSetToOne(target)
    object.loadNumber(place, &object[keyPath: storage].contents.reference)
    // Observers may read the property before it changes, so nothing accesses it meanwhile.
    var reference = object[keyPath: storage].contents.reference
    let change = object._$setToOne(place, &reference, target)
    object[keyPath: storage].contents.reference = reference
    object._$didSetToOne(place, change)
  }
}
