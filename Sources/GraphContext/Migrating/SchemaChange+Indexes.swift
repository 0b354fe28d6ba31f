import Predicates

// Indexes: one continues if it has the same properties and folding. A new tree is needed only if the values of the
// keys change.

extension SchemaChange {
  mutating func indexes(
    of match: SchemaMatching.Entity,
    _ entity: CataloguedEntity,
    rekeyed: Set<PropertyNumber>,
    isEmpty: Bool
  ) -> [CataloguedIndex] {
    match.description.indexes.map { index in
      let properties = index.properties.compactMap { match.property(named: $0)?.number }
      let known = match.old?.indexes.first { $0.properties == properties && $0.folding == index.folding }
      let number: IndexNumber = known?.number ?? target.takeNumber()
      var result = CataloguedIndex(
        number: number,
        tree: known?.tree ?? TreeKind.index.treeName(number.rawValue),
        properties: properties,
        isUnique: index.isUnique,
        folding: index.folding
      )
      let hasOtherKeys = !rekeyed.isDisjoint(with: properties) || isRefolding && !index.folding.isEmpty
      if known != nil, hasOtherKeys { result.tree = target.takeTree(.index) }
      if isEmpty { return result }
      if known == nil || hasOtherKeys { work.append(.index(entity: entity.number, number)) }
      if index.isUnique { noteUnknownValues(index, properties, match) }
      if index.isUnique, known?.isUnique != true || hasOtherKeys {
        checks.append(.unique(entity: entity.number, number))
      }
      return result
    }
  }

  /// Notes a unique index over a to-one relationship that gets its values in the same change. The values are known to
  /// be unique only for a relationship of one to one.
  private mutating func noteUnknownValues(
    _ index: IndexDescription,
    _ properties: [PropertyNumber],
    _ entity: SchemaMatching.Entity
  ) {
    for inverse in newInverses where inverse.isExchanged && properties.contains(inverse.property) {
      note(
        entity.description.name,
        index.properties.first,
        "the index of \(entity.description.name) over \(index.properties.joined(separator: ", ")) can't become unique in the "
          + "change that adds a relationship to it: add the relationship first"
      )
    }
  }
}
