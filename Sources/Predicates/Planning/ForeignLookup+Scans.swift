// Conditions on the elements of collections that no index answers, answered by one pass over all the elements.
extension ForeignLookup {
  /// Returns the predicate with every such condition replaced that few elements meet, if the pass costs no more
  /// than reading the elements of each row.
  ///
  /// - Parameter rowCount: the number of rows that would be tested.
  mutating func rewriteByScans(
    _ predicate: NormalPredicate,
    sparing rowCount: Double
  ) throws -> NormalPredicate {
    switch predicate {
    case .test(.exists(let collection), let isNegated):
      guard let numbers = try ownersByScan(of: collection, sparing: rowCount) else { return predicate }
      return try owner(of: collection, isAmong: numbers, isNegated: isNegated)
    case .constant, .test, .values: return predicate
    case .and(let children):
      return .all(try children.map { try rewriteByScans($0, sparing: rowCount) })
    case .or(let children):
      return .any(try children.map { try rewriteByScans($0, sparing: rowCount) })
    }
  }

  /// Returns the objects that have an element which meets the collection's condition; nil if these objects are many, or
  /// the pass isn't worth its cost.
  private mutating func ownersByScan(
    of collection: ResolvedCollection,
    sparing rowCount: Double
  ) throws -> [ObjectNumber]? {
    let condition = Normaliser.normalise(collection.condition)
    guard condition != .constant(true), let last = collection.steps.last,
      let entity = last.objects.map({ schema.entitySchema($0.destination) }),
      collection.steps[0].owner.scope == 0, isVisible(collection), isAboutElementsAlone(collection),
      Double(try counting.count(of: entity.id)) <= rowCount * CostModel.collection,
      let elements = try counting.numbers(
        of: entity,
        where: condition,
        scope: last.scope,
        atMost: Self.maximumObjectCount
      ), let owners = try owners(of: elements, in: collection)
    else { return nil }
    lookups.append(
      QueryPlan.Lookup(
        entity: entity.name,
        index: nil,
        condition: condition.description,
        rowCount: elements.count
      )
    )
    return owners
  }

  /// Returns whether the condition can be tested on stored elements, without the objects that lead to them.
  private func isAboutElementsAlone(_ collection: ResolvedCollection) -> Bool {
    let scope = collection.steps.last?.scope
    var isAlone = true
    collection.condition.forEachCollection { _ in isAlone = false }
    collection.condition.forEachPath { path in
      let isVisible = path.hops.allSatisfy { !hiddenEntities.contains($0.destination) }
      if path.scope != scope || !isVisible { isAlone = false }
    }
    return isAlone
  }
}
