import Predicates

/// Unsaved places of links in one ordered many-to-many relationship, by owner and element.
///
/// An added link has an entry here if it was moved since; otherwise its place is that of the element's number. A link
/// of the source has an entry here while its place differs from that in the source.
struct PendingPlaces {
  private(set) var byOwner: [ObjectNumber: [ObjectNumber: ListPlace]] = [:]

  var isEmpty: Bool { byOwner.isEmpty }

  subscript(owner: ObjectNumber, element: ObjectNumber) -> ListPlace? { byOwner[owner]?[element] }

  /// - Parameter place: nil to forget it.
  mutating func set(_ place: ListPlace?, of element: ObjectNumber, in owner: ObjectNumber) {
    guard place != nil || byOwner[owner] != nil else { return }
    byOwner[owner, default: [:]][element] = place
    if byOwner[owner]?.isEmpty == true { byOwner[owner] = nil }
  }

  mutating func forget(_ owner: ObjectNumber) { byOwner[owner] = nil }

  /// Keeps the places for which `isIncluded` returns true.
  mutating func filter<Failure: Error>(
    _ isIncluded: (ObjectNumber, ObjectNumber, ListPlace) throws(Failure) -> Bool
  ) throws(Failure) {
    for (owner, places) in byOwner {
      for (element, place) in places where try !isIncluded(owner, element, place) {
        set(nil, of: element, in: owner)
      }
    }
  }
}
