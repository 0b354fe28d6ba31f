import Foundation

/// A query as it is written, before its names are found in a schema.
package struct NamedQuery: Sendable {
  var predicate: PredicateTree
  var sort: [NamedSort]
  var limit: Int?
  var offset: Int

  package init(predicate: PredicateTree, sort: [NamedSort] = [], limit: Int? = nil, offset: Int = 0) {
    self.predicate = predicate
    self.sort = sort
    self.limit = limit
    self.offset = offset
  }
}

/// A key that a query sorts by, by its names.
package struct NamedSort: Sendable, Hashable {
  var names: [String]
  var isAscending: Bool

  package init(_ names: [String], ascending isAscending: Bool = true) {
    self.names = names
    self.isAscending = isAscending
  }
}

extension NamedQuery {
  /// Returns the query with its names found in the schema, and its predicate in normal form.
  ///
  /// - Parameter store: the queried store, which must contain the objects of the predicate.
  /// - Throws: the first mistake in the query.
  package func resolved(
    for entity: EntitySchema,
    in schema: some SchemaProviding,
    store: UUID? = nil
  ) throws(QueryError) -> ResolvedQuery {
    let paths = PathResolver(entity: entity, schema: schema)
    var keys: [ResolvedSort] = []
    keys.reserveCapacity(sort.count)
    for key in sort {
      let path = try paths.resolve(key.names).path
      try path.checkComparable("sorted")
      keys.append(ResolvedSort(path, ascending: key.isAscending))
    }
    return ResolvedQuery(
      entity: entity,
      predicate: entity.restricting(try predicate.resolved(for: entity, in: schema, store: store)),
      sort: keys,
      limit: limit,
      offset: offset
    )
  }

  /// Resolves the query with the kept template of its shape. Without a template, or if the values don't fit the
  /// template, resolves the query in full.
  ///
  /// - Parameter templates: the templates of queries of this schema.
  package func resolved(
    for entity: EntitySchema,
    in schema: some SchemaProviding,
    store: UUID? = nil,
    templates: some QueryTemplateKeeping
  ) throws(QueryError) -> ResolvedQuery {
    if let query = resolvedByKey(for: entity) { return query }
    guard let hash = QueryShape.hash(of: self, entity) else {
      return try resolved(for: entity, in: schema, store: store)
    }
    guard let template = templates.template(withHash: hash), template.shape.fits(self, entity) else {
      let query = try resolved(for: entity, in: schema, store: store)
      templates.keep(QueryTemplate(self, resolved: query, in: schema), withHash: hash)
      return query
    }
    guard let normal = template.predicate(for: predicate, in: schema, store: store) else {
      return try resolved(for: entity, in: schema, store: store)
    }
    var query = ResolvedQuery(
      entity: entity,
      normal: entity.restricting(normal),
      sort: template.sort,
      limit: limit,
      offset: offset
    )
    query.usesTemplate = true
    return query
  }
}
