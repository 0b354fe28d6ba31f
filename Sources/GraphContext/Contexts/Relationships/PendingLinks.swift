import Predicates

/// Unsaved links from owners to elements, as differences to the store: the links that were added and those that were
/// removed.
///
/// A link is never in both: adding one that was removed only forgets the removal, and the other way round.
struct PendingLinks {
  private(set) var added: [ObjectNumber: Set<ObjectNumber>] = [:]
  private(set) var removed: [ObjectNumber: Set<ObjectNumber>] = [:]

  var isEmpty: Bool { added.isEmpty && removed.isEmpty }

  /// Notes that a link was added.
  mutating func link(_ owner: ObjectNumber, _ element: ObjectNumber) {
    if !Self.take(element, of: owner, from: &removed) { added[owner, default: []].insert(element) }
  }

  /// Notes that a link was removed.
  mutating func unlink(_ owner: ObjectNumber, _ element: ObjectNumber) {
    if !Self.take(element, of: owner, from: &added) { removed[owner, default: []].insert(element) }
  }

  /// Notes that a link was added or removed.
  mutating func note(_ owner: ObjectNumber, _ element: ObjectNumber, isLinked: Bool) {
    if isLinked { link(owner, element) } else { unlink(owner, element) }
  }

  /// Moves a link to other pending links.
  mutating func hand(
    _ owner: ObjectNumber,
    _ element: ObjectNumber,
    isLinked: Bool,
    to others: inout PendingLinks
  ) {
    forgetChange(owner, element, isLinked: isLinked)
    others.note(owner, element, isLinked: isLinked)
  }

  /// Notes that an element leads to another owner; `none` stands for no owner.
  mutating func move(_ element: ObjectNumber, from old: ObjectNumber, to new: ObjectNumber) {
    guard old != new else { return }
    if !old.isNone { unlink(old, element) }
    if !new.isNone { link(new, element) }
  }

  /// Forgets a change that makes no difference any more, because the link exists, or doesn't.
  mutating func forgetChange(_ owner: ObjectNumber, _ element: ObjectNumber, isLinked: Bool) {
    if isLinked {
      _ = Self.take(element, of: owner, from: &added)
    } else {
      _ = Self.take(element, of: owner, from: &removed)
    }
  }

  /// Adds changes that were made after these.
  mutating func merge(_ later: PendingLinks) {
    for (owner, elements) in later.removed { for element in elements { unlink(owner, element) } }
    for (owner, elements) in later.added { for element in elements { link(owner, element) } }
  }

  /// Returns whether a link exists, as far as the changes tell without the store; nil where they don't.
  func isLinked(_ owner: ObjectNumber, _ element: ObjectNumber) -> Bool? {
    if added[owner]?.contains(element) == true { return true }
    if removed[owner]?.contains(element) == true { return false }
    return nil
  }

  /// Returns the elements of an owner, ascending, given those that the store has.
  func elements(of owner: ObjectNumber, stored: [ObjectNumber]) -> [ObjectNumber] {
    var result = stored
    if let removed = removed[owner] { result.removeAll { removed.contains($0) } }
    if let added = added[owner] {
      result.append(contentsOf: added)
      result.sort()
    }
    return result
  }

  /// Returns how many more elements an owner has than in the store.
  func difference(of owner: ObjectNumber) -> Int { (added[owner]?.count ?? 0) - (removed[owner]?.count ?? 0) }

  /// Forgets every link of an owner, which is new and has left the context.
  mutating func forget(_ owner: ObjectNumber) {
    added[owner] = nil
    removed[owner] = nil
  }

  /// Removes a link from `links` if it is there. Static: with `self` at hand, the sets would be copied before they are
  /// changed.
  private static func take(
    _ element: ObjectNumber,
    of owner: ObjectNumber,
    from links: inout [ObjectNumber: Set<ObjectNumber>]
  ) -> Bool {
    guard links[owner]?.remove(element) != nil else { return false }
    if links[owner]?.isEmpty == true { links[owner] = nil }
    return true
  }

  /// Returns the links for which `isIncluded` returns true; its last argument says whether the link was added.
  func filter<Failure: Error>(
    _ isIncluded: (ObjectNumber, ObjectNumber, Bool) throws(Failure) -> Bool
  ) throws(Failure) -> PendingLinks {
    var result = PendingLinks()
    for (owner, elements) in added {
      for element in elements where try isIncluded(owner, element, true) { result.link(owner, element) }
    }
    for (owner, elements) in removed {
      for element in elements where try isIncluded(owner, element, false) { result.unlink(owner, element) }
    }
    return result
  }
}
