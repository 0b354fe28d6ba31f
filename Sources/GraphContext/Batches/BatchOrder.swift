import Predicates

/// Makes the objects of an insertion by batch the last ones of the ordered lists that they join, as an object that is linked is. The place of a new object is that of its
/// number, which isn't the last one in a list whose members were moved to its end.
struct BatchOrder {
  let changes: EntityChanges
  let source: any ObjectSource

  /// O(rows + owners · log n).
  func place() throws(ContextError) {
    for toOne in changes.entity.toOnes {
      if let list = toOne.list { try place(in: list) }
    }
  }

  private func place(in list: ListTable) throws(ContextError) {
    var members: [ObjectNumber: [Int]] = [:]
    for index in changes.inserted.indices {
      let owner = record(index).reference(list.slot)
      if !owner.isNone { members[owner, default: []].append(index) }
    }
    for (owner, indices) in members {
      guard let last = try last(of: owner, in: list) else { continue }
      let first = changes.inserted[indices[0]].number
      if last < ListEntry(place: ListPlace(of: first), number: first) { continue }
      let places = ListPlace.places(
        indices.count,
        after: last.place,
        before: nil,
        limit: ListPlace.greatestByteCount
      )
      // Without places behind the last one, which takes 2⁶³ moves, the numbers decide.
      for (index, place) in zip(indices, places ?? []) { set(place, in: list, at: index) }
    }
  }

  private func record(_ index: Int) -> RecordView {
    RecordView(
      validated: UnsafeRawBufferPointer(changes.inserted[index].bytes),
      layout: changes.entity.layout
    )
  }

  private func last(of owner: ObjectNumber, in list: ListTable) throws(ContextError) -> ListEntry? {
    let count = try source.entryCount(of: owner, before: nil, in: list)
    return count == 0 ? nil : try source.entries(of: owner, at: count - 1..<count, in: list).first
  }

  private func set(_ place: ListPlace, in list: ListTable, at index: Int) {
    let bytes = changes.encoder.encode(
      record(index),
      replacing: list.placeSlot,
      with: place._attributeValue
    )
    changes.inserted[index] = .init(number: changes.inserted[index].number, bytes: bytes)
  }
}
