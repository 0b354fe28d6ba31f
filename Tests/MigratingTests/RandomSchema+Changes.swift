import Foundation
import GraphContext
import GraphTestSupport
import Predicates
import TestSupport

// Changes that can be inferred: of the schema, and of the expected contents of the store.

extension RandomSchema {
  /// Changes the schema a few times. Names always identify the correct properties, and the data never break a rule.
  mutating func change() {
    for _ in 0..<generatorNumber(1...6) {
      var trial = self
      let isChanged = trial.changeOnce()
      // The sequence of random numbers continues in both cases.
      values = trial.values
      if isChanged, trial.isAllowed { self = trial }
    }
    shuffle()
  }

  private var isAllowed: Bool {
    guard isRecognisable, oracle.fits(draft), !draft.entities.isEmpty, hasShortSums else { return false }
    return (try? draft.schema()) != nil
  }

  private mutating func changeOnce() -> Bool {
    switch generatorNumber(0...33) {
    case 0...2: addAttribute(to: pickEntity())
    case 3: removeProperty()
    case 4...5: renameProperty()
    case 6: loosen()
    case 7...8: require()
    case 9...11: widen()
    case 12: addEntity()
    case 13: chance(1, in: 2) && removeEntity()
    case 14: renameEntity()
    case 15: addRelationship()
    case 16: makeToMany()
    case 17: chance(1, in: 2) ? nameInverse() : unnameInverse()
    case 18: changeDeleteRule()
    case 19: addIndex()
    case 20: removeIndex()
    case 21, 22: addDerived()
    case 23, 24: changeOrder()
    case 25: addClass()
    case 26: renameClass()
    case 27, 28: addEmbedded()
    case 29: removePart()
    case 30: renamePart()
    case 31, 32: requirePart()
    default: changeUniqueness()
    }
  }

  // MARK: Properties

  private mutating func removeProperty() -> Bool {
    guard let key = pickProperty(where: { !$0.isEmbedded }) else { return false }
    guard let relationship = draft[property: key].relationship else {
      remove(key)
      return true
    }
    // The inverse may stay without this relationship.
    guard let inverse = relationship.inverse, inverse != key else {
      remove(key)
      return true
    }
    let staysAlone = chance(1, in: 2)
    remove(key)
    if staysAlone {
      // If it also got a new inverse in the same step, it might lose its links, and the change would be refused.
      decided.insert(inverse)
      draft.changeRelationship(inverse) {
        $0.inverse = nil
        $0.isOrdered = false
      }
      oracle.order(inverse, false)
    } else {
      remove(inverse)
    }
    return true
  }

  /// Removes a property, and the indexes over it.
  mutating func remove(_ key: Int) {
    let (entity, property) = draft.place(of: key)
    draft.entities[entity].indexes.removeAll { $0.properties.contains(key) }
    draft.entities[entity].properties.remove(at: property)
    oracle.links[key] = nil
    oracle.orders[key] = nil
    for number in oracle.numbers(of: draft.entities[entity].key) {
      oracle.rows[draft.entities[entity].key]?[number]?[key] = nil
    }
  }

  private mutating func renameProperty() -> Bool {
    guard let key = pickProperty(where: { !$0.isEmbedded }) else { return false }
    if chance(1, in: 3) { giveUpName(for: key) } else { draft[property: key].name = propertyName() }
    draft[property: key].originalName = storedNames[key]
    return true
  }

  /// Gives the property the name of another one of its entity, which gets another name.
  private mutating func giveUpName(for key: Int) {
    let entity = draft.entities[draft.place(of: key).entity].key
    guard
      let other = pickProperty(where: { [draft] property in
        property.key != key && !property.isEmbedded
          && draft.entities[draft.place(of: property.key).entity].key == entity
      })
    else { return }
    draft[property: key].name = draft[property: other].name
    draft[property: other].name = propertyName()
    draft[property: other].originalName = storedNames[other]
  }

