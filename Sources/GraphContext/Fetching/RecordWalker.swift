import PageStore
import Predicates

/// Reads the records of objects, in neighbourly steps where their numbers ascend.
struct RecordWalker: ~Copyable {
  private let view: StoreView
  private let entity: StoredEntity
  private var cursor: TreeCursor?

  init(_ entity: StoredEntity, in view: StoreView) throws(StoreError) {
    self.view = view
    self.entity = entity
    cursor = try view.records(of: entity)?.cursor()
  }

  /// The record of an object whose number is above that of the one before; nil when there is none. The bytes stay while
  /// the view lives.
  mutating func record(_ number: UInt64) throws -> UnsafeRawBufferPointer? {
    let value = try withKey(number) { key throws(StoreError) in try cursor?.find(forward: key) }
    guard let value else { return nil }
    return view.keep(value)
  }

  /// The records of objects in any order: of those that exist, in the given order.
  static func rows(_ numbers: [UInt64], of entity: StoredEntity, in view: StoreView) throws -> [QueryRow] {
    var walker = try RecordWalker(entity, in: view)
    var rows = numbers.map { QueryRow(number: $0, record: nil) }
    if zip(numbers, numbers.dropFirst()).allSatisfy(<) {
      for place in rows.indices { rows[place].record = try walker.record(numbers[place]) }
    } else {
      // The places in order of the numbers: the walk goes through the tree once.
      let places = numbers.indices.sorted { numbers[$0] < numbers[$1] }
      for place in places { rows[place].record = try walker.record(numbers[place]) }
    }
    rows.removeAll { $0.record == nil }
    return rows
  }
}
