import Predicates

// Indexes: one continues if it has the same properties and folding. Only what keys are made of asks for a new tree.

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
      if index.isUnique, known?.isUnique != true || hasOtherKeys {
        checks.append(.unique(entity: entity.number, number))
      }
      return result
    }
  }
}
