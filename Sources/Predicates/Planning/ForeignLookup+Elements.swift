// Conditions on the elements of collections, answered by finding the elements first.
extension ForeignLookup {
  /// Rewrites `ANY books.title == "Blue"`: the few books that an index finds lead to the objects that have them.
  ///
  /// The condition becomes one on the object itself, or on the reference that leads to the collection's owner. The rest
  /// of the condition, which the index doesn't decide, is tested on those few objects. Nil if no index finds few
  /// elements.
  mutating func rewrite(_ collection: ResolvedCollection, isNegated: Bool) throws -> NormalPredicate? {
    if let (column, set) = collection.elementCondition {
      return try rewrite(column, set, isNegated: isNegated)
    }
    guard collection.steps[0].owner.scope == 0, isVisible(collection), let last = collection.steps.last,
      let destination = last.objects.map({ schema.entitySchema($0.destination) })
    else { return nil }
    let known = lookups
    let condition = try rewrite(Normaliser.normalise(collection.condition))
    guard let (elements, isExact) = try elements(where: condition, of: destination, in: last.scope),
      // A remaining condition is tested on the elements, so only the condition as a whole can be negated.
      isExact || !isNegated, let numbers = try owners(of: elements, in: collection)
    else {
      lookups = known
      return nil
    }
    let rewritten = try owner(of: collection, isAmong: numbers, isNegated: isNegated)
    return isExact ? rewritten : .all([rewritten, .test(.exists(collection), isNegated: false)])
  }

  /// Rewrites `ANY tags BEGINSWITH "jazz"` to the few objects that an index of elements finds. A condition that asks
  /// for a single value is left to the plan, which may read the index itself. The column is one of the fetched entity,
  /// also where the condition stands among those on the elements of another collection.
  private mutating func rewrite(
    _ column: ResolvedIndex.Column,
    _ set: ValueSet,
    isNegated: Bool
  ) throws -> NormalPredicate? {
    guard !hiddenEntities.contains(entity.id), isNegated || set.point == nil else { return nil }
    let name = "ANY \(entity.stored[column.slot].name)"
    guard let found = try objects(of: entity, where: column, in: set, named: name) else { return nil }
    let object = ResolvedPath(hops: [], leaf: .objectID, isOptional: false, name: "SELF")
    return .values(object, isNegated ? found.complement : found)
  }

  /// Returns the condition that a collection's owner is one of these objects, or none of them.
  mutating func owner(
    of collection: ResolvedCollection,
    isAmong numbers: [ObjectNumber],
    isNegated: Bool
  ) throws -> NormalPredicate {
    let owners = ValueSet(.reference, anyOf: numbers.map(AttributeValue.reference))
    return try rewrite(collection.steps[0].owner, isNegated ? owners.complement : owners)
  }

  /// Returns the objects that have one of the elements in the collection; nil if they are too many.
  func owners(of elements: [ObjectNumber], in collection: ResolvedCollection) throws -> [ObjectNumber]? {
    var numbers = elements
    for step in collection.steps.reversed() {
      guard let relationship = step.objects?.relationship else { return nil }
      numbers = try counting.owners(of: numbers, in: relationship)
      if numbers.count > Self.maximumObjectCount { return nil }
    }
    return numbers
  }

  /// Returns whether each step leads to objects and starts at the element before, and whether the query sees the
  /// stored links and records.
  func isVisible(_ collection: ResolvedCollection) -> Bool {
    collection.steps.allSatisfy { step in
      guard let (relationship, destination) = step.objects else { return false }
      return !hiddenEntities.contains(destination) && !hiddenRelationships.contains(relationship)
    }
      && collection.steps.dropFirst().allSatisfy { $0.owner.hops.isEmpty && $0.owner.leaf == .objectID }
  }

  /// Returns the elements that meet the condition, by the index that finds fewest, or those that the condition names;
  /// and a flag that is true if these elements meet the whole condition.
  private mutating func elements(
    where condition: NormalPredicate,
    of entity: EntitySchema,
    in scope: Int
  ) throws -> (numbers: [ObjectNumber], isExact: Bool)? {
    let conjuncts = condition.conjuncts
    var best: (index: ResolvedIndex, ranges: [IndexRange], set: ValueSet, count: Int)?
    for conjunct in conjuncts {
      guard case .values(let path, let set) = conjunct, path.scope == scope, path.hops.isEmpty else {
        continue
      }
      if path.leaf == .objectID, let points = set.points(atMost: Self.maximumObjectCount) {
        let numbers = points.compactMap { if case .reference(let number) = $0 { number } else { nil } }
        return (numbers, conjuncts.count == 1)
      }
      guard case .slot(let slot, _) = path.leaf, let index = usableIndex(on: slot, of: entity, for: set)
      else {
        continue
      }
      let ranges = Self.ranges(of: set)
      let count = try ranges.reduce(0) { try $0 + counting.count($1, in: index) }
      if count <= min(Self.maximumObjectCount, best.map { $0.count - 1 } ?? .max) {
        best = (index, ranges, set, count)
      }
    }
    guard let best else { return nil }
    let slotName = best.index.columns.first.map { entity.stored[$0.slot].name } ?? ""
    lookups.append(
      QueryPlan.Lookup(
        entity: entity.name,
        index: best.index.name,
        condition: best.set.text(slotName),
        rowCount: best.count
      )
    )
    return (try best.ranges.flatMap { try counting.numbers($0, in: best.index) }, conjuncts.count == 1)
  }

  private func usableIndex(on slot: Int, of entity: EntitySchema, for set: ValueSet) -> ResolvedIndex? {
    guard set.segmentCount <= Self.maximumObjectCount else { return nil }
    let column = ResolvedIndex.Column(slot: slot, folding: set.folding)
    return entity.indexes.first { index in
      index.columns.first == column && !(index.origin == .relationship && set.includesNull)
    }
  }
}