  private mutating func loosen() -> Bool {
    guard let key = pickProperty(where: Self.isRequired), decided.insert(key).inserted else { return false }
    switch draft[property: key].content {
    case .attribute(var attribute):
      attribute.isOptional = true
      draft[property: key].content = .attribute(attribute)
    case .relationship: draft.changeRelationship(key) { $0.cardinality = .optional }
    }
    return true
  }

  private static func isRequired(_ property: Draft.Property) -> Bool {
    property.attribute?.isOptional == false || property.relationship?.cardinality == .required
  }

  /// Makes a property required. In an attribute with a default, nil becomes the default.
  private mutating func require() -> Bool {
    guard
      let key = pickProperty(where: { property in
        property.attribute.map { $0.isOptional && $0.role == nil }
          ?? (property.relationship?.cardinality == .optional)
      }), decided.insert(key).inserted
    else { return false }
    guard case .attribute(var attribute) = draft[property: key].content else {
      draft.changeRelationship(key) { $0.cardinality = .required }
      return true
    }
    attribute.isOptional = false
    if chance(1, in: 2) { attribute.defaultValue = nil }
    if chance(1, in: 2) {
      attribute.defaultValue = value(attribute, nilOneIn: 1 << 30)
    }
    draft[property: key].content = .attribute(attribute)
    let entity = draft.entities[draft.place(of: key).entity].key
    guard let value = attribute.defaultValue else { return true }
    for number in oracle.numbers(of: entity) where oracle.value(key, of: number, entity).isNull {
      oracle.rows[entity]?[number]?[key] = value
    }
    return true
  }

  // MARK: Wider kinds

  /// The kinds that each kind can become, by a list of its own.
  private static let widerKinds: [AttributeKind: [AttributeKind]] = [
    .int8: [.int16, .int32, .int64, .float, .double, .decimal],
    .int16: [.int32, .int64, .float, .double, .decimal],
    .int32: [.int64, .double, .decimal],
    .int64: [.decimal],
    .uint8: [.uint16, .uint32, .uint64, .int16, .int32, .int64, .float, .double, .decimal],
    .uint16: [.uint32, .uint64, .int32, .int64, .float, .double, .decimal],
    .uint32: [.uint64, .int64, .double, .decimal],
    .uint64: [.decimal],
    .float: [.double],
  ]

  private mutating func widen() -> Bool {
    guard let key = pickProperty(where: { Self.widerKinds[$0.attribute?.kind ?? .bool] != nil }),
      var attribute = draft[property: key].attribute
    else { return false }
    attribute.kind = values.generator.pick(Self.widerKinds[attribute.kind, default: []])
    attribute.defaultValue = attribute.defaultValue.map { Self.widened($0, attribute.kind) }
    draft[property: key].content = .attribute(attribute)
    let entity = draft.entities[draft.place(of: key).entity].key
    for number in oracle.numbers(of: entity) {
      let value = oracle.value(key, of: number, entity)
      oracle.rows[entity]?[number]?[key] = Self.widened(value, attribute.kind)
    }
    return true
  }

  private static func widened(_ value: AttributeValue, _ kind: AttributeKind) -> AttributeValue {
    switch (value, kind) {
    case (.int(let number), .float), (.int(let number), .double): .double(Double(number))
    case (.int(let number), .decimal): .decimal(Decimal(number))
    case (.uint(let number), .decimal): .decimal(Decimal(number))
    default: value
    }
  }

  // MARK: Entities

  private mutating func removeEntity() -> Bool {
    guard draft.entities.count > 1 else { return false }
    let place = pickEntity()
    let entity = draft.entities[place]
    let leading = draft.entities.flatMap(\.properties).filter { property in
      property.relationship?.destination == entity.key
    }
    draft.entities.remove(at: place)
    for property in leading where !entity.properties.contains(where: { $0.key == property.key }) {
      remove(property.key)
    }
    for property in entity.properties {
      oracle.links[property.key] = nil
      oracle.orders[property.key] = nil
    }
    oracle.rows[entity.key] = nil
    return true
  }

  private mutating func renameEntity() -> Bool {
    let place = pickEntity()
    draft.entities[place].name = entityName()
    draft.entities[place].originalName = storedNames[draft.entities[place].key]
    return true
  }

  // MARK: Relationships

