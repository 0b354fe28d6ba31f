import Predicates

/// The placing of the objects of an insertion by batch as the last ones of the ordered lists that they join, as linking
/// an object does. By itself, a row's object has the place of its number, which isn't the last one in a list whose
/// members were moved to its end. An existing object that a row was unified with, and that is in the row's list
/// already, stays where it is.
struct BatchOrder {
  let changes: EntityChanges
  let source: any ObjectSource

  /// An object that joins a list.
  private struct Member {
    let entry: ListEntry
    /// The index among the inserted objects, or among the patches of existing ones that rows were unified with.
    let index: Int
    let isInserted: Bool
  }

  /// Gives the objects their places in the lists. O(rows + owners · log n).
  func place() throws(ContextError) {
    for toOne in changes.entity.toOnes {
      if let list = toOne.list { try place(in: list) }
    }
    changes.updated.removeAll(where: \.slots.isEmpty)
  }

  private func place(in list: ReferenceList) throws(ContextError) {
    // Without a new reference, the place is that of the row's number.
    for (index, patch) in changes.updated.enumerated() where !patch.slots.contains(list.slots.reference) {
      changes.updated[index].slots.remove(list.slots.place)
    }
    for (owner, members) in members(of: list) {
      let members = members.sorted { $0.entry < $1.entry }
      guard let last = try last(of: owner, in: list), members[0].entry < last else { continue }
      let places = ListPlace.places(
        members.count,
        after: last.place,
        before: nil,
        limit: ListPlace.greatestByteCount
      )
      // Without places behind the last one, which takes 2⁶³ moves, the numbers decide.
      for (member, place) in zip(members, places ?? []) { set(place, in: list, of: member) }
    }
  }

  /// Returns the objects that join the lists of each owner.
  private func members(of list: ReferenceList) -> [ObjectNumber: [Member]] {
    var members: [ObjectNumber: [Member]] = [:]
    func add(_ number: ObjectNumber, _ record: RecordView, at index: Int, isInserted: Bool) {
      let owner = record.reference(list.slots.reference)
      if owner.isNone { return }
      let entry = record.listEntry(number, in: list.slots)
      members[owner, default: []].append(Member(entry: entry, index: index, isInserted: isInserted))
    }
    for (index, new) in changes.inserted.enumerated() {
      add(new.number, view(UnsafeRawBufferPointer(new.bytes)), at: index, isInserted: true)
    }
    for (index, patch) in changes.updated.enumerated() where patch.slots.contains(list.slots.reference) {
      add(patch.number, view(patch.bytes), at: index, isInserted: false)
    }
    return members
  }

  private func view(_ bytes: UnsafeRawBufferPointer) -> RecordView {
    RecordView(validated: bytes, layout: changes.entity.layout)
  }

  private func last(of owner: ObjectNumber, in list: ReferenceList) throws(ContextError) -> ListEntry? {
    let count = try source.entryCount(of: owner, before: nil, in: list.table)
    return count == 0 ? nil : try source.entries(of: owner, at: count - 1..<count, in: list.table).first
  }

  private func set(_ place: ListPlace, in list: ReferenceList, of member: Member) {
    let index = member.index
    let old =
      member.isInserted ? UnsafeRawBufferPointer(changes.inserted[index].bytes) : changes.updated[index].bytes
    let value = place._attributeValue
    let bytes = changes.encoder.encode(view(old), replacing: list.slots.place, with: value)
    if member.isInserted {
      changes.inserted[index] = .init(number: member.entry.number, bytes: bytes)
    } else {
      changes.updated[index].bytes = UnsafeRawBufferPointer(bytes)
      changes.updated[index].slots.insert(list.slots.place)
    }
  }
}
