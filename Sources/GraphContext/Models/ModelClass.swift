import Predicates

/// A model class in a hierarchy: its own declarations, and its subclasses.
///
/// A root's ``ModelDescription`` is made of its model class, and all of its subclasses share it.
public struct ModelClass: Sendable {
  let type: any ManagedObject.Type
  /// The properties and indexes that the class declares itself, without its embedded values.
  let declared: EntityDescription
  /// The properties with embedded values that it declares.
  let embedded: [EmbeddedDescription]
  let isAbstract: Bool
  let subclasses: [ModelClass]

  /// - Parameters:
  ///   - type: the class.
  ///   - declared: the class's own declarations, as an entity that is named after it, without the properties that have
  ///     embedded values.
  ///   - embedded: the properties with embedded values that it declares itself.
  ///   - isAbstract: whether only subclasses have objects.
  ///   - subclasses: the classes that inherit from it directly.
  public init(
    _ type: any ManagedObject.Type,
    _ declared: EntityDescription,
    embedding embedded: [EmbeddedDescription] = [],
    isAbstract: Bool = false,
    subclasses: [ModelClass] = []
  ) {
    self.type = type
    self.declared = declared
    self.embedded = embedded
    self.isAbstract = isAbstract
    self.subclasses = subclasses
  }

  /// The declarations of the class. The parts of embedded values come behind other properties.
  private var declaredProperties: [PropertyDescription] {
    declared.declaredProperties + embedded.flatMap(\.attributes)
  }

  /// The problems of the indexes. Objects of other classes have nil in the properties that the class declares itself,
  /// and values in those that it inherits.
  var indexProblems: [String] {
    let own = Set((declared.properties + embedded.flatMap(\.attributes)).map(\.name))
    return declared.indexes.filter { !own.isSuperset(of: $0.properties) }.map {
      "the index \($0.name) of \(declared.name) is over properties that the class doesn't declare itself"
    }
  }

  /// Returns the class and all below it, each after its parent, with the parent's name.
  func withDescendants(parent: String? = nil) -> [(class: ModelClass, parent: String?)] {
    [(self, parent)] + subclasses.flatMap { $0.withDescendants(parent: declared.name) }
  }

  /// The one entity of the class, which is a root, and of those below it.
  var entity: EntityDescription {
    let classes = withDescendants()
    return EntityDescription(
      name: declared.name,
      properties: classes.flatMap { member, parent in
        member.declaredProperties.map { parent == nil ? $0 : $0.optional }
      },
      indexes: classes.flatMap(\.class.declared.declaredIndexes),
      originalName: declared.originalName,
      classes: classes.map { member, parent in
        let properties = member.declaredProperties
        return ClassDescription(
          name: member.declared.name,
          parent: parent,
          isAbstract: member.isAbstract,
          properties: properties.map(\.name),
          required: parent == nil ? [] : properties.filter(\.isRequired).map(\.name),
          originalName: parent == nil ? nil : member.declared.originalName
        )
      },
      shorthands: classes.flatMap(\.class.declared.shorthands)
    )
  }
}

extension PropertyDescription {
  /// The property for an entity that has objects without it.
  fileprivate var optional: PropertyDescription {
    switch self {
    case .attribute(var attribute):
      attribute.isOptional = true
      return .attribute(attribute)
    case .relationship(var relationship):
      if relationship.cardinality == .required { relationship.cardinality = .optional }
      return .relationship(relationship)
    }
  }

  fileprivate var isRequired: Bool {
    switch self {
    case .attribute(let attribute): !attribute.isOptional
    case .relationship(let relationship): relationship.cardinality == .required
    }
  }
}

/// The positions of a class's own properties among the properties of its hierarchy.
public struct OwnProperties: Sendable {
  /// The properties, by their position among the class's own: attributes and to-one relationships, places, to-many
  /// relationships.
  private let places: [Int]
  /// The reverse of ``places``; -1 for properties that the class doesn't declare.
  private let own: [Int]
  /// The to-many relationships among ``places``, as their ordinals in the hierarchy.
  private let ordinals: [Int]
  /// The slots of the parts of each of the class's own embedded values.
  private let parts: [Range<Int>]
  /// The ordinal in the hierarchy of the first of these values.
  private let firstEmbedded: Int

  /// - Parameters:
  ///   - places: the properties, without embedded values, by their position among the class's own.
  ///   - count: the number of the hierarchy's properties.
  ///   - slotCount: the number of those properties that have slots.
  ///   - parts: the slots of the parts of each of the class's own embedded values.
  ///   - firstEmbedded: the ordinal in the hierarchy of the first of these values.
  init(_ places: [Int], count: Int, slotCount: Int, parts: [Range<Int>], firstEmbedded: Int) {
    self.places = places
    self.parts = parts
    self.firstEmbedded = firstEmbedded
    ordinals = places.filter { $0 >= slotCount }.map { $0 - slotCount }
    var own = [Int](repeating: -1, count: count)
    for (place, property) in places.enumerated() { own[property] = place }
    self.own = own
  }

  /// Returns the property at a position among the class's own: its number for `_$visit`. O(1).
  public subscript(place: Int) -> Int { places[place] }

  /// Returns the ordinal in the hierarchy of one of the class's own to-many relationships. O(1).
  public func ordinal(_ place: Int) -> Int { ordinals[place] }

  /// Returns the ordinal in the hierarchy of one of the class's own embedded values. O(1).
  public func embedded(_ place: Int) -> Int { firstEmbedded + place }

  /// Returns the position of the class's own embedded value that has a part at a slot, and the number of the part; nil
  /// for another property. O(embedded values).
  public func part(at slot: Int) -> (place: Int, part: Int)? {
    parts.firstIndex { $0.contains(slot) }.map { ($0, slot - parts[$0].lowerBound) }
  }

  /// Returns the position of a property among the class's own; -1 for a part of an embedded value, and for a property
  /// that another class declares. O(1).
  public func place(of property: Int) -> Int { own[property] }
}

extension ModelDescription {
  /// The mistakes in the lists of subclasses: a class's direct superclass must list it.
  var superclassProblems: [String] {
    classes.indices.flatMap { place in
      classes.indices.filter { other in
        other != place && Self.inherits(classes[place].type, from: classes[other].type)
          && !entity.isClass(entity.classes[place], oneOf: entity.classes[other])
      }.map { other in
        "\(entity.classes[place].name) inherits from \(entity.classes[other].name), which doesn't list it among its subclasses"
      }
    }
  }

  /// Returns the problem of a class that is listed with its hierarchy, but not by its superclass; empty if the
  /// superclass lists it.
  func problems(ofListed model: any ManagedObject.Type) -> [String] {
    if classes.isEmpty || classes.contains(where: { $0.type == model }) { return [] }
    return ["\(model) inherits from a class of \(entity.name), which doesn't list it among its subclasses"]
  }

  private static func inherits<Superclass: ManagedObject>(
    _ type: any ManagedObject.Type,
    from superclass: Superclass.Type
  ) -> Bool { type is Superclass.Type }

  /// Returns the classes of the hierarchy, or the one class where there is no hierarchy.
  func types(or type: any ManagedObject.Type) -> [any ManagedObject.Type] {
    classes.isEmpty ? [type] : classes.map(\.type)
  }
}
