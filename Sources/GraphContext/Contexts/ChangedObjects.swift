import Predicates

/// The objects of one entity that a context holds because they have unsaved changes.
///
/// The lists only grow until the save or rollback that empties them. An object's phase says which list it is in now, so
/// an entry that doesn't fit its object's phase any more is skipped, and so is the second entry of an object that left
/// and came back; and so is one that was taken back before it was saved and is in another context now.
package struct ChangedObjects {
  /// The context.
  private let host: ObjectIdentifier
  private var insertedEntries: [any ManagedObject] = []
  private var updatedEntries: [any ManagedObject] = []
  private var deletedEntries: [any ManagedObject] = []

  init(in host: ObjectHost) { self.host = ObjectIdentifier(host) }

  package var isEmpty: Bool { insertedEntries.isEmpty && updatedEntries.isEmpty && deletedEntries.isEmpty }

  /// Whether any object is inserted, updated or deleted. O(entries), and O(1) where the first entry is one.
  package var hasAny: Bool {
    insertedEntries.contains { isInserted($0._$state) }
      || updatedEntries.contains { isUpdated($0._$state) }
      || deletedEntries.contains { isDeleted($0._$state) }
  }

  private func isInserted(_ state: ObjectState) -> Bool {
    state.phase == .inserted && state.host.map { ObjectIdentifier($0) } == host
  }
  private func isUpdated(_ state: ObjectState) -> Bool { state.phase == .persistent && state.changed != 0 }
  private func isDeleted(_ state: ObjectState) -> Bool { state.phase == .deleted }

  mutating func noteInserted(_ object: any ManagedObject) { insertedEntries.append(object) }
  mutating func noteUpdated(_ object: any ManagedObject) { updatedEntries.append(object) }
  mutating func noteDeleted(_ object: any ManagedObject) { deletedEntries.append(object) }

  /// Inserted and not deleted since, by number, which is the order of insertion.
  package var inserted: [any ManagedObject] { entries(insertedEntries, where: isInserted) }
  /// Changed and not deleted since, by number.
  package var updated: [any ManagedObject] { entries(updatedEntries, where: isUpdated) }
  /// Deleted, not counting those that were never saved, by number.
  package var deleted: [any ManagedObject] { entries(deletedEntries, where: isDeleted) }

  /// Inserted since another call and not deleted since, in the order in which they were noted. O(objects noted since).
  ///
  /// - Parameter position: where the other call has ended; 0 for the first one. Receives where this one ends.
  func inserted(from position: inout Int) -> [any ManagedObject] {
    // A save or a rollback has emptied the list.
    if position > insertedEntries.count { position = 0 }
    defer { position = insertedEntries.count }
    return insertedEntries[position...].filter { isInserted($0._$state) }
  }

  /// The numbers of all of them.
  var numbers: [ObjectNumber] {
    if isEmpty { return [] }
    return (inserted + updated + deleted).map(\._$state.number)
  }

  private func entries(
    _ entries: [any ManagedObject],
    where isIncluded: (ObjectState) -> Bool
  ) -> [any ManagedObject] {
    // The usual case, without another list.
    if ascend(entries, where: isIncluded) { return entries }
    var result = entries.filter { isIncluded($0._$state) }
    if ascend(result, where: isIncluded) { return result }
    result.sort { $0._$state.number < $1._$state.number }
    var last = ObjectNumber.none
    result.removeAll { object in
      defer { last = object._$state.number }
      return object._$state.number == last
    }
    return result
  }

  /// Whether all entries are included and ascend by number.
  private func ascend(_ entries: [any ManagedObject], where isIncluded: (ObjectState) -> Bool) -> Bool {
    var last = ObjectNumber.none
    for object in entries {
      let state = object._$state
      guard isIncluded(state), state.number > last else { return false }
      last = state.number
    }
    return true
  }

  mutating func removeAll() {
    insertedEntries = []
    updatedEntries = []
    deletedEntries = []
  }
}
