import Predicates

// Values that are computed from objects without making them. These queries see unsaved changes as fetches do.

extension ManagedObjectContext {
  /// Returns several aggregates of the objects that the request describes, its limit and offset included:
  /// `let (flights, delay) = try context.aggregate(.count, .average(\.arrDelay), in: request)`.
  ///
  /// Aggregates that an index contains are read there in O(log n): counts, and the least, greatest and middle value of
  /// its attribute. Others are computed in one pass over the records' bytes. ``explain(_:in:analyze:)`` shows which are
  /// read and which are computed.
  ///
  /// - Throws: What ``fetch(_:)-(From<Root>)`` throws.
  public func aggregate<Root: ManagedObject, each Value: AttributeType>(
    _ aggregates: repeat Aggregate<Root, each Value>,
    in request: From<Root>
  ) throws(ContextError) -> (repeat each Value) {
    var terms: [AggregateTerm] = []
    for aggregate in repeat each aggregates { terms.append(aggregate.term) }
    var columns = try columns(of: terms, request)
    func next<Next: AttributeType>(_ type: Next.Type) throws(ContextError) -> Next {
      try columns.nextValue(type)
    }
    return (repeat try next((each Value).self))
  }

  /// Returns one aggregate of the objects that the request describes:
  /// `try context.aggregate(.max(\.seconds), in: request) ?? 0`.
  ///
  /// - Throws: What ``fetch(_:)-(From<Root>)`` throws.
  public func aggregate<Root: ManagedObject, Value: AttributeType>(
    _ aggregate: Aggregate<Root, Value>,
    in request: From<Root>
  ) throws(ContextError) -> Value {
    var columns = try columns(of: [aggregate.term], request)
    return try columns.nextValue(Value.self)
  }

  /// Returns the plan by which the aggregates would be computed.
  ///
  /// - Parameters:
  ///   - aggregates: the values to compute.
  ///   - request: the objects to compute the values of.
  ///   - analyze: true if the query is run and measured.
  public func explain<Root: ManagedObject, each Value: AttributeType>(
    _ aggregates: repeat Aggregate<Root, each Value>,
    in request: From<Root>,
    analyze: Bool = false
  ) throws(ContextError) -> QueryPlan {
    var terms: [AggregateTerm] = []
    for aggregate in repeat each aggregates { terms.append(aggregate.term) }
    return try explain(.groups(resolved(request, terms)), analyze: analyze)
  }

  /// Returns the rows of the groups that the query describes, in its order.
  ///
  /// If the query asks only for counts and an index begins with the groups' attributes, the index's entries are
  /// counted; else the records' bytes are read in one pass. The memory grows with the number of groups. If all
  /// attributes of the groups lie behind one relationship, there is also a number for each object that the relationship
  /// leads to, because the attributes are then read once for each of these objects.
  ///
  /// - Throws: What ``fetch(_:)-(From<Root>)`` throws; `corrupt` also where the store holds no value of a column's
  ///   type.
  public func fetch<Root: ManagedObject, Row>(
    _ groups: GroupedQuery<Root, Row>
  ) throws(ContextError) -> [Row] {
    let resolved = try resolved(groups)
    return try resolved.rows(in: source.another(), over: layers(for: resolved.query)).map {
      values throws(ContextError) in
      try groups.row(TypedColumns(entity: Root.entityName, values: values, keyOrigins: resolved.keyOrigins))
    }
  }

  /// Returns the plan by which ``fetch(_:)->[Row]`` would answer the query.
  ///
  /// - Parameters:
  ///   - groups: the query for groups.
  ///   - analyze: true if the query is run and measured.
  public func explain<Root: ManagedObject, Row>(
    _ groups: GroupedQuery<Root, Row>,
    analyze: Bool = false
  ) throws(ContextError) -> QueryPlan {
    try explain(.groups(resolved(groups)), analyze: analyze)
  }

  /// Returns the values of aggregates of all the objects.
  private func columns<Root: ManagedObject>(
    of terms: [AggregateTerm],
    _ request: From<Root>
  ) throws(ContextError) -> TypedColumns {
    let grouping = try resolved(request, terms)
    let values = try grouping.rows(in: source.another(), over: layers(for: grouping.query))[0]
    return TypedColumns(entity: Root.entityName, values: values, keyOrigins: [])
  }

  private func resolved<Root: ManagedObject>(
    _ request: From<Root>,
    _ terms: [AggregateTerm]
  ) throws(ContextError) -> ResolvedGrouping {
    try resolved(GroupedQuery<Root, Void>(request: request, keys: [], terms: terms) { _ in })
  }

  private func resolved<Root: ManagedObject, Row>(
    _ groups: GroupedQuery<Root, Row>
  ) throws(ContextError) -> ResolvedGrouping {
    try checkUsable()
    let entity = try modelEntity(of: Root.self)
    return try ContextError.resolving { () throws(QueryError) in
      try groups.resolved(
        for: coordinator.schema.entitySchema(of: Root.self, entity),
        in: coordinator.schema.schema,
        store: storeID
      )
    }
  }
}

// MARK: - One aggregate

extension ManagedObjectContext {
  /// Returns the sum of an attribute of the objects that the request describes; 0 without values, and nil only if its
  /// type can't hold it.
  public func sum<Root: ManagedObject, Number: NumericAttribute>(
    of keyPath: KeyPath<Root, Number>,
    in request: From<Root> = From()
  ) throws(ContextError) -> Number._Sum? { try aggregate(.sum(keyPath), in: request) }

  /// Returns the average; nil without values.
  public func average<Root: ManagedObject, Number: NumericAttribute>(
    of keyPath: KeyPath<Root, Number>,
    in request: From<Root> = From()
  ) throws(ContextError) -> Number._Average? { try aggregate(.average(keyPath), in: request) }

  /// Returns the least value; nil without values. O(log n) where an index begins with the attribute, or has it right
  /// after the properties that the conditions fix.
  public func min<Root: ManagedObject, Value: AttributeType>(
    of keyPath: KeyPath<Root, Value>,
    in request: From<Root> = From()
  ) throws(ContextError) -> Value._Present? { try aggregate(.min(keyPath), in: request) }

  /// Returns the greatest value, like ``min(of:in:)``.
  public func max<Root: ManagedObject, Value: AttributeType>(
    of keyPath: KeyPath<Root, Value>,
    in request: From<Root> = From()
  ) throws(ContextError) -> Value._Present? { try aggregate(.max(keyPath), in: request) }

  /// Returns the value in the middle, or the mean of the two in the middle; nil without values.
  public func median<Root: ManagedObject, Number: NumericAttribute>(
    of keyPath: KeyPath<Root, Number>,
    in request: From<Root> = From()
  ) throws(ContextError) -> Number._Average? { try aggregate(.median(keyPath), in: request) }
}
