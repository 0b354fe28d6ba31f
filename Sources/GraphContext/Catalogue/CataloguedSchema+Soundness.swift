import Predicates

// What must hold of a catalogue. The bytes come from disk, and everything else trusts them afterwards.

extension CataloguedSchema {
  /// Why the catalogue can't be what the library wrote; nil if it can.
  var unsoundness: String? {
    var numbers: Set<UInt32> = []
    var trees: Set<String> = [SchemaTree.name]
    let byNumber = entities.dictionary(by: \.number)
    for entity in entities {
      let properties = entity.properties.dictionary(by: \.number)
      for number in entity.numbers
      where number == 0 || number >= nextNumber || !numbers.insert(number).inserted {
        return "the number \(number) of \(entity.name) is taken or was never given"
      }
      for tree in entity.trees where !trees.insert(tree).inserted { return "the tree \(tree) has two owners" }
      if let problem = entity.layoutProblem { return problem }
      for index in entity.indexes {
        for number in index.properties where properties[number].map(\.isToMany) ?? true {
          return "an index of \(entity.name) has the property \(number.rawValue), which has no slot"
        }
      }
      for property in entity.properties {
        if let problem = Self.problem(of: property, entity, byNumber) { return problem }
      }
    }
    return nil
  }

  private static func problem(
    of property: CataloguedProperty,
    _ entity: CataloguedEntity,
    _ entities: [EntityNumber: CataloguedEntity]
  ) -> String? {
    if !property.absentValue.isNull, !property.absentValue.fits(property.storedKind) {
      return "the default of \(entity.name).\(property.name) is not of its kind"
    }
    guard let relationship = property.relationship else { return nil }
    guard let destination = entities[relationship.destination] else {
      return "\(entity.name).\(property.name) leads to no entity"
    }
    guard let number = relationship.inverse else {
      return relationship.tree == nil ? "\(entity.name).\(property.name) has no tree" : nil
    }
    guard let inverse = destination.property(number)?.relationship, inverse.destination == entity.number,
      inverse.inverse == property.number
    else { return "\(entity.name).\(property.name) has an inverse that doesn't lead back" }
    let isListed = relationship.cardinality == .many && inverse.cardinality != .many
    return isListed == (relationship.tree == nil) ? nil : "\(entity.name).\(property.name) has a wrong tree"
  }
}

extension CataloguedEntity {
  fileprivate var numbers: [UInt32] {
    [number.rawValue] + properties.map(\.number.rawValue) + indexes.map(\.number.rawValue)
  }

  /// The names of all trees of the entity.
  var trees: [String] { [tree] + indexes.map(\.tree) + properties.compactMap { $0.relationship?.tree } }

  fileprivate var layoutProblem: String? {
    for (place, layout) in layouts.enumerated() {
      guard layout.number == UInt32(place), layout.fields.count <= ObjectState.maximumSlotCount,
        Set(layout.fields.map(\.property)).count == layout.fields.count,
        layout.fields.allSatisfy({ $0.nilValue?.fits(property($0.property)?.storedKind) ?? true })
      else { return "the layout \(place) of \(name) makes no sense" }
      for field in layout.fields {
        guard let kind = property(field.property)?.storedKind, kind != field.kind else { continue }
        if !field.kind.canWiden(to: kind) {
          return "\(name) has a \(field.kind) in the layout \(place) that can't be read as \(kind)"
        }
      }
    }
    let newest = layouts.last?.fields.map { [$0.property.rawValue, UInt32($0.kind.rawValue)] } ?? []
    let stored = stored.compactMap { property in
      property.storedKind.map { [property.number.rawValue, UInt32($0.rawValue)] }
    }
    return Set(newest) == Set(stored) && !layouts.isEmpty
      ? nil : "the newest layout of \(name) lacks a property or has one too many"
  }
}

extension AttributeValue {
  /// Whether a slot of the kind can hold the value. Nil, for no slot, holds none.
  func fits(_ kind: AttributeKind?) -> Bool {
    guard let kind, !isNull else { return false }
    var encoder = RecordEncoder(layout: RecordLayout(kinds: [kind]))
    encoder.begin()
    return encoder.set(self, at: 0)
  }
}
