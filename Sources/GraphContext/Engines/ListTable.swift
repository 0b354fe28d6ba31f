import Predicates

/// A table of the members of an ordered relationship: owner, place and member, in this order.
struct ListTable: Sendable, Hashable {
  /// The ordinal of the members' entity.
  let entity: Int
  /// Of the to-one relationship that leads to the owner.
  let slot: Int
  /// Of the member's place.
  let placeSlot: Int
  /// The name of the tree that has the members in their order: the index of the two slots.
  let treeName: String

  var referenceBit: UInt64 { 1 << UInt64(slot) }
  var placeBit: UInt64 { 1 << UInt64(placeSlot) }
}

/// A member of an ordered relationship. Members with equal places, which two contexts may give, are in the order of their numbers.
struct ListEntry: Hashable, Comparable {
  let place: ListPlace
  let number: ObjectNumber

  static func < (left: ListEntry, right: ListEntry) -> Bool {
    left.place == right.place ? left.number < right.number : left.place < right.place
  }
}
