import Predicates

// Links: the slot and the trees where a relationship's links are stored depend on both of its ends, so a change of
// either end may move them.
//
// | relationship | inverse | stored in |
// |---|---|---|
// | to one | any | its slot, and its own tree from destinations to objects |
// | to many | to one | the inverse's slot and tree |
// | to many | to many | two trees of pairs, one for each end |
//
// A relationship of many to many whose objects have an order has another tree for the order, and the places as
// values of its pairs.
//
// The tree of a to-one relationship has the same form as the pairs of a to-many relationship that leads back. So most
// changes of the number of destinations give a tree another owner.

/// One end of a pair of relationships: its new description, and the relationship that it continues.
struct LinkEnd {
  let entity: SchemaMatching.Entity
  let destination: String
  let number: PropertyNumber
  let name: String
  let isToMany: Bool
  let isOrdered: Bool
  let isRequired: Bool
  let old: CataloguedRelationship?
  let oldNumber: PropertyNumber?
  let inverse: Inverse?

  struct Inverse {
    let isToMany: Bool
    let old: CataloguedRelationship?
    let oldNumber: PropertyNumber?
    /// True if its inverse in the store is continued.
    let keepsPartner: Bool
  }

  init(
    _ match: SchemaMatching.Property,
    _ inverse: SchemaMatching.Property?,
    _ relationship: RelationshipDescription,
    of entity: SchemaMatching.Entity,
    _ matching: SchemaMatching
  ) {
    self.entity = entity
    destination = relationship.destination
    number = match.number
    name = relationship.name
    isToMany = relationship.isToMany
    isOrdered = relationship.isOrdered
    isRequired = relationship.cardinality == .required
    old = match.old?.relationship
    oldNumber = match.old?.number
    self.inverse = inverse.map {
      Inverse(
        isToMany: $0.description.isToMany,
        old: $0.old?.relationship,
        oldNumber: $0.old?.number,
        keepsPartner: $0.old?.relationship?.inverse.map(matching.continues) ?? false
      )
    }
  }

  func note(in change: inout SchemaChange, _ message: String) {
    let entity = entity.description.name
    change.note(entity, name, "\(entity).\(name) \(message)")
  }

  /// True if the relationship is of many to many and has an order at this end.
  var hasOwnOrder: Bool { isOrdered && isToMany && inverse?.isToMany ?? false }

  /// True if the inverse is the same as in the store.
  var keepsInverse: Bool { old != nil && inverse?.oldNumber != nil && old?.inverse == inverse?.oldNumber }
}

extension SchemaChange {
  /// Returns the tree that the end owns in the target; nil if the inverse's tree has its links. Links that lose
  /// their order lose their places.
  ///
  /// - Parameters:
  ///   - isEmpty: whether there are no objects at this end.
  ///   - hasLinks: whether there are objects at both ends.
  mutating func tree(of end: LinkEnd, isEmpty: Bool, hasLinks: Bool) -> String? {
    if let old = end.old, !isEmpty { checkLinks(of: end, old) }
    let continued = continuedTree(of: end, hasLinks: hasLinks)
    guard let tree = continued, placedTrees.contains(tree) else { return continued }
    if end.hasOwnOrder, tree == end.old?.tree { return tree }
    let bare = target.takeTree(end.isToMany ? .pairs : .references)
    if hasLinks { work.append(.barePairs(from: tree, to: bare)) }
    return bare
  }

  private mutating func continuedTree(of end: LinkEnd, hasLinks: Bool) -> String? {
    if !end.isToMany {
      if let old = end.old, old.cardinality != .many, let tree = old.tree { return tree }
      return references(of: end, hasLinks: hasLinks)
    }
    guard end.inverse?.isToMany ?? true else { return nil }
    return pairs(of: end, hasLinks: hasLinks)
  }

  /// Returns the tree of a to-one relationship that has no tree in the store. A new inverse gets the links of the
  /// other end.
  private mutating func references(of end: LinkEnd, hasLinks: Bool) -> String {
    guard hasLinks, end.old == nil, !isRebuilt(end), let links = end.inverse?.old, let source = links.tree
    else { return target.takeTree(.references) }
    let isExchanged = links.cardinality == .many
    newInverses.append(
      NewInverse(
        entity: end.entity.number,
        property: end.number,
        links: source,
        isExchanged: isExchanged,
        isRequired: end.isRequired
      )
    )
    // This end's tree has pairs of the other end's objects and their destinations.
    if isExchanged { return source }
    let tree = target.takeTree(.references)
    work.append(.exchangedPairs(from: source, to: tree))
    return tree
  }

