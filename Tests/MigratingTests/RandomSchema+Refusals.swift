import GraphContext
import GraphTestSupport
import Predicates
import TestSupport

// Changes that must be refused.

extension RandomSchema {
  /// Changes the schema so that the store has to refuse it. Returns false if the random change isn't possible in this
  /// store.
  mutating func breakOnce() -> Bool {
    switch values.generator.number(in: 0...8) {
    case 0: changeKind()
    case 1: addRequired()
    case 2: makeToOne()
    case 3: leadElsewhere()
    case 4: demandUniqueness()
    case 5: leadBackToOne()
    case 6: removeClass()
    case 7: makeClassOfEntity()
    default: requireValues()
    }
  }

  private func hasObjects(_ property: Draft.Property) -> Bool {
    !oracle.numbers(of: draft.entities[draft.place(of: property.key).entity].key).isEmpty
  }

  private mutating func changeKind() -> Bool {
    let known = self
    guard let key = pickProperty(where: { $0.attribute != nil && known.hasObjects($0) }),
      var attribute = draft[property: key].attribute
    else { return false }
    let narrower: [AttributeKind: AttributeKind] = [
      .int64: .double, .int32: .int16, .uint64: .int64, .double: .float, .decimal: .double, .string: .data,
      .float: .int64, .bool: .int8, .date: .double, .uuid: .string, .data: .string, .int16: .uint16,
      .uint8: .int8, .int8: .bool, .uint16: .int16, .uint32: .float,
    ]
    attribute.kind = narrower[attribute.kind, default: .bool]
    attribute.defaultValue = nil
    draft[property: key].content = .attribute(attribute)
    let (entity, _) = draft.place(of: key)
    for index in draft.entities[entity].indexes.indices
    where draft.entities[entity].indexes[index].properties.contains(key) {
      draft.entities[entity].indexes[index].folding = []
    }
    return (try? draft.schema()) != nil
  }

  private mutating func addRequired() -> Bool {
    let place = pickEntity()
    guard !oracle.numbers(of: draft.entities[place].key).isEmpty else { return false }
    let attribute = Draft.Attribute(kind: .string, isOptional: false)
    draft.entities[place].properties.append(
      .init(key: draft.takeKey(), name: "required", content: .attribute(attribute))
    )
    return true
  }

  private mutating func makeToOne() -> Bool {
    let known = self
    guard let key = pickProperty(where: { $0.relationship?.isToMany == true && known.hasObjects($0) }) else {
      return false
    }
    draft.changeRelationship(key) { $0.cardinality = .optional }
    return (try? draft.schema()) != nil
  }

  private mutating func leadElsewhere() -> Bool {
    let known = self
    guard
      let key = pickProperty(where: { property in
        property.relationship.map { $0.inverse == nil && known.hasObjects(property) } ?? false
      })
    else { return false }
    let other = draft.entities[pickEntity()].key
    guard other != draft.relationship(key).destination else { return false }
    draft.changeRelationship(key) {
      $0.destination = other
      $0.destinationClass = nil
    }
    return true
  }

  /// Names a to-one inverse although objects share a destination.
  private mutating func leadBackToOne() -> Bool {
    let known = self
    guard
      let key = pickProperty(where: { property in
        guard let relationship = property.relationship, relationship.inverse == nil,
          relationship.cardinality == .optional
        else { return false }
        let destinations = known.oracle.links[property.key, default: []].map(\.to)
        return Set(destinations).count < destinations.count
      })
    else { return false }
    let owner = draft.entities[draft.place(of: key).entity].key
    let place = draft.entityPlace(draft.relationship(key).destination)
    let back = draft.takeKey()
    let inverse = Draft.Relationship(
      destination: owner,
      destinationClass: draft[property: key].classKey,
      cardinality: .optional,
      inverse: key
    )
    let classKey = draft.relationship(key).destinationClass
    draft.changeRelationship(key) { $0.inverse = back }
    draft.entities[place].properties.append(
      .init(key: back, name: "inverse", content: .relationship(inverse), classKey: classKey)
    )
    return true
  }

  /// Removes a class that the store has. Its properties continue as properties of the root.
  private mutating func removeClass() -> Bool {
    let places = draft.entities.indices.filter { !draft.entities[$0].classes.isEmpty }
    guard let place = places.randomElement(using: &values.generator) else { return false }
    let member = draft.entities[place].classes.removeLast()
    for property in draft.entities[place].properties.indices
    where draft.entities[place].properties[property].classKey == member.key {
      draft.entities[place].properties[property].classKey = nil
    }
    return true
  }

  /// Gives an entity a class with the name of another entity, which continues under another name or is removed.
  private mutating func makeClassOfEntity() -> Bool {
    guard draft.entities.count > 1 else { return false }
    let known = draft.entities[0].name
    guard draft.entities[0].properties.allSatisfy({ $0.relationship == nil }),
      !draft.entities.flatMap(\.properties).contains(where: {
        $0.relationship?.destination == draft.entities[0].key
      })
    else { return false }
    draft.entities.removeFirst()
    draft.entities[0].classes.append(.init(key: draft.takeKey(), name: known, parent: nil))
    return true
  }

  private mutating func demandUniqueness() -> Bool {
    let place = pickEntity()
    let entity = draft.entities[place]
    let property = values.generator.pick(entity.properties)
    guard property.isIndexable, !oracle.isUnique([property.key], of: entity.key, in: draft) else {
      return false
    }
    draft.entities[place].indexes.removeAll { $0.properties == [property.key] }
    draft.entities[place].indexes.append(.init(properties: [property.key], isUnique: true))
    return true
  }

  private mutating func requireValues() -> Bool {
    let known = self
    guard
      let key = pickProperty(where: { property in
        let entity = known.draft.entities[known.draft.place(of: property.key).entity].key
        return property.attribute != nil && !property.isDerived && !property.isEmbedded
          && known.oracle.numbers(of: entity).contains {
            known.oracle.value(property.key, of: $0, entity).isNull
          }
      }), var attribute = draft[property: key].attribute
    else { return false }
    attribute.isOptional = false
    attribute.defaultValue = nil
    draft[property: key].content = .attribute(attribute)
    return true
  }
}
