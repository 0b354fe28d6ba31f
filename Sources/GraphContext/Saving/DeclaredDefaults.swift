import Predicates

/// The first values of new objects, as the model of an entity or of one of its classes declares them.
///
/// ``UniquePolicy/merge`` compares a new object with them, to tell which of its values the program has set.
struct DeclaredDefaults {
  private let values: [Int: AttributeValue]
  /// The slots whose first value differs from object to object, as a `UUID()` does. It can't be told from a
  /// value that the program has set.
  private let differing: SlotSet
  /// The slots of each embedded value.
  private let embedded: [SlotSet]

  init(of entity: StoredEntity, classTag: UInt16, in coordinator: StoreCoordinator) {
    let values = coordinator.models.defaults(of: entity, classTag: classTag)
    let model = coordinator.models.descriptions[entity.ordinal]
    var differing = SlotSet.empty
    var embedded: [Substring: SlotSet] = [:]
    for (slot, property) in entity.schema.stored.enumerated() {
      guard let attribute = model.attribute(named: property.name) else { continue }
      // The value in `values` was made earlier.
      let isSame = attribute.initialValue.map { $0().isEqual(toStored: values[slot] ?? .null) } ?? true
      if attribute.insertionDefault != nil || !isSame { differing.insert(slot) }
      let name = property.name
      embedded[PropertyDescription.propertyName(ofPart: name) ?? name[...], default: .empty].insert(slot)
    }
    self.values = values
    self.differing = differing
    self.embedded = embedded.values.filter { $0.count > 1 }
  }

  /// Returns the slots, among `slots`, whose values are neither nil nor the default. If a part of an
  /// embedded value is one of them, all of its parts are: they are one value.
  func slotsGiven(in record: RecordView, among slots: SlotSet) -> SlotSet {
    var given = slots.subtracting(differing)
    for slot in given where record.isNull(slot) || record.value(slot) == values[slot] { given.remove(slot) }
    return embedded.reduce(given) { given.isDisjoint(with: $1) ? $0 : $0.union($1.intersection(slots)) }
  }
}

extension AttributeType {
  /// Returns true if a stored value is equal to this one.
  ///
  /// Equal values may have different encodings: the JSON of a set has its elements in any order. If the type isn't
  /// Equatable, encoded values can't be compared, and the result is true.
  fileprivate func isEqual(toStored value: AttributeValue) -> Bool {
    if _attributeValue == value { return true }
    guard let own = self as? any Equatable else { return Self._attributeKind == .coded && !value.isNull }
    return Self(_attributeValue: value).map { own.isEqual(to: $0) } ?? false
  }
}

extension Equatable {
  fileprivate func isEqual(to other: Any) -> Bool { (other as? Self).map { $0 == self } ?? false }
}
