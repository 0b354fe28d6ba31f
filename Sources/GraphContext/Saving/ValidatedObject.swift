import Foundation
import Predicates

/// An object that gets values in a save which its validation hasn't seen together: those of new objects that the save
/// unifies with it, or those of this and of another context.
struct ValidatedObject {
  let entity: StoredEntity
  let number: ObjectNumber
  let change: ValidatedChange
  /// The values that it gets, by slot, except for those that other objects determine: its places, and derived values.
  let values: [AttributeValue]
  /// The elements that its many-to-many relationships get, by the positions of the relationships.
  let links: [[ObjectNumber]]
  /// The effect of delete rules on it afterwards.
  var effect = RuleEffects.Effect()

  var key: ObjectKey { ObjectKey(entity: entity.ordinal, number: number) }
}

extension SaveRequest {
  /// Returns objects that the request changes, with all values that they get. Objects that aren't there are left out.
  ///
  /// - Parameter source: the state that the request is to change.
  func validatedObjects(
    _ keys: some Sequence<ObjectKey>,
    in source: any ObjectSource
  ) throws(ContextError) -> [ValidatedObject] {
    var objects: [ValidatedObject] = []
    for key in keys.sorted() {
      let changes = entities[key.entity]
      let entity = changes.entity
      guard let record = try record(of: key.number, changes, in: source) else { continue }
      objects.append(
        ValidatedObject(
          entity: entity,
          number: key.number,
          change: change(of: key),
          values: entity.ownValues(of: record),
          links: try links(of: key.number, entity, in: source)
        )
      )
    }
    return objects
  }

  /// Returns the change of the request to an object.
  func change(of key: ObjectKey) -> ValidatedChange {
    let changes = entities[key.entity]
    if changes.insertedIndex(of: key.number) != nil { return .insertion }
    return changes.deletes(key.number) ? .deletion : .update
  }

  /// Returns all values that an object gets; nil for an object that isn't there.
  private func record(
    of number: ObjectNumber,
    _ changes: EntityChanges,
    in source: any ObjectSource
  ) throws(ContextError) -> [UInt8]? {
    if let index = changes.insertedIndex(of: number) { return Array(changes.inserted[index].bytes) }
    let entity = changes.entity
    guard let stored = try source.record(number, of: entity) else { return nil }
    guard let index = changes.patchIndex(of: number) else { return Array(stored) }
    let patch = changes.updated[index]
    let bytes = changes.encoder.encode(
      RecordView(validated: stored, layout: entity.layout),
      patchedBy: RecordView(validated: patch.bytes, layout: entity.layout),
      in: patch.slots
    )
    return Array(bytes)
  }

  /// Returns the elements of an object's many-to-many relationships as the request leaves them, by the positions of the
  /// relationships. O(links).
  private func links(
    of owner: ObjectNumber,
    _ entity: StoredEntity,
    in source: any ObjectSource
  ) throws(ContextError) -> [[ObjectNumber]] {
    var links: [[ObjectNumber]] = []
    for toMany in entity.toManys {
      guard case .pairs = toMany.storage, !toMany.isHidden else {
        links.append([])
        continue
      }
      var elements = Set(try source.elements(of: owner, in: toMany.links))
      for pairs in pairs where pairs.source.ordinal == entity.ordinal {
        guard pairs.relationship.ordinal == toMany.ordinal else { continue }
        elements.formUnion(pairs.links.added[owner] ?? [])
        elements.subtract(pairs.links.removed[owner] ?? [])
      }
      links.append(elements.sorted())
    }
    return links
  }
}

extension StoredEntity {
  /// Returns the values of a record, by slot. Values that other objects determine, which are places and derived values,
  /// are null.
  fileprivate func ownValues(of record: [UInt8]) -> [AttributeValue] {
    record.withUnsafeBytes { bytes in
      let view = RecordView(validated: bytes, layout: layout)
      return schema.stored.indices.map { slot in
        if placeSlots.contains(slot) || derivedSlots.contains(slot) { return .null }
        // A value that the record only refers to reads as null: the reference stands for it.
        return view.externalReference(slot).map { .data(Data($0.encoded)) } ?? view.value(slot)
      }
    }
  }
}
