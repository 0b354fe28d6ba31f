import GraphTestSupport
import Predicates
import TestSupport

// Embedded values that may be nil: an attribute says whether the value is there, and others are its parts.

extension RandomSchema {
  private static let embeddedName = "o"
  private static let embeddedParts = ["o.p", "o.q", "o.r", "o.s"]

  private func parts(of entity: Draft.Entity) -> [Draft.Property] {
    entity.properties.filter { $0.isEmbedded && !$0.isFlag }
  }

  /// Adds an embedded value, which is nil in all objects, or adds a part to the existing one.
  @discardableResult
  mutating func addEmbedded() -> Bool {
    let place = pickEntity()
    guard isFree(Self.embeddedName, in: place) else { return addPart(to: place) }
    let flag = Draft.Attribute(kind: .bool, isOptional: true, role: .flag)
    let key = draft.takeKey()
    decided.insert(key)
    draft.entities[place].properties.append(
      .init(key: key, name: Self.embeddedName, content: .attribute(flag), classKey: pickClass(of: place))
    )
    while parts(of: draft.entities[place]).isEmpty { addPart(to: place) }
    return true
  }

  /// Adds a part: values that are there have its default.
  @discardableResult
  private mutating func addPart(to place: Int) -> Bool {
    let (entity, name) = (draft.entities[place], values.generator.pick(Self.embeddedParts))
    guard isFree(name, in: place), let flag = entity.properties.first(where: \.isFlag) else { return false }
    let isRequired = chance(1, in: 2)
    var part = Draft.Attribute(kind: values.generator.pick(Self.attributeKinds), isOptional: true)
    part.role = .part(isRequired: isRequired)
    let value = value(part, nilOneIn: isRequired ? 1 << 30 : 2)
    part.defaultValue = value.isNull ? nil : value
    let key = draft.takeKey()
    decided.insert(key)
    draft.entities[place].properties.append(
      .init(key: key, name: name, content: .attribute(part), classKey: flag.classKey)
    )
    setMissing(key, of: entity, to: value)
    return true
  }

  /// Gives a part that is nil a value where the embedded value is there.
  private mutating func setMissing(_ part: Int, of entity: Draft.Entity, to value: AttributeValue) {
    for number in oracle.numbers(of: entity.key)
    where hasEmbedded(number, entity) && oracle.value(part, of: number, entity.key).isNull {
      oracle.rows[entity.key]?[number]?[part] = value
    }
  }

  /// Whether the embedded value of an object is there.
  func hasEmbedded(_ number: UInt64, _ entity: Draft.Entity) -> Bool {
    entity.properties.contains { $0.isFlag && !oracle.value($0.key, of: number, entity.key).isNull }
  }

  /// Removes a part, and with the last one the value.
  mutating func removePart() -> Bool {
    guard let key = pickPart() else { return false }
    let entity = draft.entities[draft.place(of: key).entity]
    remove(key)
    guard parts(of: entity).count == 1 || chance(1, in: 4) else { return true }
    for property in entity.properties where property.isEmbedded && property.key != key {
      remove(property.key)
    }
    return true
  }

  mutating func renamePart() -> Bool {
    guard let key = pickPart() else { return false }
    draft[property: key].name = values.generator.pick(Self.embeddedParts)
    draft[property: key].originalName = storedNames[key]
    return true
  }

  /// Makes a part optional, or required with a default for the values that lack it.
  mutating func requirePart() -> Bool {
    guard let key = pickPart(), decided.insert(key).inserted, var part = draft[property: key].attribute else {
      return false
    }
    if part.role == .part(isRequired: true) {
      part.role = .part(isRequired: false)
    } else {
      part.role = .part(isRequired: true)
      let value = value(part, nilOneIn: 1 << 30)
      part.defaultValue = value
      setMissing(key, of: draft.entities[draft.place(of: key).entity], to: value)
    }
    draft[property: key].content = .attribute(part)
    return true
  }

  private mutating func pickPart() -> Int? { pickProperty(where: { $0.isEmbedded && !$0.isFlag }) }

  // MARK: Values

  /// Returns a value that an object can have in an attribute, depending on whether its embedded value is nil.
  mutating func value(of property: Draft.Property, _ number: UInt64, _ entity: Draft.Entity) -> AttributeValue
  {
    guard let attribute = property.attribute else { return .null }
    switch attribute.role {
    case nil: return value(attribute, nilOneIn: attribute.isOptional ? 3 : 1 << 30)
    case .flag?: return chance(1, in: 2) ? .bool(true) : .null
    case .part(let isRequired)?:
      return hasEmbedded(number, entity) ? value(attribute, nilOneIn: isRequired ? 1 << 30 : 3) : .null
    }
  }
}

extension Draft.Entity {
  /// Returns the properties that are set together with a property: for the flag of an embedded value, the flag and
  /// then all parts.
  func propertiesSet(with property: Draft.Property) -> [Draft.Property] {
    property.isFlag ? [property] + properties.filter { $0.isEmbedded && !$0.isFlag } : [property]
  }
}
