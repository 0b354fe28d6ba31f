/// The condition of a query that asks for the one object with a value of a unique attribute, and for nothing else.
///
/// Such a query is recognised by its names, so that the commonest query of a program needs neither a template nor a
/// normal form.
package struct UniqueKey: Sendable {
  package let index: ResolvedIndex
  let path: ResolvedPath
  /// The value, of the attribute's kind; neither nil nor NaN.
  package let value: AttributeValue
}

/// An attribute that is unique by itself.
struct UniqueAttribute: Sendable {
  let index: ResolvedIndex
  let path: ResolvedPath

  /// Makes the attribute of an index; nil for an index over several columns, an index whose strings are folded, and an
  /// index of a kind whose values have to be converted.
  init?(_ index: ResolvedIndex, of stored: [StoredProperty]) {
    guard index.isUnique, index.columns.count == 1, let column = index.columns.first,
      column == ResolvedIndex.Column(slot: column.slot)
    else { return nil }
    let property = stored[column.slot]
    guard [.string, .uuid, .int64].contains(property.kind) else { return nil }
    self.index = index
    path = ResolvedPath(
      hops: [],
      leaf: .slot(column.slot, property.kind),
      isOptional: property.isOptional,
      name: property.name
    )
  }

  /// Returns the condition that the attribute equals a value; nil for a value of another kind.
  func key(_ value: AttributeValue) -> UniqueKey? {
    switch (path.kind, value) {
    case (.string, .string), (.uuid, .uuid), (.int64, .int): UniqueKey(index: index, path: path, value: value)
    default: nil
    }
  }
}

extension NamedQuery {
  /// Returns the query, if its whole condition is that a unique attribute equals a value.
  func resolvedByKey(for entity: EntitySchema) -> ResolvedQuery? {
    guard sort.isEmpty, case .comparison(let left, .equal, let right, let options) = predicate,
      options.isEmpty,
      case .path(let names) = left.content, names.count == 1, case .value(let value) = right.content,
      let key = entity.uniqueAttribute(named: names[0])?.key(value)
    else { return nil }
    let condition = NormalPredicate.values(key.path, ValueSet(key.path.kind, only: value))
    var query = ResolvedQuery(entity: entity, normal: condition, sort: [], limit: limit, offset: offset)
    query.key = key
    return query
  }
}
