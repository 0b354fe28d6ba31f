import Predicates

/// What the model of an entity, or of one of its classes, declares of the values of new objects, for ``UniquePolicy/merge``: which values of an object
/// were given to it, as far as the object can tell.
struct DeclaredDefaults {
  private let values: [Int: AttributeValue]
  /// Bits of the slots whose first value differs from object to object, as a `UUID()` does. No object can tell it from one that was given.
  private let differing: UInt64
  /// Bits of the slots of each embedded value.
  private let embedded: [UInt64]

  init(of entity: StoredEntity, classTag: UInt16, in coordinator: StoreCoordinator) {
    let values = coordinator.defaults(of: entity, classTag: classTag)
    let model = coordinator.models[entity.ordinal]
    var differing: UInt64 = 0
    var embedded: [Substring: UInt64] = [:]
    for (slot, property) in entity.schema.stored.enumerated() {
      guard let attribute = model.attribute(named: property.name) else { continue }
      let bit: UInt64 = 1 << UInt64(slot)
      // The value in `values` was made earlier.
      let isSame = attribute.initialValue.map { $0()._attributeValue == values[slot] ?? .null } ?? true
      if attribute.insertionDefault != nil || !isSame { differing |= bit }
      let name = property.name
      embedded[PropertyDescription.propertyName(ofPart: name) ?? name[...], default: 0] |= bit
    }
    self.values = values
    self.differing = differing
    self.embedded = embedded.values.filter { $0.nonzeroBitCount > 1 }
  }

  /// Bits of those of the slots that hold something else than nil and the default. Of an embedded value all, where there is one of them: its parts are one value.
  func slotsGiven(in record: RecordView, among slots: UInt64) -> UInt64 {
    var given = slots & ~differing
    for slot in 0..<64 where given & 1 << UInt64(slot) != 0 {
      if record.isNull(slot) || record.value(slot) == values[slot] { given &= ~(1 << UInt64(slot)) }
    }
    return embedded.reduce(given) { given & $1 == 0 ? $0 : $0 | $1 & slots }
  }
}
