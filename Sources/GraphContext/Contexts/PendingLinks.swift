/// Unsaved links from owners to elements, as differences to what the store has: what was added and what was removed.
///
/// A link is never in both: adding one that was removed only forgets the removal, and the other way round.
struct PendingLinks {
  private(set) var added: [UInt64: Set<UInt64>] = [:]
  private(set) var removed: [UInt64: Set<UInt64>] = [:]

  var isEmpty: Bool { added.isEmpty && removed.isEmpty }

  /// The link was not there and is now.
  mutating func link(_ owner: UInt64, _ element: UInt64) {
    if !Self.take(element, of: owner, from: &removed) { added[owner, default: []].insert(element) }
  }

  /// The link was there and is no longer.
  mutating func unlink(_ owner: UInt64, _ element: UInt64) {
    if !Self.take(element, of: owner, from: &added) { removed[owner, default: []].insert(element) }
  }

  /// What is known of a link without asking the store: there, not there, or nil.
  func isLinked(_ owner: UInt64, _ element: UInt64) -> Bool? {
    if added[owner]?.contains(element) == true { return true }
    if removed[owner]?.contains(element) == true { return false }
    return nil
  }

  /// The elements of an owner, ascending, of which the store has these.
  func elements(of owner: UInt64, stored: [UInt64]) -> [UInt64] {
    var result = stored
    if let removed = removed[owner] { result.removeAll { removed.contains($0) } }
    if let added = added[owner] {
      result.append(contentsOf: added)
      result.sort()
    }
    return result
  }

  /// How many more elements an owner has than the store knows of.
  func difference(of owner: UInt64) -> Int { (added[owner]?.count ?? 0) - (removed[owner]?.count ?? 0) }

  /// Every link of an owner is forgotten: the owner is new and left the context.
  mutating func forget(_ owner: UInt64) {
    added[owner] = nil
    removed[owner] = nil
  }

  /// Removes a link from `links` if it is there. Static: with `self` at hand, the sets would be copied before they are changed.
  private static func take(
    _ element: UInt64,
    of owner: UInt64,
    from links: inout [UInt64: Set<UInt64>]
  ) -> Bool {
    guard links[owner]?.remove(element) != nil else { return false }
    if links[owner]?.isEmpty == true { links[owner] = nil }
    return true
  }
}
