import PageStore
import Predicates

// All records of an entity, one after the other.

extension StoredEntity {
  /// Calls `body` with each record of a snapshot, in the newest layout, in the order of the numbers. O(records).
  ///
  /// - Throws: `corrupt` for bytes that are no record of the entity.
  func forEachRecord(in snapshot: Snapshot, _ body: (ObjectNumber, RecordView) -> Void) throws {
    guard let tree = try snapshot.treeIfPresent(treeName) else { return }
    let reader = RecordReader(self)
    var cursor = tree.cursor()
    while try cursor.next() {
      let number = KeyCoder.objectID(ending: try cursor.key()) ?? .none
      guard let record = reader.view(try cursor.value()) else { throw StoreView.damaged(number, of: self) }
      body(number, record)
    }
  }
}

/// The number of an entity's records in each of its layouts.
struct LayoutCensus {
  /// The counts by the layout's number. A layout without records has no count.
  private(set) var counts: [UInt32: Int] = [:]

  /// Reads the head of every record, unless all have the same layout. O(records).
  init(of entity: CataloguedEntity, in snapshot: Snapshot) throws {
    guard let tree = try snapshot.treeIfPresent(entity.tree) else { return }
    guard entity.layouts.count > 1 else {
      counts[0] = try tree.count
      return
    }
    var cursor = tree.cursor()
    while try cursor.next() {
      let number = KeyCoder.objectID(ending: try cursor.key()) ?? .none
      guard let layout = RecordLayout.number(of: try cursor.value()), layout < entity.layouts.count else {
        throw StoreView.damaged(number, of: entity.name)
      }
      counts[layout, default: 0] += 1
    }
  }

  /// Returns the number of records of other layouts than this one.
  func count(besides layout: UInt32) -> Int { counts.reduce(0) { $1.key == layout ? $0 : $0 + $1.value } }
}
