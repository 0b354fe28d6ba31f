import Predicates

// Properties: those that continue unchanged, those that are read in another way, and those that can't continue.

extension SchemaChange {
  /// A property of the target.
  struct Continued {
    var property: CataloguedProperty
    /// The value that is read for nil in the existing records; nil if that is nil, too.
    var nilValue: AttributeValue?
    /// True if indexes of the property need other entries.
    var hasOtherKeys = false
  }

  mutating func property(
    _ match: SchemaMatching.Property,
    _ entity: SchemaMatching.Entity,
    _ matching: SchemaMatching,
    isEmpty: Bool
  ) -> Continued {
    var continued =
      switch match.description {
      case .attribute(let attribute): self.attribute(attribute, match, entity, matching, isEmpty: isEmpty)
      case .relationship(let relationship):
        self.relationship(relationship, match, entity, matching, isEmpty: isEmpty)
      }
    continued.property.keepFirstName(of: match.old)
    return continued
  }

  // MARK: Attributes

  private mutating func attribute(
    _ attribute: AttributeDescription,
    _ match: SchemaMatching.Property,
    _ entity: SchemaMatching.Entity,
    _ matching: SchemaMatching,
    isEmpty: Bool
  ) -> Continued {
    var result = Continued(property: CataloguedProperty(attribute, match, of: entity, matching))
    if let old = match.old {
      carryOn(old, as: attribute, match, entity, &result, isEmpty: isEmpty)
    } else {
      begin(attribute, match, entity, &result, isEmpty: isEmpty)
    }
    return result
  }

  /// Sets the value that a new attribute has in the objects of the store, or notes that there is none.
  private mutating func begin(
    _ attribute: AttributeDescription,
    _ match: SchemaMatching.Property,
    _ entity: SchemaMatching.Entity,
    _ result: inout Continued,
    isEmpty: Bool
  ) {
    guard entity.mayHaveValue(with: match) else { return }
    let value = value(of: attribute, match, entity)
    if entity.old != nil { result.property.absentValue = value }
    if value.isNull, result.property.needsValue, !isEmpty {
      noteMissingValues(
        of: match,
        in: entity,
        "is new, not optional, and has no default for the objects in the store"
      )
    }
  }

  /// Sets how the values of an attribute of the store are read from now on, or notes why they can't be.
  private mutating func carryOn(
    _ old: CataloguedProperty,
    as attribute: AttributeDescription,
    _ match: SchemaMatching.Property,
    _ entity: SchemaMatching.Entity,
    _ result: inout Continued,
    isEmpty: Bool
  ) {
    let names = (entity: entity.description.name, attribute: attribute.name)
    guard case .attribute(let kind, let wasOptional) = old.content, old.canContinue(as: match.description)
    else {
      note(
        names.entity,
        names.attribute,
        "\(names.entity).\(names.attribute) is \(old.typeText) in the store and \(attribute.typeText) in the model"
      )
      return
    }
    if !isEmpty, let whole = entity.old, entity.isFlag(match) != whole.isFlag(old) {
      note(
        names.entity,
        names.attribute,
        "\(names.entity).\(names.attribute) is an embedded value in the store"
          + " and a bool in the model, or the reverse"
      )
      return
    }
    result.property.absentValue = old.absentValue.widened(to: attribute.kind) ?? .null
    let (oldKind, newKind) = (old.elementKind ?? kind, attribute.elementKind ?? attribute.kind)
    result.hasOtherKeys = !oldKind.hasSameKeys(as: newKind)
    if wasOptional, result.property.needsValue, !old.isRequiredPart || !attribute.isOptional {
      require(&result, value(of: attribute, match, entity), entity, isEmpty: isEmpty)
    }
  }

