import PageStore
import Predicates

extension StoredEntity {
  /// Calls `body` with each record of a snapshot, in the newest layout, in the order of the numbers. O(records).
  ///
  /// - Throws: `corrupt` for bytes that are no record of the entity.
  func forEachRecord(in snapshot: Snapshot, _ body: (ObjectNumber, RecordView) -> Void) throws {
    guard let tree = try snapshot.treeIfPresent(treeName) else { return }
    let reader = RecordReader(self)
    var cursor = tree.cursor()
    while try cursor.next() {
      let number = KeyCoder.number(ending: try cursor.key()) ?? .none
      guard let record = reader.view(try cursor.value()) else {
        throw ContextError.damagedRecord(number, of: name)
      }
      body(number, record)
    }
  }
}
