import Foundation
import Predicates

/// A step of a save that unlinks the partners that the save gives to objects in one-to-one relationships from the
/// objects that have them in the store.
///
/// A context does this for the links that it shows. It is needed here where a save stores a reference that its context
/// didn't work out: after a merge, and where a new object was unified with an existing one.
struct PartnerRivals {
  private let schema: ResolvedSchema
  private let newest: any ObjectSource
  private let storeID: UUID
  private(set) var request: SaveRequest
  /// Objects that are stored otherwise than the context shows them: see ``SaveDifferences/reverted``.
  private(set) var reverted: [Set<ObjectNumber>]

  init(
    _ request: SaveRequest,
    _ reverted: [Set<ObjectNumber>],
    in newest: any ObjectSource,
    storeID: UUID
  ) {
    self.request = request
    self.reverted = reverted
    self.newest = newest
    self.storeID = storeID
    schema = newest.schema
  }

  /// Unlinks the partners that objects get here from the objects to which other contexts have given them in the
  /// meantime.
  mutating func clear() throws(ContextError) {
    for changes in request.entities {
      let entity = changes.entity
      for toOne in entity.toOnes {
        guard case .toOne = toOne.inverse else { continue }
        for patch in changes.updated where patch.slots.contains(toOne.slot) {
          let new = RecordView(validated: patch.bytes, layout: entity.layout).reference(toOne.slot)
          try clear(of: patch.number, entity, toOne, new)
        }
        for inserted in changes.inserted {
          let record = RecordView(validated: UnsafeRawBufferPointer(inserted.bytes), layout: entity.layout)
          try clear(of: inserted.number, entity, toOne, record.reference(toOne.slot))
        }
      }
    }
  }

  private mutating func clear(
    of number: ObjectNumber,
    _ entity: StoredEntity,
    _ toOne: StoredToOne,
    _ new: ObjectNumber
  ) throws(ContextError) {
    guard case .toOne(let inverse) = toOne.inverse else { return }
    let destination = schema.entities[toOne.destination]
    let old = try newest.reference(at: toOne.slot, of: number, entity)
    if !old.isNone, old != new { try clear(old, destination, slot: inverse, ifLeadingTo: number) }
    if new.isNone { return }
    let rival = try newest.reference(at: inverse, of: new, destination)
    if !rival.isNone, rival != number { try clear(rival, entity, slot: toOne.slot, ifLeadingTo: new) }
  }

  /// Sets a reference to nil, unless this save sets it or deletes its object.
  private mutating func clear(
    _ number: ObjectNumber,
    _ entity: StoredEntity,
    slot: Int,
    ifLeadingTo target: ObjectNumber
  ) throws(ContextError) {
    let changes = request.entities[entity.ordinal]
    let index = changes.patchIndex(of: number)
    if let index, changes.updated[index].slots.contains(slot) { return }
    guard try newest.reference(at: slot, of: number, entity) == target else { return }
    // The deletion doesn't take along an object that this save gives to another one.
    if changes.deletes(number) { return changes.unfollow(SlotSet(slot), of: number) }
    if entity.requiredSlots(of: number).contains(slot) {
      return request.noteConflict(number, entity, SlotSet(slot), in: storeID)
    }
    reverted[entity.ordinal].insert(number)
    if let index {
      let record = RecordView(validated: changes.updated[index].bytes, layout: entity.layout)
      let bytes = changes.encoder.encode(record, replacing: slot, with: .null)
      changes.updated[index].bytes = UnsafeRawBufferPointer(bytes)
      changes.updated[index].slots.insert(slot)
    } else {
      changes.encoder.begin()
      let bytes = UnsafeRawBufferPointer(changes.encoder.finish())
      let index = changes.updated.insertionIndex(sorted: number, by: \.number)
      changes.updated.insert(.init(number: number, bytes: bytes, slots: SlotSet(slot)), at: index)
    }
  }
}
