import Predicates

/// The slots of an embedded value that may be nil: its flag, which says whether the value is there, and its parts.
/// If the value isn't there, all parts are nil.
struct StoredEmbeddedValue: Sendable {
  /// The slot of the flag. The flag is nil if the value is nil.
  let flag: Int
  /// The slots of the parts.
  private(set) var parts = SlotSet.empty
  /// The slots of the parts that are nil only if the whole value is nil.
  private(set) var required = SlotSet.empty

  /// The slots of the flag and the parts.
  var slots: SlotSet { parts.union(SlotSet(flag)) }

  /// Returns whether two sets of changes both change the value, and at least one of them sets it to nil or from nil.
  /// Then a merge can't combine their parts: it takes the whole value from one of them.
  func isWhole(in one: SlotSet, _ other: SlotSet) -> Bool {
    !one.isDisjoint(with: slots) && !other.isDisjoint(with: slots) && one.union(other).contains(flag)
  }

  /// Returns the embedded values of an entity.
  ///
  /// - Parameter properties: by slot.
  static func values(of properties: [CataloguedProperty]) -> [StoredEmbeddedValue] {
    var values: [StoredEmbeddedValue] = []
    for (slot, part) in properties.enumerated() {
      guard let flag = part.flag(among: properties) else { continue }
      let place = values.firstIndex { $0.flag == flag } ?? values.endIndex
      if place == values.endIndex { values.append(StoredEmbeddedValue(flag: flag)) }
      values[place].parts.insert(slot)
      if part.isRequiredPart { values[place].required.insert(slot) }
    }
    return values
  }
}

extension CataloguedProperty {
  /// Returns the slot of the flag of the embedded value that the property is a part of; nil if the property is no
  /// part of an embedded value that may be nil.
  func flag(among properties: [CataloguedProperty]) -> Int? {
    guard let whole = PropertyDescription.propertyName(ofPart: name) else { return nil }
    // The place in an ordered relationship has such a name too.
    return properties.firstIndex { $0.name == whole && $0.relationship == nil }
  }
}

extension StoredEntity {
  /// Returns the slots of embedded values that two sets of changes both touch, if one of the sets changes
  /// the value to nil or from nil.
  func wholeSlots(in one: SlotSet, _ other: SlotSet) -> SlotSet {
    embeddedValues.reduce(SlotSet.empty) { $1.isWhole(in: one, other) ? $0.union($1.slots) : $0 }
  }

  /// Returns the slots that two sets of changes both touch, with all slots of an embedded value that they
  /// touch as a whole.
  func slotsInBoth(_ one: SlotSet, _ other: SlotSet) -> SlotSet {
    let touchedAsWhole = one.union(other).intersection(wholeSlots(in: one, other))
    return one.intersection(other).union(touchedAsWhole)
  }

  /// Returns the slots of the parts of embedded values that are nil in an object, except the embedded values that a
  /// change of `slots` sets.
  func partsOfNil(in object: any ManagedObject, setting slots: SlotSet) -> SlotSet {
    embeddedValues.reduce(SlotSet.empty) { parts, value in
      let isNil = !slots.contains(value.flag) && object.attributeValue(at: value.flag).isNull
      return isNil ? parts.union(value.parts) : parts
    }
  }

  /// Returns whether the slot is a part of an embedded value that is nil in the record.
  func isPartOfNil(_ slot: Int, _ record: RecordView) -> Bool {
    embeddedValues.contains { $0.parts.contains(slot) && record.isNull($0.flag) }
  }
}