  /// Returns whether a custom stage rebuilds the objects at one of the ends: its passes make the links.
  private func isRebuilt(_ end: LinkEnd) -> Bool {
    rebuilt.contains(end.entity.description.name) || rebuilt.contains(end.destination)
  }

  /// Returns the tree of pairs of a many-to-many relationship.
  private mutating func pairs(of end: LinkEnd, hasLinks: Bool) -> String {
    if let old = end.old, old.cardinality == .many, let tree = old.tree { return tree }
    if let inverse = end.inverse, let old = inverse.old {
      if end.isOrdered, hasLinks, let index = orderIndex(of: inverse) {
        let tree = target.takeTree(.pairs)
        work.append(.placedPairs(from: index, to: tree))
        return tree
      }
      // The old tree leads from destinations to objects, as this end's tree does.
      if old.cardinality != .many, let tree = old.tree { return tree }
      if end.old == nil, !inverse.keepsPartner, let tree = partner(of: old)?.tree { return tree }
    }
    let tree = target.takeTree(.pairs)
    if hasLinks, let source = end.old?.tree ?? end.inverse?.old?.tree {
      work.append(.exchangedPairs(from: source, to: tree))
    }
    return tree
  }

  /// Returns the index in the store that has the order of the objects with a to-one relationship; nil for none.
  private func orderIndex(of inverse: LinkEnd.Inverse) -> String? {
    guard let number = inverse.oldNumber,
      let entity = old.entities.first(where: { $0.property(number) != nil }),
      let place = entity.property(number).flatMap(entity.place)
    else { return nil }
    return entity.indexes.first { $0.properties == [number, place.number] }?.tree
  }

  /// Returns the tree of the order of a many-to-many relationship; nil for none.
  ///
  /// - Parameters:
  ///   - tree: the tree of the links.
  ///   - hasLinks: whether there are objects at both ends.
  mutating func orderTree(of end: LinkEnd, _ tree: String?, hasLinks: Bool) -> String? {
    guard end.hasOwnOrder, let tree else { return nil }
    if let known = end.old?.orderTree, tree == end.old?.tree { return known }
    let order = target.takeTree(.orders)
    if hasLinks { work.append(.order(of: tree, in: order)) }
    return order
  }

  /// Returns the inverse of a many-to-many relationship of the store.
  private func partner(of relationship: CataloguedRelationship) -> CataloguedRelationship? {
    guard relationship.cardinality == .many, relationship.tree != nil, let number = relationship.inverse
    else { return nil }
    return old.entity(relationship.destination)?.property(number)?.relationship
  }

  /// Notes a change of an end that would lose links.
  private mutating func checkLinks(of end: LinkEnd, _ old: CataloguedRelationship) {
    if old.cardinality == .many, !end.isToMany {
      return end.note(in: &self, "is to many in the store and to one in the model")
    }
    guard let inverse = end.inverse else { return }
    if end.keepsInverse { return }
    if inverse.old != nil {
      return end.note(in: &self, "has another inverse in the store than in the model")
    }
    // The inverse is new. It shows the links that this end has.
    let ownsLinks = old.tree != nil
    if !ownsLinks {
      end.note(
        in: &self,
        "loses its links: its inverse in the store is not among the properties of the model"
      )
    } else if !inverse.isToMany, isRebuilt(end) {
      end.note(in: &self, "can't get a new to-one inverse in a custom stage that rebuilds objects of one end")
    }
  }
}

extension MigrationStep {
  /// The tree of links or of their order that the step builds beside the trees of the store; nil for another step.
  var builtLinks: String? {
    switch self {
    case .exchangedPairs(_, let tree), .barePairs(_, let tree), .placedPairs(_, let tree),
      .order(_, let tree):
      tree
    default: nil
    }
  }

  var isOrder: Bool { if case .order = self { true } else { false } }
}
