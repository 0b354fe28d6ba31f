import Predicates

/// All problems of a set of models.
public struct SchemaError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The problems: a sentence each, which names the entity and the property.
  public let problems: [String]

  /// Makes an error from sentences.
  public init(problems: [String]) { self.problems = problems }

  /// The problems, a line each.
  public var description: String { problems.joined(separator: "\n") }
}

extension Schema {
  /// Returns every reason why these entities are no schema.
  static func problems(in entities: [EntityDescription]) -> [String] {
    var problems: [String] = []
    let names = entities.flatMap { $0.classes.isEmpty ? [$0.name] : $0.classes.map(\.name) }
    for name in duplicates(in: names) { problems.append("two models are named \(name)") }
    for entity in entities { problems += classProblems(of: entity) }
    problems += originalNameProblems(of: entities.map { ($0.name, $0.name, $0.originalName) })
    for entity in entities {
      problems += originalNameProblems(of: entity.classes.map { ($0.name, $0.name, $0.originalName) })
    }
    let found = SchemaNames(entities)
    for (entity, own) in zip(entities, found.entities) {
      problems += nameProblems(of: entity)
      problems += indexProblems(of: entity, own)
      for relationship in entity.relationships {
        problems += self.problems(of: relationship, of: entity, found)
      }
      problems += placeProblems(of: entity)
      problems += derivationProblems(of: entity, found)
      problems += shorthandProblems(of: entity, found)
      if own.storedProperties.count > ObjectState.maximumSlotCount {
        problems.append(
          "\(entity.name) has \(own.storedProperties.count) attributes and to-one relationships; "
            + "\(ObjectState.maximumSlotCount) are possible"
        )
      }
    }
    return problems
  }

  private static func nameProblems(of entity: EntityDescription) -> [String] {
    var problems: [String] = []
    if !isName(entity.name) { problems.append("\"\(entity.name)\" is no name for an entity") }
    for property in entity.declaredProperties where !isName(property) {
      problems.append("\"\(property.name)\" is no name for a property of \(entity.name)")
    }
    let names = entity.properties.map(\.name)
    for name in duplicates(in: names) { problems.append("\(entity.name) has two properties named \(name)") }
    for attribute in entity.attributes {
      guard let kind = attribute.elementKind, attribute.kind != .coded || !kind.isElementKind else {
        continue
      }
      problems.append("\(entity.name).\(attribute.name) can't have elements of the kind \(kind)")
    }
    return problems + partProblems(of: entity) + defaultProblems(of: entity) + ruleProblems(of: entity)
      + historyProblems(of: entity)
      + originalNameProblems(
        of: entity.declaredProperties.map { ("\(entity.name).\($0.name)", $0.name, $0.originalName) }
      )
  }

  private static func indexProblems(of entity: EntityDescription, _ names: EntityNames) -> [String] {
    var problems: [String] = []
    for name in duplicates(in: entity.indexes.map(\.name)) {
      problems.append("\(entity.name) has two indexes over \(name); a unique one serves queries too")
    }
    for index in entity.indexes {
      if index.properties.isEmpty { problems.append("an index of \(entity.name) has no properties") }
      if !index.folding.isEmpty, !index.properties.contains(where: { names.isString($0) }) {
        problems.append("the index \(index.name) of \(entity.name) folds strings, and has none")
      }
      for name in duplicates(in: index.properties) {
        problems.append("an index of \(entity.name) has \(name) twice")
      }
      for name in index.properties {
        guard let property = names.property(named: name) else {
          problems.append("an index of \(entity.name) has \(name), which is none of its properties")
          continue
        }
        if property.isToMany {
          problems.append("an index of \(entity.name) has \(name), which is a to-many relationship")
        } else if case .attribute(let attribute) = property, attribute.elementKind != nil {
          problems += elementProblems(of: index, name, entity)
        } else if !property.storedKind.isComparable {
          problems.append(
            "an index of \(entity.name) has \(name), which is \(property.storedKind.noun): such values aren't compared"
          )
        }
      }
    }
    return problems
  }

  private static func elementProblems(
    of index: IndexDescription,
    _ list: String,
    _ entity: EntityDescription
  ) -> [String] {
    if index.isUnique {
      return ["an index of \(entity.name) with the list \(list) can't be unique"]
    }
    return index.properties.first == list
      ? []
      : ["an index of \(entity.name) has the list \(list) behind other properties; it can only be the first"]
  }

  private static func problems(
    of relationship: RelationshipDescription,
    of entity: EntityDescription,
    _ names: SchemaNames
  ) -> [String] {
    let name = "\(entity.name).\(relationship.name)"
    guard let destination = names.entity(named: relationship.destination)?.description else {
      return ["\(name) leads to \(relationship.destination), which is not among the models"]
    }
    guard let inverseName = relationship.inverse else {
      return relationship.isOrdered
        ? [
          "\(name) is ordered, but has no to-many inverse: only to-many relationships have an order"
        ]
        : []
    }
    guard
      case .relationship(let inverse)? = names.entity(named: destination.name)?.property(named: inverseName)
    else {
      return ["\(name) names \(destination.name).\(inverseName) as its inverse, which is no relationship"]
    }
    if inverse.destination != entity.name {
      return [
        "\(name) names \(destination.name).\(inverseName) as its inverse, which leads to \(inverse.destination)"
      ]
    }
    if inverse.inverse != relationship.name {
      return [
        "\(name) names \(destination.name).\(inverseName) as its inverse, "
          + "whose own inverse is \(inverse.inverse ?? "none")"
      ]
    }
    if relationship.isOrdered {
      let problems = orderProblems(
        of: relationship,
        named: name,
        inverse,
        named: "\(destination.name).\(inverseName)"
      )
      if !problems.isEmpty { return problems }
    }
    let isRequired =
      inverse.cardinality == .required || destination.isRequiredOfSomeClass(inverse.name)
    if isRequired, relationship.deleteRule == .nullify {
      return [
        "\(name) can't nullify: \(destination.name).\(inverseName) is required; use cascade or deny"
      ]
    }
    return []
  }

