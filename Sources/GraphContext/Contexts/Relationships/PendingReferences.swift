import Predicates

/// Unsaved changes of one to-one relationship, seen from its destinations. They are worked out together, so that the
/// number of members and their list belong to one state.
struct PendingReferences {
  private(set) var links: PendingLinks
  /// Unsaved changes of the order of members; nil where they have no order.
  private(set) var lists: PendingLists?

  init(_ links: PendingLinks, _ lists: PendingLists?) { (self.links, self.lists) = (links, lists) }

  /// Notes that an object's reference leads elsewhere.
  mutating func move(_ number: ObjectNumber, from old: ObjectNumber, to new: ObjectNumber) {
    links.move(number, from: old, to: new)
  }

  /// Changes the unsaved lists, if members have an order.
  mutating func changeLists(_ body: (inout PendingLists) -> Void) {
    if lists != nil { body(&lists!) }
  }
}
