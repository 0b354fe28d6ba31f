import Predicates

// Conversions between the catalogue's schema and the plain description that users see.

extension CataloguedSchema {
  /// Makes a catalogue for a store without objects: numbers in the order of the description.
  init(_ schema: Schema) {
    self = SchemaChange(from: CataloguedSchema(), to: schema).target
  }

  /// Returns the description, without numbers.
  ///
  /// - Throws: `SchemaError` if the catalogue holds something that can't be declared.
  func schema() throws(SchemaError) -> Schema {
    try Schema(entities: descriptions)
  }

  /// The descriptions of the entities, which need not make a valid schema.
  var descriptions: [EntityDescription] { entities.map { $0.description(in: self) } }
}

extension CataloguedEntity {
  fileprivate func description(in schema: CataloguedSchema) -> EntityDescription {
    EntityDescription(
      name: name,
      properties: properties.map { $0.description(of: self, in: schema) },
      indexes: indexes.map { index in
        IndexDescription(
          index.properties.compactMap { property($0)?.name },
          isUnique: index.isUnique,
          folding: index.folding
        )
      },
      classes: classes.map(description)
    )
  }
}

extension CataloguedEntity {
  private func description(_ member: CataloguedClass) -> ClassDescription {
    ClassDescription(
      name: member.name,
      parent: member.parent.map { classes[Int($0)].name },
      isAbstract: member.isAbstract,
      properties: member.properties.compactMap { property($0)?.name },
      required: member.required.compactMap { property($0)?.name }
    )
  }
}

extension CataloguedProperty {
  fileprivate func description(
    of entity: CataloguedEntity,
    in schema: CataloguedSchema
  ) -> PropertyDescription {
    switch content {
    case .attribute(let kind, let isOptional):
      var attribute = AttributeDescription(
        name: name,
        kind: kind,
        elementKind: elementKind,
        isOptional: isOptional,
        derivation: derivation?.description(of: entity, in: schema)
      )
      attribute.isRequiredPart = flag(among: entity.properties).map { _ in isRequiredPart }
      if derivation != nil, !isOptional { attribute.insertionDefault = { RecordValue(kind.emptyValue) } }
      return .attribute(attribute)
    case .relationship(let relationship):
      let destination = schema.entity(relationship.destination)
      let inverse = relationship.inverse.flatMap { destination?.property($0) }
      // The members of a one-to-many relationship have their places; the links of a many-to-many have a tree.
      let place = isToMany ? inverse.flatMap { destination?.place(of: $0) } : entity.place(of: self)
      return .relationship(
        RelationshipDescription(
          name: name,
          destination: destination?.name ?? "",
          cardinality: relationship.cardinality,
          inverse: inverse?.name,
          deleteRule: relationship.deleteRule,
          isOrdered: place != nil || relationship.orderTree != nil
        )
      )
    }
  }
}

extension CataloguedDerivation {
  /// Returns a rule that a schema refuses if something is missing.
  fileprivate func description(
    of entity: CataloguedEntity,
    in schema: CataloguedSchema
  ) -> AttributeDerivation {
    guard let relationship = relationship.flatMap(entity.property) else {
      return attribute.flatMap(entity.property).map { AttributeDerivation(.folded($0.name, folding ?? [])) }
        ?? ""
    }
    let members = (relationship.relationship?.destination).flatMap(schema.entity)
    guard let function, let source = attribute.flatMap({ members?.property($0) }) else {
      return attribute == nil ? AttributeDerivation(.count(of: relationship.name)) : ""
    }
    return AttributeDerivation(.aggregate(function, over: relationship.name, of: source.name))
  }
}
