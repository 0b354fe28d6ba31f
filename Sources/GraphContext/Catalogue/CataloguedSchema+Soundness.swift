import Predicates

// The rules for a sound catalogue. Its bytes come from disk, and all other code trusts them after this check.

extension CataloguedSchema {
  /// The greatest ``nextNumber`` that a catalogue can have. A schema at its limits takes some ten million numbers anew,
  /// so half of the range lasts, and no change runs out of numbers.
  static let greatestNextNumber: UInt32 = 1 << 31

  /// The reason why the library can't have written this catalogue; nil if it can have written it. O(entities,
  /// properties, indexes and fields of layouts).
  var unsoundness: String? {
    if nextNumber == 0 || nextNumber > Self.greatestNextNumber {
      return "the next number can't be \(nextNumber)"
    }
    if entities.count > SchemaLimits.entityCount { return "there are \(entities.count) entities" }
    var numbers: Set<UInt32> = []
    var trees = ReservedTree.names
    let sound = entities.map(SoundEntity.init)
    let byNumber = sound.dictionary(by: \.entity.number)
    for entity in sound {
      let name = entity.entity.name
      for number in entity.entity.numbers
      where number == 0 || number >= nextNumber || !numbers.insert(number).inserted {
        return "the number \(number) of \(name) is used twice or was never given"
      }
      for tree in entity.entity.trees where !trees.insert(tree).inserted {
        return "the tree \(tree) has two owners"
      }
      if let problem = entity.problem { return problem }
      for property in entity.entity.properties {
        if let problem = entity.problem(of: property, byNumber) { return problem }
      }
    }
    return nil
  }
}

/// An entity of a catalogue that is checked, with its properties by number.
private struct SoundEntity {
  let entity: CataloguedEntity
  let properties: [PropertyNumber: CataloguedProperty]
  private var name: String { entity.name }

  init(_ entity: CataloguedEntity) {
    self.entity = entity
    properties = entity.properties.dictionary(by: \.number)
  }

  var problem: String? {
    if entity.properties.count > SchemaLimits.propertyCount {
      return "\(name) has \(entity.properties.count) properties"
    }
    if entity.indexes.count > SchemaLimits.indexCount { return "\(name) has \(entity.indexes.count) indexes" }
    if let problem = layoutProblem ?? placeProblem ?? entity.classProblem { return problem }
    for index in entity.indexes {
      for number in index.properties where properties[number].map(\.isToMany) ?? true {
        return "an index of \(name) has the property \(number.rawValue), which has no slot"
      }
    }
    return nil
  }

  func problem(
    of property: CataloguedProperty,
    _ entities: [EntityNumber: SoundEntity]
  ) -> String? {
    if let kind = property.elementKind, property.storedKind != .coded || !kind.isElementKind {
      return "\(name).\(property.name) can't have elements"
    }
    guard let relationship = property.relationship else {
      if (property.storedKind?.isExternal ?? false) != (property.blobTree != nil) {
        return "\(name).\(property.name) has a wrong tree"
      }
      return property.absentValue.isNull || property.absentValue.fits(property.storedKind)
        ? nil : "the default of \(name).\(property.name) is not of its kind"
    }
    if !property.absentValue.isNull { return "\(name).\(property.name) is a relationship with a default" }
    guard let destination = entities[relationship.destination] else {
      return "\(name).\(property.name) leads to no entity"
    }
    guard let number = relationship.inverse else {
      if relationship.orderTree != nil { return "\(name).\(property.name) can't have an order of its own" }
      return relationship.tree == nil ? "\(name).\(property.name) has no tree" : nil
    }
    guard let inverse = destination.properties[number]?.relationship, inverse.destination == entity.number,
      inverse.inverse == property.number
    else { return "\(name).\(property.name) has an inverse that doesn't lead back" }
    let isPaired = relationship.cardinality == .many && inverse.cardinality == .many
    if relationship.orderTree != nil, !isPaired || property.number == number {
      return "\(name).\(property.name) can't have an order of its own"
    }
    let isListed = relationship.cardinality == .many && inverse.cardinality != .many
    return isListed == (relationship.tree == nil) ? nil : "\(name).\(property.name) has a wrong tree"
  }

  /// The problem of the places; nil if there is none. A place belongs to a to-one relationship, and an index has the
  /// two.
  private var placeProblem: String? {
    let places = entity.properties.filter { $0.storedKind == .place }
    if places.isEmpty { return nil }
    let owners = entity.properties.compactMap { property in entity.place(of: property).map { (property, $0) }
    }
    let sound = owners.filter { owner, place in
      place.storedKind == .place && place.isOptional && owner.relationship?.inverse != nil
        && entity.indexes.contains {
          $0.properties == [owner.number, place.number] && !$0.isUnique && $0.folding.isEmpty
        }
    }
    return sound.count == places.count ? nil : "\(name) has a place that belongs to no ordered relationship"
  }

  private var layoutProblem: String? {
    for (place, layout) in entity.layouts.enumerated() {
      guard layout.number == UInt32(place), layout.fields.count <= ObjectState.maximumSlotCount,
        Set(layout.fields.map(\.property)).count == layout.fields.count
      else { return "the layout \(place) of \(name) has a wrong number or wrong fields" }
      for field in layout.fields {
        if let problem = problem(of: field, inLayout: place) { return problem }
      }
    }
    let newest = entity.layouts.last?.fields.map { [$0.property.rawValue, UInt32($0.kind.rawValue)] } ?? []
    let stored = entity.stored.compactMap { property in
      property.storedKind.map { [property.number.rawValue, UInt32($0.rawValue)] }
    }
    return Set(newest) == Set(stored) && !entity.layouts.isEmpty
      ? nil : "the newest layout of \(name) lacks a property or has one too many"
  }

  private func problem(of field: CataloguedLayout.Field, inLayout place: Int) -> String? {
    let property = properties[field.property]
    if let value = field.nilValue, property?.relationship != nil || !value.fits(property?.storedKind) {
      return "the layout \(place) of \(name) has a value for nil that is not of its property's kind"
    }
    guard let kind = property?.storedKind, !field.kind.canWiden(to: kind) else { return nil }
    return "\(name) has a \(field.kind) in the layout \(place) that can't be read as \(kind)"
  }
}

extension CataloguedEntity {
  fileprivate var numbers: [UInt32] {
    [number.rawValue] + properties.map(\.number.rawValue) + indexes.map(\.number.rawValue)
  }

  /// The names of all trees of the entity.
  var trees: [String] { [tree] + indexes.map(\.tree) + properties.flatMap(\.trees) }
}

extension AttributeValue {
  /// Returns the value as a record has it in a slot of the kind: a double in a float is rounded. Nil if a slot
  /// can't hold it.
  func stored(as kind: AttributeKind) -> AttributeValue? {
    var encoder = RecordEncoder(layout: RecordLayout(kinds: [kind]))
    // The view owns neither its bytes nor its layout, so the encoder must live until here.
    defer { encoder.removeAll() }
    encoder.begin()
    guard encoder.set(self, at: 0) else { return nil }
    return RecordView(UnsafeRawBufferPointer(encoder.finish()), layout: encoder.layout)?.value(0)
  }

  /// Returns whether a slot of the kind can hold exactly this value. False if the kind is nil, which stands for no
  /// slot.
  func fits(_ kind: AttributeKind?) -> Bool {
    guard let kind, !isNull else { return false }
    return stored(as: kind) == self
  }
}