  /// Makes a to-one relationship lead to many.
  private mutating func makeToMany() -> Bool {
    guard
      let key = pickProperty(where: { property in
        property.relationship?.cardinality == .optional
      })
    else { return false }
    let (entity, _) = draft.place(of: key)
    draft.entities[entity].indexes.removeAll { $0.properties.contains(key) }
    draft.changeRelationship(key) { $0.cardinality = .many }
    setOrder(of: key, false)
    return true
  }

  /// Gives a to-many relationship an order, or takes its order away.
  private mutating func changeOrder() -> Bool {
    let known = self
    guard
      let key = pickProperty(where: { property in
        guard let relationship = property.relationship, let inverse = relationship.inverse else {
          return false
        }
        return relationship.isToMany && inverse != property.key && !known.decided.contains(property.key)
      })
    else { return false }
    decided.insert(key)
    setOrder(of: key, !draft.relationship(key).isOrdered)
    return true
  }

  /// - Parameter key: that of one end.
  private mutating func setOrder(of key: Int, _ isOrdered: Bool) {
    guard let inverse = draft.relationship(key).inverse else { return }
    // If both ends are to-many, each has an order of its own.
    for end in draft.relationship(inverse).isToMany ? [key] : [key, inverse] {
      draft.changeRelationship(end) { $0.isOrdered = isOrdered }
      oracle.order(end, isOrdered && draft.relationship(end).isToMany)
    }
  }

  /// Gives a relationship without an inverse one: to many, or to one where no two objects share a destination.
  private mutating func nameInverse() -> Bool {
    let decided = decided
    guard
      let key = pickProperty(where: { property in
        property.relationship.map { $0.inverse == nil && $0.cardinality != .required } ?? false
          && !decided.contains(property.key)
      })
    else { return false }
    let owner = draft.entities[draft.place(of: key).entity].key
    let back = draft.takeKey()
    let place = draft.entityPlace(draft.relationship(key).destination)
    let name = propertyName()
    guard isFree(name, in: place) else { return false }
    let destinations = oracle.links[key, default: []].map(\.to)
    let isShared = Set(destinations).count < destinations.count
    let cardinality: RelationshipDescription.Cardinality = isShared || chance(1, in: 2) ? .many : .optional
    let inverse = Draft.Relationship(
      destination: owner,
      destinationClass: draft[property: key].classKey,
      cardinality: cardinality,
      inverse: key
    )
    let classKey = draft.relationship(key).destinationClass
    draft.changeRelationship(key) { $0.inverse = back }
    draft.entities[place].properties.append(
      .init(key: back, name: name, content: .relationship(inverse), classKey: classKey)
    )
    oracle.links[back] = Set(oracle.links[key, default: []].map(\.reversed))
    return true
  }

  /// Removes the inverse of a relationship that is its own inverse.
  private mutating func unnameInverse() -> Bool {
    guard
      let key = pickProperty(where: { property in
        property.relationship.map { $0.inverse == property.key && $0.cardinality != .required } ?? false
      })
    else { return false }
    draft.changeRelationship(key) { $0.inverse = nil }
    return true
  }

  private mutating func changeDeleteRule() -> Bool {
    guard let key = pickProperty(where: \.isRelationship) else { return false }
    let rule = values.generator.pick(DeleteRule.allCases)
    draft.changeRelationship(key) { $0.deleteRule = rule }
    return true
  }

  // MARK: Indexes

  private mutating func removeIndex() -> Bool {
    let place = pickEntity()
    guard !draft.entities[place].indexes.isEmpty else { return false }
    draft.entities[place].indexes.remove(at: generatorNumber(0...draft.entities[place].indexes.count - 1))
    return true
  }

  private mutating func changeUniqueness() -> Bool {
    let place = pickEntity()
    guard !draft.entities[place].indexes.isEmpty else { return false }
    let index = generatorNumber(0...draft.entities[place].indexes.count - 1)
    draft.entities[place].indexes[index].isUnique.toggle()
    return draft.entities[place].indexes[index].folding.isEmpty
  }
}

extension Draft.Property {
  var isRelationship: Bool { relationship != nil }
}
