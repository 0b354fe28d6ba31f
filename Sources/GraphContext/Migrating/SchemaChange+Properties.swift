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

  private mutating func attribute(
    _ attribute: AttributeDescription,
    _ match: SchemaMatching.Property,
    _ entity: SchemaMatching.Entity,
    _ matching: SchemaMatching,
    isEmpty: Bool
  ) -> Continued {
    var result = Continued(
      property: CataloguedProperty(
        number: match.number,
        name: attribute.name,
        content: .attribute(attribute.kind, isOptional: attribute.isOptional),
        elementKind: attribute.elementKind
      )
    )
    result.property.derivation = attribute.derivation.flatMap {
      CataloguedDerivation($0, of: entity, matching)
    }
    let isDerived = result.property.derivation != nil
    if attribute.kind.isExternal {
      result.property.blobTree = match.old?.blobTree ?? TreeKind.blobs.treeName(match.number.rawValue)
    }
    let isPart = entity.flag(of: match) != nil
    result.property.isRequiredPart =
      isPart && attribute.isRequiredPart ?? match.old?.isRequiredPart ?? false
    let isRequired = !attribute.isOptional || result.property.isRequiredPart
    let mayHaveValue = entity.mayHaveValue(with: match)
    let value = value(of: attribute, match, entity)
    guard let old = match.old else {
      if entity.old != nil, mayHaveValue { result.property.absentValue = value }
      if value.isNull, isRequired, mayHaveValue, !isDerived, !isEmpty {
        noteMissingValues(
          of: match,
          in: entity,
          "is new, not optional, and has no default for the objects in the store"
        )
      }
      return result
    }
    guard case .attribute(let kind, let wasOptional) = old.content, old.canContinue(as: match.description)
    else {
      note(
        entity.description.name,
        attribute.name,
        "\(entity.description.name).\(attribute.name) is \(old.typeText) in the store and \(attribute.typeText) in the model"
      )
      return result
    }
    if !isEmpty, let whole = entity.old, entity.isFlag(match) != whole.isFlag(old) {
      note(
        entity.description.name,
        attribute.name,
        "\(entity.description.name).\(attribute.name) is an embedded value in the store"
          + " and a bool in the model, or the reverse"
      )
      return result
    }
    result.property.absentValue = old.absentValue.widened(to: attribute.kind) ?? .null
    let (oldKind, newKind) = (old.elementKind ?? kind, attribute.elementKind ?? attribute.kind)
    result.hasOtherKeys = !oldKind.hasSameKeys(as: newKind)
    if wasOptional, isRequired, !old.isRequiredPart || !attribute.isOptional, !isDerived {
      require(&result, value, entity, isEmpty: isEmpty)
    }
    return result
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
  /// The name of the property's type in messages.
  var typeText: String {
    switch content {
    case .attribute(let kind, _): elementKind.map { "[\($0)]" } ?? "\(kind)"
    case .relationship: "a relationship"
    }
  }
}
