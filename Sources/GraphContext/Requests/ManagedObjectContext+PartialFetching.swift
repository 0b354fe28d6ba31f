import Predicates

// Partial objects: faults that already have some values, taken from the rows of a query for values. Where an index has
// all of these values, no record is read.

extension ManagedObjectContext {
  /// Returns the objects that a query describes, in its order, with the values of the properties that the query names.
  func partialObjects<Root: ManagedObject>(
    _ selection: ResolvedSelection,
    _ entity: StoredEntity
  ) throws(ContextError) -> [Root] {
    let slots = selection.columns.map { coordinator.models.descriptions[entity.ordinal].place(of: $0.name) }
    var objects: [Root] = []
    // The memory of the rows is released at the end: an object keeps only decoded values.
    try source.another().forEachRow(of: selection, over: layers(for: selection.query)) {
      row,
      reader,
      fields in
      if !entity.isSound(row.number) { throw ContextError.damagedRecord(row.number, of: entity.name) }
      let object = object(Root.self, number: row.number, entity.ordinal)
      objects.append(object)
      guard object._$state.phase == .persistent else { return true }
      try withUnsafeMutablePointer(to: &reader) { row in
        for (column, slot) in slots.enumerated() {
          guard let slot, !object._$state.isLoaded(slot) else { continue }
          var loader = RowLoader(row: row, field: fields[column], origin: selection.columns[column].origin)
          object._$visit(slot, &loader)
          if try loader.isLoaded.get() { object._$state.didLoadAhead(slot) }
        }
      }
      return true
    }
    return objects
  }

  /// Returns the query for the values that partial objects have; nil where whole objects are asked for.
  func partialSelection(of query: ResolvedQuery) throws(ContextError) -> ResolvedSelection? {
    guard let properties = query.fetchedProperties else { return nil }
    let paths = PathResolver(entity: query.entity, schema: coordinator.schema.schema)
    return try ContextError.resolving { () throws(QueryError) in
      var columns: [QueryColumn] = []
      for name in properties {
        columns.append(try QueryColumn(DynamicQuery.names(name), paths, store: storeID))
      }
      return try ResolvedSelection(query: query, columns: columns, isDistinct: false)
    }
  }
}

extension ResolvedQuery {
  /// Sets the properties that partial objects have, each by the names along its key path.
  ///
  /// - Throws: `QueryError` for a key path that leads to no attribute or to-one relationship of the entity itself.
  mutating func fetch(onlyProperties keyPaths: [[String]], in schema: Schema) throws(QueryError) {
    let paths = PathResolver(entity: entity, schema: schema)
    var properties: [String] = []
    for names in keyPaths { properties += try entity.propertiesToFetch(named: names, paths) }
    fetchedProperties = properties
  }
}

extension EntitySchema {
  /// Returns the stored properties that a key path means: one, or the parts of an embedded value.
  fileprivate func propertiesToFetch(
    named names: [String],
    _ paths: PathResolver
  ) throws(QueryError) -> [String] {
    let name = names.joined(separator: ".")
    let properties = visible.filter {
      $0.kind != .place && ($0.name == name || $0.name.hasPrefix(name + "."))
    }.map(\.name)
    if !properties.isEmpty { return properties }
    _ = try paths.resolve(names)
    let message =
      "\(self.name).\(name) is no property of the object itself: an object that a relationship leads to can be prefetched."
    throw QueryError(.typeMismatch, message, keyPath: name)
  }
}

/// A visitor that fills the cache of a property with the value of a column.
private struct RowLoader: PropertyVisitor {
  // Safety: the reader isn't moved while the values of one row are read, and nothing else accesses it.
  let row: UnsafeMutablePointer<RowReader>
  let field: RowField
  let origin: ColumnOrigin
  /// The result: true if the property was filled. It is false where the class has no such property, and where the row
  /// holds no value of its type: the getter then reports the error.
  private(set) var isLoaded = Result<Bool, any Error>.success(false)

  init(row: UnsafeMutablePointer<RowReader>, field: RowField, origin: ColumnOrigin) {
    (self.row, self.field, self.origin) = (row, field, origin)
  }

  mutating func visit<Value: AttributeType>(attribute slot: Int, _ cache: inout Cached<Value>) {
    isLoaded = Result {
      guard let value = try row.pointee.value(of: field, as: Value.self, in: origin) else { return false }
      cache = Cached(value)
      return true
    }
  }

  mutating func visit<Target: ManagedObject>(toOne slot: Int, _ cache: inout ToOneReference<Target>) {
    isLoaded = Result {
      cache = ToOneReference()
      if case .reference(let number) = try row.pointee.value(of: field) { cache.number = number }
      return true
    }
  }

  mutating func visit<Target: ManagedObject>(toMany ordinal: Int, _ cache: inout ToManyMembers<Target>) {}
}
