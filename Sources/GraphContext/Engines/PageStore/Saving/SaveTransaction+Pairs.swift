import PageStore
import Predicates

// The links of many-to-many relationships.
//
// A link is in the trees of both of its ends. If an end has an order, its tree has the link's place as the value,
// and a separate tree has the elements in the order of their places.

extension SaveTransaction {
  /// Stores the links that were added, removes those that were removed, and moves those that have other places.
  mutating func storePairs(_ transaction: inout WriteTransaction) throws {
    for changes in request.pairs {
      let destination = schema.entities[changes.relationship.destination]
      let places = (changes.places, placesAtTheOtherEnd(of: changes))
      for (owner, elements) in changes.links.removed {
        for element in elements { try removePair(owner, element, changes.trees, &transaction) }
      }
      for (owner, elements) in changes.links.added.sorted(by: { $0.key < $1.key }) {
        try checkExists(owner, changes.source, changes.relationship.name, of: element(elements), &transaction)
        for element in elements.sorted() {
          try checkExists(element, destination, changes.relationship.name, of: owner, &transaction)
          try addPair(owner, element, at: places, changes.trees, &transaction)
        }
      }
      for (owner, element, place) in changes.movedLinks {
        try movePair(owner, element, to: place, changes.trees, &transaction)
      }
    }
  }

  /// Returns the places of the same links at the other end; none if the other end has no order.
  private func placesAtTheOtherEnd(of changes: PairChanges) -> PendingPlaces {
    if changes.trees.backwardOrder == nil { return PendingPlaces() }
    let other = request.pairs.first {
      $0.source.ordinal == changes.relationship.destination
        && $0.relationship.ordinal == changes.trees.inverse
    }
    return other?.places ?? PendingPlaces()
  }

  private func element(_ elements: Set<ObjectNumber>) -> ObjectNumber { elements.min() ?? .none }

  private mutating func noteCounted(_ owner: ObjectNumber, _ element: ObjectNumber, _ trees: PairTrees) {
    counted.note(owner, in: trees.forward)
    counted.note(element, in: trees.backward)
    noteDerived(owner, element, trees)
  }

  /// - Parameter places: the places at either end; none for the places of the numbers. In this case a link that
  ///   another context has added keeps its place.
  private mutating func addPair(
    _ owner: ObjectNumber,
    _ element: ObjectNumber,
    at places: (forward: PendingPlaces, backward: PendingPlaces),
    _ trees: PairTrees,
    _ transaction: inout WriteTransaction
  ) throws {
    noteCounted(owner, element, trees)
    let (place, back) = (places.forward[owner, element], places.backward[element, owner])
    let isKnown = try addEnd(owner, element, to: trees.forward, trees.forwardOrder, at: place, &transaction)
    if !isKnown { changeSet.noteAdded(.init(owner: owner, element: element), to: trees.relationship) }
    _ = try addEnd(element, owner, to: trees.backward, trees.backwardOrder, at: back, &transaction)
    if isKnown, let place { try movePair(owner, element, to: place, trees, &transaction) }
  }

  /// Stores a link at one of its ends. Returns whether it was there.
  private mutating func addEnd(
    _ owner: ObjectNumber,
    _ element: ObjectNumber,
    to treeName: String,
    _ order: String?,
    at place: ListPlace?,
    _ transaction: inout WriteTransaction
  ) throws(StoreError) -> Bool {
    let key = KeyCoder.pair(owner, element)
    guard let order else { return try tree(treeName, &transaction).put(key, []) }
    if try tree(treeName, &transaction).contains(key) { return true }
    let entry = ListEntry(place: place, number: element)
    try tree(treeName, &transaction).put(key, entry.linkValue)
    try tree(order, &transaction).put(KeyCoder.listKey(owner, entry), [])
    return false
  }

  mutating func removePair(
    _ owner: ObjectNumber,
    _ element: ObjectNumber,
    _ trees: PairTrees,
    _ transaction: inout WriteTransaction
  ) throws {
    noteCounted(owner, element, trees)
    if try removeEnd(owner, element, from: trees.forward, trees.forwardOrder, &transaction) {
      changeSet.noteRemoved(.init(owner: owner, element: element), from: trees.relationship)
    }
    _ = try removeEnd(element, owner, from: trees.backward, trees.backwardOrder, &transaction)
  }

  /// Removes a link at one of its ends. Returns whether it was there.
  private mutating func removeEnd(
    _ owner: ObjectNumber,
    _ element: ObjectNumber,
    from treeName: String,
    _ order: String?,
    _ transaction: inout WriteTransaction
  ) throws -> Bool {
    let key = KeyCoder.pair(owner, element)
    if let order, let entry = try entry(of: element, in: owner, treeName, &transaction) {
      try tree(order, &transaction).remove(KeyCoder.listKey(owner, entry))
    }
    return try tree(treeName, &transaction).remove(key)
  }

  /// Moves a link to another place. Does nothing for a link that another context has removed.
  private mutating func movePair(
    _ owner: ObjectNumber,
    _ element: ObjectNumber,
    to place: ListPlace,
    _ trees: PairTrees,
    _ transaction: inout WriteTransaction
  ) throws {
    guard let order = trees.forwardOrder,
      let old = try entry(of: element, in: owner, trees.forward, &transaction)
    else { return }
    let new = ListEntry(place: place, number: element)
    if new == old { return }
    try tree(trees.forward, &transaction).put(KeyCoder.pair(owner, element), new.linkValue)
    try tree(order, &transaction).remove(KeyCoder.listKey(owner, old))
    try tree(order, &transaction).put(KeyCoder.listKey(owner, new), [])
    changeSet.noteReordered(owner, in: trees.relationship)
  }

  /// Returns the entry of an element in the order of its owner; nil where there is no such link.
  private mutating func entry(
    of element: ObjectNumber,
    in owner: ObjectNumber,
    _ treeName: String,
    _ transaction: inout WriteTransaction
  ) throws -> ListEntry? {
    guard let value = try tree(treeName, &transaction).value(for: KeyCoder.pair(owner, element)) else {
      return nil
    }
    guard let entry = ListEntry(linkValue: value, number: element) else {
      throw ContextError(.corrupt, "the link from \(owner) to \(element) has a value that is not a place")
    }
    return entry
  }
}
