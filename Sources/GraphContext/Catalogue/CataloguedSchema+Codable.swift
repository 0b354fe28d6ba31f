import Predicates

// The form of a schema in the catalogue. Layouts have entries of their own: a schema that changes often has many.

extension CataloguedSchema: Codable {
  private enum CodingKeys: CodingKey { case nextNumber, version, entities }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    nextNumber = try container.decode(UInt32.self, forKey: .nextNumber)
    version = try container.decodeIfPresent(Schema.Version.self, forKey: .version)
    entities = try container.decode([CataloguedEntity].self, forKey: .entities)
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(nextNumber, forKey: .nextNumber)
    try container.encodeIfPresent(version, forKey: .version)
    try container.encode(entities, forKey: .entities)
  }
}

extension CataloguedEntity: Codable {
  private enum CodingKeys: CodingKey { case number, name, firstName, tree, properties, indexes, classes }

  /// Decodes a schema without the layouts.
  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    number = try container.decode(EntityNumber.self, forKey: .number)
    name = try container.decode(String.self, forKey: .name)
    firstName = try container.decodeIfPresent(String.self, forKey: .firstName)
    tree = try container.decode(String.self, forKey: .tree)
    properties = try container.decode([CataloguedProperty].self, forKey: .properties)
    indexes = try container.decode([CataloguedIndex].self, forKey: .indexes)
    layouts = []
    classes = try container.decodeIfPresent([CataloguedClass].self, forKey: .classes) ?? []
  }

  /// Encodes the schema without the layouts.
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(number, forKey: .number)
    try container.encode(name, forKey: .name)
    try container.encodeIfPresent(firstName, forKey: .firstName)
    try container.encode(tree, forKey: .tree)
    try container.encode(properties, forKey: .properties)
    try container.encode(indexes, forKey: .indexes)
    if !classes.isEmpty { try container.encode(classes, forKey: .classes) }
  }
}

extension CataloguedProperty: Codable {
  private enum CodingKeys: CodingKey {
    case number, name, firstName, kind, elementKind, isOptional, absentValue, destination, cardinality,
      inverse, deleteRule, tree, orderTree, derivation, isRequiredPart
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    number = try container.decode(PropertyNumber.self, forKey: .number)
    name = try container.decode(String.self, forKey: .name)
    firstName = try container.decodeIfPresent(String.self, forKey: .firstName)
    absentValue = try container.decodeIfPresent(AttributeValue.self, forKey: .absentValue) ?? .null
    if let kind = try container.decodeIfPresent(AttributeKind.self, forKey: .kind) {
      content = .attribute(kind, isOptional: try container.decode(Bool.self, forKey: .isOptional))
      elementKind = try container.decodeIfPresent(AttributeKind.self, forKey: .elementKind)
      isRequiredPart = try container.decodeIfPresent(Bool.self, forKey: .isRequiredPart) ?? false
      blobTree = try container.decodeIfPresent(String.self, forKey: .tree)
      derivation = try container.decodeIfPresent(CataloguedDerivation.self, forKey: .derivation)
    } else {
      content = .relationship(
        CataloguedRelationship(
          destination: try container.decode(EntityNumber.self, forKey: .destination),
          cardinality: try container.decode(RelationshipDescription.Cardinality.self, forKey: .cardinality),
          inverse: try container.decodeIfPresent(PropertyNumber.self, forKey: .inverse),
          deleteRule: try container.decode(DeleteRule.self, forKey: .deleteRule),
          tree: try container.decodeIfPresent(String.self, forKey: .tree),
          orderTree: try container.decodeIfPresent(String.self, forKey: .orderTree)
        )
      )
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(number, forKey: .number)
    try container.encode(name, forKey: .name)
    try container.encodeIfPresent(firstName, forKey: .firstName)
    if !absentValue.isNull { try container.encode(absentValue, forKey: .absentValue) }
    switch content {
    case .attribute(let kind, let isOptional):
      try container.encode(kind, forKey: .kind)
      try container.encodeIfPresent(elementKind, forKey: .elementKind)
      try container.encode(isOptional, forKey: .isOptional)
      if isRequiredPart { try container.encode(isRequiredPart, forKey: .isRequiredPart) }
      try container.encodeIfPresent(blobTree, forKey: .tree)
      try container.encodeIfPresent(derivation, forKey: .derivation)
    case .relationship(let relationship):
      try container.encode(relationship.destination, forKey: .destination)
      try container.encode(relationship.cardinality, forKey: .cardinality)
      try container.encodeIfPresent(relationship.inverse, forKey: .inverse)
      try container.encode(relationship.deleteRule, forKey: .deleteRule)
      try container.encodeIfPresent(relationship.tree, forKey: .tree)
      try container.encodeIfPresent(relationship.orderTree, forKey: .orderTree)
    }
  }
}
