import Predicates

/// An embedded value that may be nil, as slots: its flag, which says whether the value is there, and its parts, all of which are nil where it isn't.
struct StoredEmbeddedValue: Sendable {
  /// The slot of the flag. Nil for a value that is nil.
  let flag: Int
  /// Bits of the slots of the parts.
  private(set) var parts: UInt64 = 0
  /// Bits of the parts that are nil only where the value is.
  private(set) var required: UInt64 = 0

  var flagBit: UInt64 { 1 << UInt64(flag) }
  /// Bits of the flag and the parts.
  var slots: UInt64 { flagBit | parts }

  /// Returns whether two sets of changes both change the value, and at least one of them sets it to nil or from nil. Then a merge can't combine their
  /// parts: it takes the whole value from one of them.
  func isWhole(in one: UInt64, _ other: UInt64) -> Bool {
    one & slots != 0 && other & slots != 0 && (one | other) & flagBit != 0
  }

  /// Those of an entity.
  ///
  /// - Parameter properties: by slot.
  static func values(of properties: [CataloguedProperty]) -> [StoredEmbeddedValue] {
    var values: [StoredEmbeddedValue] = []
    for (slot, part) in properties.enumerated() {
      guard let flag = part.flag(among: properties) else { continue }
      let place = values.firstIndex { $0.flag == flag } ?? values.endIndex
      if place == values.endIndex { values.append(StoredEmbeddedValue(flag: flag)) }
      values[place].parts |= 1 << UInt64(slot)
      if part.isRequiredPart { values[place].required |= 1 << UInt64(slot) }
    }
    return values
  }
}

extension CataloguedProperty {
  /// The slot of what says whether the embedded value is there that the property is a part of; nil for what is a part of none that may be nil.
  func flag(among properties: [CataloguedProperty]) -> Int? {
    guard let whole = PropertyDescription.propertyName(ofPart: name) else { return nil }
    // The place in an ordered relationship has such a name too.
    return properties.firstIndex { $0.name == whole && $0.relationship == nil }
  }
}

extension StoredEntity {
  /// Bits of the slots of embedded values that two sets of changes both touch, and that one of them makes nil, or something of nil.
  func wholeSlots(in one: UInt64, _ other: UInt64) -> UInt64 {
    embeddedValues.reduce(0) { $1.isWhole(in: one, other) ? $0 | $1.slots : $0 }
  }

  /// Bits of the slots that two sets of changes both touch, with all of an embedded value that they touch as a whole.
  func slotsInBoth(_ one: UInt64, _ other: UInt64) -> UInt64 {
    one & other | (one | other) & wholeSlots(in: one, other)
  }

  /// Bits of the parts of embedded values that are nil in an object, but for values that a change of `slots` sets.
  func partsOfNil(in object: any ManagedObject, setting slots: UInt64) -> UInt64 {
    embeddedValues.reduce(0) { parts, value in
      let isNil = slots & value.flagBit == 0 && object.attributeValue(at: value.flag).isNull
      return isNil ? parts | value.parts : parts
    }
  }

  /// Returns whether the slot is a part of an embedded value that is nil in the record.
  func isPartOfNil(_ slot: Int, _ record: RecordView) -> Bool {
    embeddedValues.contains { $0.parts & 1 << UInt64(slot) != 0 && record.isNull($0.flag) }
  }
}
