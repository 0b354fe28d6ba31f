import Foundation
import Predicates

// Values that records only refer to.

extension ObjectSource {
  /// Returns the whole value that a record of the source refers to, after a check against the record's hash.
  /// O(bytes).
  func externalData(
    _ reference: ExternalReference,
    at slot: Int,
    of entity: StoredEntity
  ) throws(ContextError) -> Data {
    let contents = try contents(of: reference, at: slot, of: entity)
    let data = try contents.read(0..<contents.byteCount)
    guard data.withUnsafeBytes({ BlobHash.hash($0) }) == reference.hash else {
      throw .damagedBlob(at: slot, of: entity)
    }
    return data
  }

  /// Returns the value at a slot of a record, wherever it lies.
  func value(
    of record: RecordView,
    at slot: Int,
    _ entity: StoredEntity
  ) throws(ContextError) -> AttributeValue {
    guard entity.externalSlots.contains(slot), !record.isNull(slot) else {
      return record.value(slot)
    }
    switch record.external(slot) {
    case .inline?: return record.value(slot)
    case .reference(let reference)?:
      let data = try externalData(reference, at: slot, of: entity)
      return record.field(slot).kind.externalValue(data)
    case nil: throw .damagedBlob(at: slot, of: entity)
    }
  }

  /// Returns the slots in `mask` whose values differ from those of another record of the entity. If one record has
  /// a value itself, and the other refers to a value of the same length, that value is read. If both refer to values
  /// of the same length and hash, both values are read. A value that can't be read counts as different.
  func slots(
    in mask: SlotSet,
    of record: RecordView,
    thatDifferFrom other: RecordView,
    _ entity: StoredEntity
  ) -> SlotSet {
    var different = record.slots(in: mask, thatDifferFrom: other)
    for slot in entity.externalSlots.intersection(different) {
      let isEqual =
        switch (record.external(slot), other.external(slot)) {
        case (.inline(let bytes), .reference(let reference)), (.reference(let reference), .inline(let bytes)):
          isEqual(bytes, to: reference, at: slot, entity)
        case (.reference(let one), .reference(let other)): areEqual(one, other, at: slot, entity)
        default: false
        }
      if isEqual { different.remove(slot) }
    }
    return different
  }

  private func isEqual(
    _ bytes: UnsafeRawBufferPointer,
    to reference: ExternalReference,
    at slot: Int,
    _ entity: StoredEntity
  ) -> Bool {
    guard bytes.count == reference.byteCount,
      let stored = try? externalData(reference, at: slot, of: entity)
    else { return false }
    return stored.elementsEqual(bytes)
  }

  private func areEqual(
    _ one: ExternalReference,
    _ other: ExternalReference,
    at slot: Int,
    _ entity: StoredEntity
  ) -> Bool {
    guard one.byteCount == other.byteCount, one.hash == other.hash,
      let first = try? contents(of: one, at: slot, of: entity),
      let second = try? contents(of: other, at: slot, of: entity)
    else { return false }
    // In pieces: the values may be longer than what fits into memory.
    let step = 1 << 20
    return stride(from: 0, to: one.byteCount, by: step).allSatisfy { start in
      let range = start..<min(start + step, one.byteCount)
      guard let bytes = try? first.read(range) else { return false }
      return (try? second.read(range)) == bytes
    }
  }

  /// Returns a copy of a record with the values themselves in place of references to values; nil if the record has
  /// all values already.
  ///
  /// - Parameters:
  ///   - slots: the slots to load.
  ///   - encoder: owns the copy.
  func loaded(
    _ record: RecordView,
    in slots: SlotSet,
    of entity: StoredEntity,
    _ encoder: inout RecordEncoder
  ) throws(ContextError) -> UnsafeRawBufferPointer? {
    var values: [Int: AttributeValue] = [:]
    for slot in entity.externalSlots.intersection(slots) where record.externalReference(slot) != nil {
      values[slot] = try value(of: record, at: slot, entity)
    }
    if values.isEmpty { return nil }
    encoder.begin()
    for slot in entity.slotsByPlace {
      if let value = values[slot] {
        _ = encoder.set(value, at: slot)
      } else {
        encoder.copy(slot, from: record)
      }
    }
    try encoder.checkComplete(of: entity.name)
    return UnsafeRawBufferPointer(encoder.finish())
  }
}

extension StoredEntity {
  /// Returns the slots of a set that the entity has.
  func slots(_ slots: SlotSet) -> SlotSet { slots.intersection(SlotSet(first: schema.stored.count)) }
}

extension RecordEncoder {
  /// Sets all values of a record to those of an object. A value that lies elsewhere and wasn't changed is not read.
  mutating func setValues(of object: any ManagedObject, _ entity: StoredEntity) {
    let isStored = object._$state.phase == .persistent || object._$state.phase == .deleted
    let kept = isStored ? entity.externalSlots.subtracting(object._$state.changed) : .empty
    let record = kept.isEmpty ? nil : object.findRecord()
    for slot in entity.slotsByPlace {
      if let record, kept.contains(slot) {
        copy(slot, from: RecordView(validated: record, layout: entity.layout))
      } else {
        // A value that doesn't fit its kind is left nil here; the save will refuse it.
        _ = set(object.attributeValue(at: slot), at: slot)
      }
    }
  }
}

extension ContextError {
  /// Returns the error for a record that refers to a value which the store doesn't have.
  static func damagedBlob(at slot: Int, of entity: StoredEntity) -> ContextError {
    let name = entity.schema.stored[slot].name
    return ContextError(
      .corrupt,
      "a value of \(entity.name).\(name) that is stored externally is missing or damaged",
      context: .init(entity: entity.name, properties: [name])
    )
  }
}
