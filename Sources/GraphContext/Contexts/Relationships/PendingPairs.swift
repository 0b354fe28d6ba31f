import Predicates

/// Unsaved changes of one to-many relationship that is stored as pairs: links, their places and their order, seen from
/// the owners.
///
/// Each part is changed in place. A caller that holds a copy meanwhile makes the change copy a whole dictionary.
struct PendingPairs {
  private(set) var links = PendingLinks()
  /// Unsaved changes of links that the parent of a child has made as well. They are no differences between the child
  /// and its parent, until the parent takes its own change back. Empty in a context without a parent.
  private(set) var agreed = PendingLinks()
  /// Unsaved places of links; empty for a relationship without an order.
  private(set) var places = PendingPlaces()
  /// Unsaved changes of the order. Nil before they are made.
  private(set) var lists: PendingLists?

  /// True if a link or its place has unsaved changes.
  @inline(__always) var hasChanges: Bool { !links.isEmpty || !places.isEmpty }
  /// True if there are no unsaved changes, and none that the parent has made as well.
  @inline(__always) var isEmpty: Bool { !hasChanges && agreed.isEmpty }

  /// Returns true if links of an owner, or their places, have unsaved changes.
  func haveChanges(of owner: ObjectNumber) -> Bool {
    links.added[owner] != nil || links.removed[owner] != nil || places.byOwner[owner] != nil
  }

  /// Returns the entry of an element in the list of its owner, as far as the changes tell without the source; nil where
  /// they don't.
  @inline(__always) func listEntry(of element: ObjectNumber, in owner: ObjectNumber) -> ListEntry? {
    if let place = places[owner, element] { return ListEntry(place: place, number: element) }
    return links.isLinked(owner, element) == true ? ListEntry(place: nil, number: element) : nil
  }

  // MARK: Links

  /// Notes that a link was added or removed. Its place and the lists follow separately.
  mutating func note(_ owner: ObjectNumber, _ element: ObjectNumber, isLinked: Bool) {
    links.note(owner, element, isLinked: isLinked)
    agreed.forgetChange(owner, element, isLinked: !isLinked)
  }

  /// Notes that an unsaved change of a link was made below as well.
  mutating func noteAgreed(_ owner: ObjectNumber, _ element: ObjectNumber, isLinked: Bool) {
    links.hand(owner, element, isLinked: isLinked, to: &agreed)
  }

  /// Notes that the change below was taken back, so that the one here is a difference again.
  mutating func noteDiffering(_ owner: ObjectNumber, _ element: ObjectNumber, isLinked: Bool) {
    agreed.hand(owner, element, isLinked: isLinked, to: &links)
  }

  /// Forgets the changes that the parent has made as well and for which `isKept` returns false.
  mutating func filterAgreed(_ isKept: (_ owner: ObjectNumber, _ element: ObjectNumber) -> Bool) {
    agreed = agreed.filter { owner, element, _ in isKept(owner, element) }
  }

  // MARK: Places and lists

  /// Gives a link a place. The lists follow separately.
  ///
  /// - Parameter place: nil to forget the unsaved place.
  mutating func setPlace(_ place: ListPlace?, of element: ObjectNumber, in owner: ObjectNumber) {
    places.set(place, of: element, in: owner)
  }

  /// Keeps the unsaved lists, which are up to date from then on.
  mutating func keep(_ lists: PendingLists) { self.lists = lists }

  /// Changes the unsaved lists, if they were made.
  mutating func changeLists(_ body: (inout PendingLists) -> Void) {
    if lists != nil { body(&lists!) }
  }

  mutating func forgetLists() { lists = nil }

  // MARK: All parts

  /// Forgets every change of an owner, which is new and has left the context.
  mutating func forget(_ owner: ObjectNumber) {
    links.forget(owner)
    places.forget(owner)
    changeLists { $0.forget(owner) }
  }

  /// Keeps the links for which `isKept` returns true, with their places. Forgets the lists.
  mutating func filter(_ isKept: (_ owner: ObjectNumber, _ element: ObjectNumber) -> Bool) {
    links = links.filter { owner, element, _ in isKept(owner, element) }
    filterAgreed(isKept)
    places.filter { owner, element, _ in isKept(owner, element) }
    forgetLists()
  }

  /// Makes the links the differences to what the source shows. A link that was added or removed below as well is no
  /// difference.
  ///
  /// - Parameters:
  ///   - keepsAgreed: true for a child, which keeps such a change aside: its parent may take its own change back.
  ///   - isStored: returns true if the source has a link.
  mutating func normaliseLinks(
    keepsAgreed: Bool,
    _ isStored: (_ owner: ObjectNumber, _ element: ObjectNumber) throws(ContextError) -> Bool
  ) throws(ContextError) {
    var all = agreed
    all.merge(links)
    if all.isEmpty { return }
    var same = PendingLinks()
    links = try all.filter { owner, element, isAdded throws(ContextError) in
      if try isStored(owner, element) != isAdded { return true }
      if keepsAgreed { same.note(owner, element, isLinked: isAdded) }
      return false
    }
    agreed = same
  }

  /// Forgets places of links that the source no longer has, and places that the source has too.
  ///
  /// - Parameter storedEntry: returns the entry that the source has of a link; nil if it doesn't have the link.
  mutating func normalisePlaces(
    _ storedEntry: (_ owner: ObjectNumber, _ element: ObjectNumber) throws(ContextError) -> ListEntry?
  ) throws(ContextError) {
    let links = links
    try places.filter { owner, element, place throws(ContextError) in
      if links.isLinked(owner, element) != nil { return true }
      guard let stored = try storedEntry(owner, element) else { return false }
      return stored.place != place
    }
  }
}