  /// Returns the problems of an ordered relationship. Where both ends are to many, each has an order of its own or
  /// none. Where one is to one, both say that the relationship is ordered; this is said once, of the end that is
  /// ordered.
  private static func orderProblems(
    of relationship: RelationshipDescription,
    named name: String,
    _ inverse: RelationshipDescription,
    named inverseName: String
  ) -> [String] {
    if !relationship.isToMany, !inverse.isToMany {
      return ["\(name) can't be ordered: neither it nor its inverse \(inverseName) leads to many objects"]
    }
    if relationship.isToMany, inverse.isToMany {
      return name == inverseName ? ["\(name) can't be ordered: it is its own inverse"] : []
    }
    return inverse.isOrdered
      ? []
      : [
        "\(name) is ordered, and its inverse \(inverseName) is not: both ends must be marked as ordered"
      ]
  }

  private static func placeProblems(of entity: EntityDescription) -> [String] {
    entity.properties.compactMap(\.attribute).filter { $0.kind == .place }.compactMap { place in
      let isNeeded = entity.relationships.contains {
        $0.isOrdered && !$0.isToMany && $0.placeName == place.name
      }
      return isNeeded && place.isOptional
        ? nil : "\(entity.name).\(place.name) is a place that belongs to no ordered relationship"
    }
  }

  private static func defaultProblems(of entity: EntityDescription) -> [String] {
    entity.attributes.compactMap { attribute in
      guard let value = attribute.defaultValue else { return nil }
      var encoder = RecordEncoder(layout: RecordLayout(kinds: [attribute.kind]))
      encoder.begin()
      if !value.isNull, encoder.set(value, at: 0) { return nil }
      return "the default of \(entity.name).\(attribute.name) is no \(attribute.kind)"
    }
  }

  private static func ruleProblems(of entity: EntityDescription) -> [String] {
    entity.attributes.flatMap { attribute in
      attribute.rules.compactMap { rule in
        rule.problem(for: attribute.kind).map { "\(entity.name).\(attribute.name) has \($0)" }
      }
    }
  }

  private static func historyProblems(of entity: EntityDescription) -> [String] {
    entity.attributes.filter { $0.preservesValueOnDeletion && $0.kind.isExternal }.map {
      "the history can't keep values of \(entity.name).\($0.name), which are stored externally"
    }
  }

  /// Returns the problems of the earlier names of entities, or of the properties of one entity: each must lead from one
  /// old element to one new one. An original name that is the present one has no meaning.
  private static func originalNameProblems(
    of renamed: [(path: String, name: String, originalName: String?)]
  ) -> [String] {
    var owners: [String: String] = [:]
    var problems: [String] = []
    for (path, name, originalName) in renamed {
      guard let originalName, originalName != name else { continue }
      let words = originalName.split(separator: ".", omittingEmptySubsequences: false)
      let isTooLong = words.count > 1 && !name.contains(".")
      if isTooLong || !words.allSatisfy({ isName(String($0)) }) {
        problems.append("\"\(originalName)\" is no original name for \(path)")
      } else if let owner = owners.updateValue(path, forKey: originalName) {
        problems.append("\(owner) and \(path) have the same original name, \(originalName)")
      }
    }
    return problems
  }

  /// Returns whether a property has a valid name. Names are Swift identifiers in ASCII or beyond; they also name trees
  /// and stand in URIs and format strings. An attribute may have a name of several words with points between them: it
  /// is a part of an embedded value.
  private static func isName(_ property: PropertyDescription) -> Bool {
    let words = property.name.split(separator: ".", omittingEmptySubsequences: false)
    return (words.count == 1 || !property.isRelationship) && property.name.utf8.count <= 255
      && words.allSatisfy { isName(String($0)) }
  }

  /// Returns the problems of the parts of embedded values. The attribute with the name of an embedded value says
  /// whether the value is there. An embedded value within another is always there, and has no such attribute.
  private static func partProblems(of entity: EntityDescription) -> [String] {
    let properties = Dictionary(
      entity.properties.map { ($0.name, $0) },
      uniquingKeysWith: { first, _ in first }
    )
    return entity.attributes.flatMap { part in
      part.name.indices.filter { part.name[$0] == "." }.compactMap { point in
        guard let whole = properties[String(part.name[..<point])],
          whole.name.contains(".") || whole.attribute?.kind != .bool || whole.attribute?.isOptional != true
        else { return nil }
        return "\(entity.name).\(part.name) is a part of \(whole.name), which is not an embedded value"
      }
    }
  }

  static func isName(_ name: String) -> Bool {
    guard let first = name.unicodeScalars.first, name.utf8.count <= 255 else { return false }
    return (first == "_" || first.properties.isXIDStart)
      && name.unicodeScalars.dropFirst().allSatisfy(\.properties.isXIDContinue)
  }

  static func duplicates(in names: [String]) -> [String] {
    var counts: [String: Int] = [:]
    return names.filter { name in
      counts[name, default: 0] += 1
      return counts[name] == 2
    }
  }
}

extension EntityNames {
  fileprivate func isString(_ property: String) -> Bool {
    if case .attribute(let attribute)? = self.property(named: property) {
      (attribute.elementKind ?? attribute.kind) == .string
    } else {
      false
    }
  }
}
