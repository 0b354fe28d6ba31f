import Predicates

/// The names of the entities and properties of an old catalogue in a new one of the same store. They are matched by
/// number, which never changes.
struct SchemaRenaming {
  /// The old names of entities, by their new names.
  private var origins: [String: String] = [:]
  /// The new names of entities, by their old names.
  private var newNames: [String: String] = [:]
  /// The old names of properties, by the new names of entity and property.
  private var propertyOrigins: [String: [String: String]] = [:]
  /// The new names of properties, by the old names of entity and property.
  private var newPropertyNames: [String: [String: String]] = [:]
  /// The old names of classes, by the new names of entity and class.
  private var classOrigins: [String: [String: String]] = [:]
  /// The new names of classes, by the old names of entity and class.
  private var newClassNames: [String: [String: String]] = [:]

  /// Makes the renaming between two catalogues. O(entities and properties).
  init(from old: CataloguedSchema, to new: CataloguedSchema) {
    let known = old.entities.dictionary(by: \.number)
    for entity in new.entities {
      guard let origin = known[entity.number] else { continue }
      origins[entity.name] = origin.name
      newNames[origin.name] = entity.name
      let knownProperties = origin.properties.dictionary(by: \.number)
      for property in entity.properties {
        guard let before = knownProperties[property.number] else { continue }
        propertyOrigins[entity.name, default: [:]][property.name] = before.name
        newPropertyNames[origin.name, default: [:]][before.name] = property.name
      }
      let knownClasses = origin.classes.dictionary(by: \.tag)
      for member in entity.classes {
        guard let before = knownClasses[member.tag] else { continue }
        classOrigins[entity.name, default: [:]][member.name] = before.name
        newClassNames[origin.name, default: [:]][before.name] = member.name
      }
    }
  }

  /// Returns the old name of an entity; nil for a new one.
  func origin(of entity: String) -> String? { origins[entity] }

  /// Returns the new name of an old entity; nil for a removed one.
  func newName(of entity: String) -> String? { newNames[entity] }

  /// Returns the old name of a property; nil for a new one.
  func origin(of property: String, in entity: String) -> String? { propertyOrigins[entity]?[property] }

  /// Returns the new name of an old property; nil for a removed one.
  func newName(of property: String, in entity: String) -> String? { newPropertyNames[entity]?[property] }

  /// Returns the old name of a class of an entity; nil for a new one.
  func origin(ofClass name: String, in entity: String) -> String? { classOrigins[entity]?[name] }

  /// Returns the new name of a class of an old entity; nil for a removed one.
  func newName(ofClass name: String, in entity: String) -> String? { newClassNames[entity]?[name] }

  /// Returns a rule of an old entity, with the new names of the properties in it.
  func renamed(_ derivation: AttributeDerivation, of entity: EntityDescription) -> AttributeDerivation {
    func name(_ property: String, _ entity: String) -> String {
      newName(of: property, in: entity) ?? property
    }
    switch derivation.form {
    case .folded(let source, let folding):
      return AttributeDerivation(.folded(name(source, entity.name), folding))
    case .count(let relationship): return AttributeDerivation(.count(of: name(relationship, entity.name)))
    case .aggregate(let function, let relationship, let source):
      let members = entity.relationships.first { $0.name == relationship }?.destination ?? ""
      return AttributeDerivation(
        .aggregate(function, over: name(relationship, entity.name), of: name(source, members))
      )
    case nil: return derivation
    }
  }
}

extension CataloguedSchema {
  /// Returns whether the other schema may be a later state of this one in the same store. Elements with one number in
  /// both had the same first name, and each layout that both know has the same fields. Two copies of a store that were
  /// changed in different ways have given the same numbers to different entities, properties and classes.
  package func canBecome(_ other: CataloguedSchema) -> Bool {
    let later = other.entities.dictionary(by: \.number)
    return nextNumber <= other.nextNumber
      && entities.allSatisfy { entity in
        guard let after = later[entity.number] else { return true }
        return entity.hasStates(in: after) && entity.layouts.count <= after.layouts.count
          && zip(entity.layouts, after.layouts).allSatisfy { $0.hasFields(of: $1) }
      }
  }

