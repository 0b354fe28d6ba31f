/// A rewriter that turns conditions on objects at the other end of a relationship into conditions on the relationship
/// itself.
///
/// `dest.faa == "IAH"` is answered by the index on `faa`: the few airports that match are the values that `dest` may
/// have. The relationship's own index, and every other index with that column, can serve this condition. As a filter it
/// spares reading the other record.
struct ForeignLookup {
  /// The entity of the fetched objects, at which paths of scope 0 start.
  let entity: EntitySchema
  let schema: any SchemaProviding
  let counting: any IndexCounting
  /// Entities with unsaved changes that hide stored records from the query; they are not looked up.
  let hiddenEntities: Set<EntityID>
  /// Relationships with unsaved links.
  let hiddenRelationships: Set<ToManyID>
  var lookups: [QueryPlan.Lookup] = []

  /// The greatest number of objects of a lookup; conditions that more objects meet are tested row by row.
  static var maximumObjectCount: Int { 1_024 }

  init(
    from entity: EntitySchema,
    schema: any SchemaProviding,
    counting: any IndexCounting,
    hiddenEntities: Set<EntityID>,
    hiddenRelationships: Set<ToManyID>
  ) {
    self.entity = entity
    self.hiddenRelationships = hiddenRelationships
    self.schema = schema
    self.counting = counting
    self.hiddenEntities = hiddenEntities
  }

  /// Returns the predicate with every such condition replaced if this costs less.
  mutating func rewrite(_ predicate: NormalPredicate) throws -> NormalPredicate {
    predicate.leadsElsewhere ? try rewriteParts(of: predicate) : predicate
  }

  private mutating func rewriteParts(of predicate: NormalPredicate) throws -> NormalPredicate {
    switch predicate {
    case .test(.exists(let collection), let isNegated):
      return try rewrite(collection, isNegated: isNegated) ?? predicate
    case .constant, .test: return predicate
    case .values(let path, let set): return try rewrite(path, set)
    case .and(let children): return .all(try children.map { try rewrite($0) })
    case .or(let children): return .any(try children.map { try rewrite($0) })
    }
  }

  /// Rewrites the condition from the far end of the path, hop by hop, as far as indexes allow.
  mutating func rewrite(_ path: ResolvedPath, _ set: ValueSet) throws -> NormalPredicate {
    var (path, set) = (path.shortened, set)
    while let hop = path.hops.last, case .slot(let slot, _) = path.leaf {
      guard let found = try references(to: hop.destination, where: slot, in: set, named: path) else { break }
      path.hops.removeLast()
      path.leaf = .slot(hop.slot, .reference)
      path.name = String(path.name[..<(path.name.lastIndex(of: ".") ?? path.name.startIndex)])
      set = found
    }
    return set.isEmpty ? .constant(false) : set.isEverything ? .constant(true) : .values(path, set)
  }

  /// Returns the references whose objects have a value of `set` in the slot, if few lookups find the objects.
  ///
  /// A missing object has no values: if the set includes nil, the references that the set leaves out are looked up
  /// instead.
  private mutating func references(
    to destination: EntityID,
    where slot: Int,
    in set: ValueSet,
    named path: ResolvedPath
  ) throws -> ValueSet? {
    if hiddenEntities.contains(destination) { return nil }
    let entity = schema.entitySchema(destination)
    let wanted = set.includesNull ? set.complement : set
    let column = ResolvedIndex.Column(slot: slot, folding: set.folding)
    let found = try objects(of: entity, where: column, in: wanted, named: path.name)
    return set.includesNull ? found?.complement : found
  }

  /// Returns the objects of an entity that have a value of `set` in the column, and notes the lookup. Nil if the entity
  /// has no index that begins with the column, or if the objects are too many.
  mutating func objects(
    of entity: EntitySchema,
    where column: ResolvedIndex.Column,
    in set: ValueSet,
    named name: String
  ) throws -> ValueSet? {
    guard let index = entity.indexes.first(where: { $0.columns.first == column }),
      set.segmentCount <= Self.maximumObjectCount
    else { return nil }
    let ranges = Self.ranges(of: set)
    var rowCount = 0
    for range in ranges {
      rowCount += try counting.count(range, in: index)
      if rowCount > Self.maximumObjectCount { return nil }
    }
    let numbers = try ranges.flatMap { try counting.numbers($0, in: index) }
    lookups.append(
      QueryPlan.Lookup(
        entity: entity.name,
        index: index.name,
        condition: set.text(name),
        rowCount: rowCount
      )
    )
    return ValueSet(.reference, anyOf: numbers.map(AttributeValue.reference))
  }

  /// Returns the set as ranges of an index's first column.
  static func ranges(of set: ValueSet) -> [IndexRange] {
    set.segments.map { segment in
      segment.point.map { IndexRange(prefix: [$0]) } ?? IndexRange(next: segment)
    }
  }
}

extension NormalPredicate {
  /// True if the predicate tests other objects than the current one.
  fileprivate var leadsElsewhere: Bool {
    switch self {
    case .constant: false
    case .values(let path, _): !path.hops.isEmpty
    case .test(.exists, _): true
    case .test: false
    case .and(let children), .or(let children): children.contains(where: \.leadsElsewhere)
    }
  }
}
