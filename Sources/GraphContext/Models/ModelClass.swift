import Predicates

/// A model class that others inherit from, or that inherits from one: what it declares itself, and its subclasses.
///
/// A root's ``ModelDescription`` is made of its model class, and all of its subclasses share it.
public struct ModelClass: Sendable {
  let type: any ManagedObject.Type
  /// What the class declares, without what it inherits.
  let declared: EntityDescription
  let isAbstract: Bool
  let subclasses: [ModelClass]

  /// - Parameters:
  ///   - type: the class.
  ///   - declared: what the class declares itself, named after it.
  ///   - isAbstract: whether only subclasses have objects.
  ///   - subclasses: the classes that inherit from it directly.
  public init(
    _ type: any ManagedObject.Type,
    _ declared: EntityDescription,
    isAbstract: Bool = false,
    subclasses: [ModelClass] = []
  ) {
    self.type = type
    self.declared = declared
    self.isAbstract = isAbstract
    self.subclasses = subclasses
  }

  /// What is wrong with the indexes: objects of other classes have nil in what the class declares itself, and values in what it inherits.
  var indexProblems: [String] {
    let own = Set(declared.properties.map(\.name))
    return declared.indexes.filter { !own.isSuperset(of: $0.properties) }.map {
      "the index \($0.name) of \(declared.name) is over properties that the class doesn't declare itself"
    }
  }

  /// The class and all below it, each after its parent, with the parent's name.
  func withDescendants(parent: String? = nil) -> [(class: ModelClass, parent: String?)] {
    [(self, parent)] + subclasses.flatMap { $0.withDescendants(parent: declared.name) }
  }

  /// The one entity of the class, which is a root, and of those below it.
  var entity: EntityDescription {
    let classes = withDescendants()
    return EntityDescription(
      name: declared.name,
      properties: classes.flatMap { member, parent in
        member.declared.declaredProperties.map { parent == nil ? $0 : $0.optional }
      },
      indexes: classes.flatMap(\.class.declared.declaredIndexes),
      originalName: declared.originalName,
      classes: classes.map { member, parent in
        let properties = member.declared.declaredProperties
        return ClassDescription(
          name: member.declared.name,
          parent: parent,
          isAbstract: member.isAbstract,
          properties: properties.map(\.name),
          required: parent == nil ? [] : properties.filter(\.isRequired).map(\.name)
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

/// Where the properties that a class declares itself are among those of its hierarchy.
public struct OwnProperties: Sendable {
  /// By the place among the class's own: attributes and to-one relationships, places, to-many relationships.
  private let places: [Int]
  /// The other way round; -1 for what the class doesn't declare.
  private let own: [Int]
  /// The to-many relationships among ``places``, as their ordinals in the hierarchy.
  private let ordinals: [Int]

  init(_ places: [Int], count: Int, slotCount: Int) {
    self.places = places
    ordinals = places.filter { $0 >= slotCount }.map { $0 - slotCount }
    var own = [Int](repeating: -1, count: count)
    for (place, property) in places.enumerated() { own[property] = place }
    self.own = own
  }

  /// The property at a place among the class's own: what `_$visit` calls it. O(1).
  public subscript(place: Int) -> Int { places[place] }

  /// The ordinal in the hierarchy of one of the class's own to-many relationships. O(1).
  public func ordinal(_ place: Int) -> Int { ordinals[place] }

  /// The place of a property among the class's own; -1 for what another class declares. O(1).
  public func place(of property: Int) -> Int { own[property] }
}

extension ModelDescription {
  /// The classes of the hierarchy, or the one class where there is none.
  func types(or type: any ManagedObject.Type) -> [any ManagedObject.Type] {
    classes.isEmpty ? [type] : classes.map(\.type)
  }
}