  /// Returns the value of an attribute for the objects of the store that have none. For a part of an embedded value
  /// that may be nil, it is the value for objects whose embedded value isn't nil.
  private func value(
    of attribute: AttributeDescription,
    _ match: SchemaMatching.Property,
    _ entity: SchemaMatching.Entity
  ) -> AttributeValue {
    if entity.wasAlwaysThere(match) { return .bool(true) }
    return (attribute.partDefault ?? attribute.defaultValue)?.stored(as: attribute.kind) ?? .null
  }

  /// Handles a property that could be nil and must not be nil any more.
  private mutating func require(
    _ result: inout Continued,
    _ value: AttributeValue,
    _ entity: SchemaMatching.Entity,
    isEmpty: Bool
  ) {
    if isEmpty { return }
    guard !value.isNull else {
      checks.append(.noNil(entity: entity.number, result.property.number))
      return
    }
    if result.property.absentValue.isNull { result.property.absentValue = value }
    result.nilValue = value
    result.hasOtherKeys = true
  }

  // MARK: Relationships

  private mutating func relationship(
    _ relationship: RelationshipDescription,
    _ match: SchemaMatching.Property,
    _ entity: SchemaMatching.Entity,
    _ matching: SchemaMatching,
    isEmpty: Bool
  ) -> Continued {
    let destination = matching.entity(named: relationship.destination)
    let inverse = relationship.inverse.flatMap { destination?.property(named: $0) }
    let end = LinkEnd(match, inverse, relationship, of: entity, matching)
    let hasLinks = !isEmpty && destination?.isEmpty == false
    let tree = tree(of: end, isEmpty: isEmpty, hasLinks: hasLinks)
    var result = Continued(
      property: CataloguedProperty(
        number: match.number,
        name: relationship.name,
        content: .relationship(
          CataloguedRelationship(
            destination: destination?.number ?? entity.number,
            cardinality: relationship.cardinality,
            inverse: inverse?.number,
            deleteRule: relationship.deleteRule,
            tree: tree,
            orderTree: orderTree(of: end, tree, hasLinks: hasLinks)
          )
        )
      )
    )
    if let old = match.old?.relationship {
      if old.destination != destination?.number, !isEmpty {
        let known = self.old.entity(old.destination)?.name ?? "nothing"
        end.note(in: &self, "leads to \(known) in the store and to \(relationship.destination) in the model")
      }
      if old.cardinality == .optional, relationship.cardinality == .required {
        require(&result, .null, entity, isEmpty: isEmpty)
      }
    } else if match.old != nil {
      end.note(in: &self, "is an attribute in the store and a relationship in the model")
    } else if relationship.cardinality == .required, !isEmpty, newInverses.last?.property != match.number {
      noteMissingValues(
        of: match,
        in: entity,
        "is new and required, and the objects in the store have no value for it"
      )
    }
    return result
  }
}

extension CataloguedProperty {
  /// Makes the entry of an attribute, without values for the objects of the store.
  fileprivate init(
    _ attribute: AttributeDescription,
    _ match: SchemaMatching.Property,
    of entity: SchemaMatching.Entity,
    _ matching: SchemaMatching
  ) {
    self.init(
      number: match.number,
      name: attribute.name,
      content: .attribute(attribute.kind, isOptional: attribute.isOptional),
      elementKind: attribute.elementKind
    )
    derivation = attribute.derivation.flatMap { CataloguedDerivation($0, of: entity, matching) }
    if attribute.kind.isExternal {
      blobTree = match.old?.blobTree ?? TreeKind.blobs.treeName(match.number.rawValue)
    }
    let isPart = entity.flag(of: match) != nil
    isRequiredPart = isPart && attribute.isRequiredPart ?? match.old?.isRequiredPart ?? false
  }

  /// True if programs have to give the attribute a value; for a part of an embedded value that may be nil, in objects
  /// with that value.
  fileprivate var needsValue: Bool { derivation == nil && (!isOptional || isRequiredPart) }

  /// The name of the property's type in messages.
  var typeText: String {
    switch content {
    case .attribute(let kind, _): elementKind.map { "[\($0)]" } ?? "\(kind)"
    case .relationship: "a relationship"
    }
  }
}
