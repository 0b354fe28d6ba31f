import Predicates

// Pending links after a change of what is below the context.

extension ManagedObjectContext {
  /// Makes pending links, and their places, the differences to what the source shows.
  func normalisePairs() {
    // The source may ask the context, so nothing accesses `entities` meanwhile.
    for ordinal in entities.indices {
      for relationship in entity(ordinal).toManys {
        let position = relationship.ordinal
        if entities[ordinal].pairs[position].isEmpty { continue }
        var pairs = entities[ordinal].pairs[position]
        deferringError(()) { () throws(ContextError) in
          try pairs.normaliseLinks(keepsAgreed: parent != nil) { owner, element throws(ContextError) in
            try source.isLinked(owner, element, in: relationship.links)
          }
        }
        entities[ordinal].pairs[position] = pairs
      }
    }
    for ordinal in entities.indices {
      entities[ordinal].forgetListsOfPairs()
      for relationship in entity(ordinal).toManys { normalisePlaces(of: relationship, entity(ordinal)) }
    }
  }

  private func normalisePlaces(of relationship: StoredToMany, _ entity: StoredEntity) {
    let position = relationship.ordinal
    if entities[entity.ordinal].pairs[position].places.isEmpty { return }
    guard case .pairs(let places)? = relationship.list?.origin else { return }
    var pairs = entities[entity.ordinal].pairs[position]
    deferringError(()) { () throws(ContextError) in
      try pairs.normalisePlaces { owner, element throws(ContextError) in
        guard try source.isLinked(owner, element, in: relationship.links) else { return nil }
        return ListEntry(place: try source.place(of: element, in: owner, places), number: element)
      }
    }
    entities[entity.ordinal].pairs[position] = pairs
  }
}
