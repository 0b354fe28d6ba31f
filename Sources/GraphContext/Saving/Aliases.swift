import Predicates

// New objects that a save has unified with existing ones, as aliases of these.

extension [Int: ObjectNumber] {
  /// Returns the targets of references by slot, with the objects that unified targets stand for in their place.
  ///
  /// - Parameters:
  ///   - owners: the existing objects that unified ones stand for, by the entity's ordinal.
  ///   - slots: the slots of the references to look at.
  func redirected(
    _ owners: [[ObjectNumber: ObjectNumber]],
    from entity: StoredEntity,
    in slots: SlotSet = .all
  ) -> Self {
    var redirected = self
    for toOne in entity.toOnes where slots.contains(toOne.slot) {
      guard let target = self[toOne.slot] else { continue }
      if let owner = owners[toOne.destination].owner(of: target) { redirected[toOne.slot] = owner }
    }
    return redirected
  }
}

extension [ObjectNumber: ObjectNumber] {
  /// Returns the object that a unified one stands for, whose policy may have unified it in turn; nil for any other
  /// object.
  func owner(of number: ObjectNumber) -> ObjectNumber? {
    guard var owner = self[number] else { return nil }
    while let next = self[owner] { owner = next }
    return owner
  }
}
