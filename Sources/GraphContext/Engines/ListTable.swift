import Predicates

/// A table of the members of an ordered relationship: owner, place and member, in this order.
struct ListTable: Sendable, Hashable {
  /// The ordinal of the members' entity.
  let entity: Int
  /// The name of the tree that has the members in their order.
  let treeName: String
  let origin: Origin

  /// The part of the store that keeps the members' places.
  enum Origin: Sendable, Hashable {
    /// In slots of the members' records. The tree is the index of the two slots.
    case members(PlaceSlots)
    /// Beside the links of a many-to-many relationship. The tree is the relationship's own.
    case pairs(PairPlaces)
  }
}

/// The slots of a member that is in one list.
struct PlaceSlots: Sendable, Hashable {
  /// The slot of the to-one relationship that leads to the owner.
  let reference: Int
  /// The slot of the member's place.
  let place: Int

  /// The two slots as a set.
  var both: SlotSet { SlotSet(reference).union(SlotSet(place)) }
}

/// A many-to-many relationship whose links have places.
struct PairPlaces: Sendable, Hashable {
  /// The ordinal of the owners' entity, and the position of the relationship among its to-many relationships.
  let entity: Int
  let position: Int
  /// The tree of the links from the owners. The value of a link is its place, or empty if that is the place of the
  /// member's number.
  let linkTreeName: String
}

/// The order of the objects that a to-one relationship leads from.
struct ReferenceList: Sendable, Hashable {
  /// The ordinal of the entity that has the relationship.
  let entity: Int
  let slots: PlaceSlots
  /// The name of the index of the two slots.
  let treeName: String

  var table: ListTable { ListTable(entity: entity, treeName: treeName, origin: .members(slots)) }
}

/// A member of an ordered relationship. Members with equal places, which two contexts may give, are in the order of
/// their numbers.
struct ListEntry: Hashable, Comparable {
  let place: ListPlace
  let number: ObjectNumber

  /// Makes an entry at a place; nil stands for the place of the number.
  init(place: ListPlace?, number: ObjectNumber) {
    self.place = place ?? ListPlace(of: number)
    self.number = number
  }

  /// Makes an entry from the value of a link; nil for bytes that are no such value.
  init?(linkValue: [UInt8], number: ObjectNumber) {
    let place = ListPlace(linkValue)
    guard place != nil || linkValue.isEmpty else { return nil }
    self.init(place: place, number: number)
  }

  /// The value of the entry's link: the bytes of its place, or no bytes if that is the place of the number.
  var linkValue: [UInt8] { self == ListEntry(place: nil, number: number) ? [] : place.bytes }

  static func < (left: ListEntry, right: ListEntry) -> Bool {
    left.place == right.place ? left.number < right.number : left.place < right.place
  }
}
