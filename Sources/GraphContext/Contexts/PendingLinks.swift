import Predicates

/// Unsaved links from owners to elements, as differences to what the store has: what was added and what was removed.
///
/// A link is never in both: adding one that was removed only forgets the removal, and the other way round.
struct PendingLinks {
  private(set) var added: [ObjectNumber: Set<ObjectNumber>] = [:]
  private(set) var removed: [ObjectNumber: Set<ObjectNumber>] = [:]

  var isEmpty: Bool { added.isEmpty && removed.isEmpty }

  /// The link was not there and is now.
  mutating func link(_ owner: ObjectNumber, _ element: ObjectNumber) {
    if !Self.take(element, of: owner, from: &removed) { added[owner, default: []].insert(element) }
  }

  /// The link was there and is no longer.
  mutating func unlink(_ owner: ObjectNumber, _ element: ObjectNumber) {
    if !Self.take(element, of: owner, from: &added) { removed[owner, default: []].insert(element) }
  }

  /// What is known of a link without asking the store: there, not there, or nil.
  func isLinked(_ owner: ObjectNumber, _ element: ObjectNumber) -> Bool? {
    if added[owner]?.contains(element) == true { return true }
    if removed[owner]?.contains(element) == true { return false }
    return nil
  }

  /// The elements of an owner, ascending, of which the store has these.
  func elements(of owner: ObjectNumber, stored: [ObjectNumber]) -> [ObjectNumber] {
    var result = stored
    if let removed = removed[owner] { result.removeAll { removed.contains($0) } }
    if let added = added[owner] {
      result.append(contentsOf: added)
      result.sort()
    }
    return result
  }

  /// How many more elements an owner has than the store knows of.
  func difference(of owner: ObjectNumber) -> Int { (added[owner]?.count ?? 0) - (removed[owner]?.count ?? 0) }

  /// Every link of an owner is forgotten: the owner is new and left the context.
  mutating func forget(_ owner: ObjectNumber) {
    added[owner] = nil
    removed[owner] = nil
  }

  /// Removes a link from `links` if it is there. Static: with `self` at hand, the sets would be copied before they are changed.
  private static func take(
    _ element: ObjectNumber,
    of owner: ObjectNumber,
    from links: inout [ObjectNumber: Set<ObjectNumber>]
  ) -> Bool {
    guard links[owner]?.remove(element) != nil else { return false }
    if links[owner]?.isEmpty == true { links[owner] = nil }
    return true
  }
}
