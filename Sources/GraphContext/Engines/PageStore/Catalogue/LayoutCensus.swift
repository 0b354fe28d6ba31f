import PageStore
import Predicates

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
      let number = KeyCoder.number(ending: try cursor.key()) ?? .none
      guard let layout = RecordLayout.number(of: try cursor.value()), layout < entity.layouts.count else {
        throw ContextError.damagedRecord(number, of: entity.name)
      }
      counts[layout, default: 0] += 1
    }
  }

  /// Returns the number of records of other layouts than this one.
  func count(besides layout: UInt32) -> Int { counts.reduce(0) { $1.key == layout ? $0 : $0 + $1.value } }
}
