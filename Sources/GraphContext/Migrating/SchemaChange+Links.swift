import Predicates

// Links: where a relationship's are stored depends on both of its ends, so a change of either end may move them.
//
// | relationship | inverse | stored in |
// |---|---|---|
// | to one | any | its slot, and its own tree from destinations to objects |
// | to many | to one | the inverse's slot and tree |
// | to many | to many | two trees of pairs, one for each end |
//
// The tree of a to-one relationship has the same form as the pairs of a to-many relationship that leads back. So most changes of the
// number of destinations give a tree another owner.

/// One end of a pair of relationships: what it is to be, and what it continues.
struct LinkEnd {
  let entity: String
  let name: String
  let isToMany: Bool
  let old: CataloguedRelationship?
  let oldNumber: PropertyNumber?
  let inverse: Inverse?

  struct Inverse {
    let isToMany: Bool
    let old: CataloguedRelationship?
    let oldNumber: PropertyNumber?
    /// Whether the relationship that led back from it in the store goes on.
    let keepsPartner: Bool
  }

  init(
    _ match: SchemaMatching.Property,
    _ inverse: SchemaMatching.Property?,
    entity: String,
    _ matching: SchemaMatching
  ) {
    self.entity = entity
    name = match.description.name
    isToMany = match.description.isToMany
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
    change.note(entity, name, "\(entity).\(name) \(message)")
  }

  /// Whether the inverse is the one that the store has.
  var keepsInverse: Bool { old != nil && inverse?.oldNumber != nil && old?.inverse == inverse?.oldNumber }
}

extension SchemaChange {
  /// The tree that the end owns in the target; nil if the inverse's has its links.
  ///
  /// - Parameters:
  ///   - isEmpty: whether there are no objects at this end.
  ///   - hasLinks: whether there are objects at both ends.
  mutating func tree(of end: LinkEnd, isEmpty: Bool, hasLinks: Bool) -> String? {
    if let old = end.old, !isEmpty { checkLinks(of: end, old) }
    if !end.isToMany {
      if let old = end.old, old.cardinality != .many, let tree = old.tree { return tree }
      return target.takeTree(.references)
    }
    guard end.inverse?.isToMany ?? true else { return nil }
    return pairs(of: end, hasLinks: hasLinks)
  }

  /// The tree of pairs of a many-to-many relationship.
  private mutating func pairs(of end: LinkEnd, hasLinks: Bool) -> String {
    if let old = end.old, old.cardinality == .many, let tree = old.tree { return tree }
    if let inverse = end.inverse, let old = inverse.old {
      // Its tree leads from its destinations to its objects, as this end does.
      if old.cardinality != .many, let tree = old.tree { return tree }
      if end.old == nil, !inverse.keepsPartner, let tree = partner(of: old)?.tree { return tree }
    }
    let tree = target.takeTree(.pairs)
    if hasLinks, let source = end.old?.tree ?? end.inverse?.old?.tree {
      work.append(.exchangedPairs(from: source, to: tree))
    }
    return tree
  }

  /// The relationship that leads back from a many-to-many relationship of the store.
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
    } else if !inverse.isToMany {
      end.note(
        in: &self,
        "is to have a new inverse that is to one, and several objects may share a destination"
      )
    }
  }
}
