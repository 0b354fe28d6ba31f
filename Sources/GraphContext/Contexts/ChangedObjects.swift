import Predicates

/// The objects of one entity that a context holds because they have unsaved changes.
///
/// The lists only grow until a save or rollback empties them. An object's phase says which list it is in now. Three
/// kinds of entries are skipped: an entry that no longer fits its object's phase, the second entry of an object that
/// left and came back, and the entry of an object whose insertion was taken back before a save and that is in another
/// context now.
struct ChangedObjects {
  /// The context.
  private let host: ObjectIdentifier
  private var insertedEntries: [any ManagedObject] = []
  private var updatedEntries: [any ManagedObject] = []
  private var deletedEntries: [any ManagedObject] = []
  /// The count of times that the lists were emptied.
  private var emptyings = 0

  init(in host: ObjectHost) { self.host = ObjectIdentifier(host) }

  var isEmpty: Bool { insertedEntries.isEmpty && updatedEntries.isEmpty && deletedEntries.isEmpty }

  /// True if any object is inserted, updated or deleted. O(entries), and O(1) where the first entry is one.
  var hasAny: Bool {
    insertedEntries.contains { isInserted($0._$state) }
      || updatedEntries.contains { isUpdated($0._$state) }
      || deletedEntries.contains { isDeleted($0._$state) }
  }

  private func isInserted(_ state: ObjectState) -> Bool {
    state.phase == .inserted && state.host.map { ObjectIdentifier($0) } == host
  }
  private func isUpdated(_ state: ObjectState) -> Bool {
    state.phase == .persistent && !state.changed.isEmpty
  }
  private func isDeleted(_ state: ObjectState) -> Bool { state.phase == .deleted }

  mutating func noteInserted(_ object: any ManagedObject) { insertedEntries.append(object) }
  mutating func noteUpdated(_ object: any ManagedObject) { updatedEntries.append(object) }
  mutating func noteDeleted(_ object: any ManagedObject) { deletedEntries.append(object) }

  /// The objects that were inserted and not deleted since, by number, which is the order of insertion.
  var inserted: [any ManagedObject] { entries(insertedEntries, where: isInserted) }
  /// The objects that were changed and not deleted since, by number.
  var updated: [any ManagedObject] { entries(updatedEntries, where: isUpdated) }
  /// The deleted objects, without those that were never saved, by number.
  var deleted: [any ManagedObject] { entries(deletedEntries, where: isDeleted) }

  /// The place behind the last inserted object.
  var insertionPlace: InsertionPlace {
    InsertionPlace(emptyings: emptyings, index: insertedEntries.count)
  }

  /// Returns the objects that were inserted behind a place and not deleted since, in the order in which they were
  /// noted; nil if the lists were emptied meanwhile. O(objects noted since).
  ///
  /// - Parameter place: a place in these lists. Receives the place behind the last inserted object.
  func inserted(since place: inout InsertionPlace) -> [any ManagedObject]? {
    let earlier = place
    place = insertionPlace
    if earlier.emptyings != place.emptyings { return nil }
    return insertedEntries[earlier.index...].filter { isInserted($0._$state) }
  }

  /// The numbers of all inserted, updated and deleted objects.
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
    let included = entries.filter { isIncluded($0._$state) }
    if ascend(included, where: isIncluded) { return included }
    var last = ObjectNumber.none
    return Self.sorted(included).filter { object in
      defer { last = object._$state.number }
      return object._$state.number != last
    }
  }

  /// Sorts the lists by number, so that the getters needn't sort copies of them until objects are noted out of order
  /// again. A save reads each list several times. O(1) for an empty list; O(*n*) for one that is in order.
  mutating func sort() {
    if !ascend(updatedEntries, where: { _ in true }) { updatedEntries = Self.sorted(updatedEntries) }
    if !ascend(deletedEntries, where: { _ in true }) { deletedEntries = Self.sorted(deletedEntries) }
  }

  /// Returns the objects by number. Sorting the objects themselves would retain and release two of them for each
  /// comparison.
  private static func sorted(_ objects: [any ManagedObject]) -> [any ManagedObject] {
    var order = objects.enumerated().map { (number: $1._$state.number, index: $0) }
    order.sort { $0.number < $1.number }
    return order.map { objects[$0.index] }
  }

  /// Returns whether all entries are included and ascend by number.
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
    emptyings += 1
  }
}

/// A place among the unsaved new objects of one entity in a context. It counts until a save, a rollback or a reset.
package struct InsertionPlace {
  /// The count of times that the list was emptied before.
  fileprivate let emptyings: Int
  fileprivate let index: Int
}