  /// Returns the description of the schema. The original name of each element is its name in `old`. The
  /// default of an attribute is the value that objects got when the attribute was added.
  ///
  /// - Throws: `SchemaError` if the catalogue holds something that can't be declared, or if several changes have
  ///   exchanged names, or used a name again.
  package func schema(following old: CataloguedSchema) throws(SchemaError) -> Schema {
    let renaming = SchemaRenaming(from: old, to: self)
    let known = entitiesByName
    var entities = try schema().entities
    for place in entities.indices {
      let entity = entities[place]
      let properties = known[entity.name]?.propertiesByName ?? [:]
      entities[place].originalName = renaming.origin(of: entity.name)
      for member in entity.classes.indices.dropFirst() {
        let origin = renaming.origin(ofClass: entity.classes[member].name, in: entity.name)
        entities[place].classes[member].originalName = origin
      }
      entities[place].properties = entity.properties.map { property in
        let origin = renaming.origin(of: property.name, in: entity.name)
        return property.with(
          originalName: origin,
          absentValue: properties[property.name]?.absentValue ?? .null
        )
      }
    }
    let schema = try Schema(entities: entities)
    let followed = SchemaRenaming(from: old, to: SchemaChange(from: old, to: schema).target)
    let problems = renaming.names(of: old, thatDifferIn: followed)
    if !problems.isEmpty { throw SchemaError(problems: problems) }
    return schema
  }
}

extension SchemaRenaming {
  /// Returns a sentence for each old name whose new name in the other renaming is a different one: names were
  /// exchanged, or used again.
  fileprivate func names(of old: CataloguedSchema, thatDifferIn other: SchemaRenaming) -> [String] {
    func problem(_ name: String, _ new: String?, _ found: String?) -> [String] {
      if new == found { return [] }
      return [
        "\(name) is \(new ?? "removed") in the copy, and names were exchanged or used again:"
          + " give one copy for each step"
      ]
    }
    return old.entities.flatMap { entity in
      problem(entity.name, newName(of: entity.name), other.newName(of: entity.name))
        + entity.properties.flatMap { property in
          problem(
            "\(entity.name).\(property.name)",
            newName(of: property.name, in: entity.name),
            other.newName(of: property.name, in: entity.name)
          )
        }
        + entity.classes.dropFirst().flatMap { member in
          problem(
            member.name,
            newName(ofClass: member.name, in: entity.name),
            other.newName(ofClass: member.name, in: entity.name)
          )
        }
    }
  }
}

extension CataloguedEntity {
  /// Returns whether an entity with the same number, and its properties and classes with the same numbers, may be
  /// later states of this entity and of its own.
  fileprivate func hasStates(in later: CataloguedEntity) -> Bool {
    let laterProperties = later.properties.dictionary(by: \.number)
    return isState(of: later)
      && properties.allSatisfy { laterProperties[$0.number]?.isState(of: $0) ?? true }
      // The root has the name of the entity.
      && zip(classes, later.classes).dropFirst().allSatisfy { $0.isState(of: $1) }
  }
}

extension CataloguedLayout {
  fileprivate func hasFields(of other: CataloguedLayout) -> Bool {
    fields.elementsEqual(other.fields) { $0.property == $1.property && $0.kind == $1.kind }
  }
}

extension PropertyDescription {
  fileprivate func with(originalName: String?, absentValue: AttributeValue) -> PropertyDescription {
    switch self {
    case .attribute(var attribute):
      attribute.originalName = originalName
      let value = absentValue.isNull || attribute.derivation != nil ? nil : absentValue
      if attribute.isRequiredPart == nil {
        attribute.defaultValue = value
      } else {
        attribute.partDefault = value
      }
      return .attribute(attribute)
    case .relationship(var relationship):
      relationship.originalName = originalName
      return .relationship(relationship)
    }
  }
}
