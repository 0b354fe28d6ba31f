import PageStore
import Predicates

// The links of many-to-many relationships, and their orders.

extension StoreVerifier {
  /// Verifies that every link has its inverse link. The inverse tree is verified from the other end, so neither
  /// tree has a link too many. In an order each link has one entry, at its place.
  mutating func verifyPairs(_ relationship: StoredToMany) {
    guard case .pairs(let trees) = relationship.storage else { return }
    let destination = view.schema.entities[relationship.destination]
    _ = forEachEntry(of: trees.forward) { verifier, key, value in
      guard let (owner, element) = KeyCoder.numbers(ofPair: key) else {
        return verifier.report("a key of \(key.count) bytes is not a pair of numbers", trees.forward)
      }
      if verifier.contains(KeyCoder.pair(element, owner), in: trees.backward) == false {
        verifier.report("the link from \(owner) to \(element) has no inverse link", trees.forward)
      }
      if verifier.exists(element, destination) == false {
        verifier.report(
          "\(owner) is linked to \(destination.name) \(element), which doesn't exist",
          trees.forward
        )
      }
      verifier.verifyPlace(value, of: element, in: owner, trees)
    }
    if let order = trees.forwardOrder { verifyOrder(order, of: trees.forward) }
  }

  private mutating func verifyPlace(
    _ value: UnsafeRawBufferPointer,
    of element: ObjectNumber,
    in owner: ObjectNumber,
    _ trees: PairTrees
  ) {
    guard let order = trees.forwardOrder else { return verifyIsNothing(value, trees.forward) }
    guard let entry = ListEntry(linkValue: Array(value), number: element) else {
      return report("a link has a value of \(value.count) bytes that is not a place", trees.forward)
    }
    if contains(KeyCoder.listKey(owner, entry), in: order) == false {
      report("the link from \(owner) to \(element) is not in the order", trees.forward)
    }
  }

  /// Each link is looked up in the order, so the order has too many entries if it has more entries than there are
  /// links.
  private mutating func verifyOrder(_ order: String, of links: String) {
    _ = forEachEntry(of: order) { verifier, _, value in verifier.verifyIsNothing(value, order) }
    guard let entries = count(of: order), let pairs = count(of: links), entries != pairs else { return }
    report("there are \(entries) entries for \(pairs) links", order)
  }
}
