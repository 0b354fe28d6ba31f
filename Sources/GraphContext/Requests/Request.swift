import Foundation
import Predicates

/// A query for objects of any model: the content of ``From`` without its type.
///
/// It isn't generic. So code of an app's module, into which the functions of `From` are inlined, passes it on without
/// type metadata.
@usableFromInline
package struct Request: Sendable {
  private(set) var condition = Condition.everything
  var sort: [RequestedOrder] = []
  /// The first mistake in a format string.
  var mistake: QueryError?
  @usableFromInline package var limit: Int?
  @usableFromInline package var offset = 0
  package var includesUnsavedChanges = true
  /// The names along the paths of relationships whose objects are fetched as well.
  var prefetchedPaths: [Result<[String], QueryError>] = []
  /// The names of the properties that partial objects have; nil for whole objects.
  var fetchedProperties: [Result<[String], QueryError>]?

  /// Makes the query for all objects.
  @usableFromInline package init() {}

  /// Returns the request with one more condition.
  @usableFromInline
  package func with(_ condition: Condition) -> Request {
    var copy = self
    copy.condition = self.condition.isEverything ? condition : self.condition && condition
    return copy
  }
}

/// One key of an order: the names along its path, or the mistake in it.
struct RequestedOrder: Sendable {
  let names: Result<[String], QueryError>
  let isAscending: Bool
}

extension Request {
  /// Returns the query with its names found in the schema.
  ///
  /// - Parameter store: the store that is asked.
  /// - Throws: `QueryError`, the first mistake in the query.
  func resolved(
    for entity: EntitySchema,
    in schema: Schema,
    store: UUID? = nil
  ) throws(QueryError) -> ResolvedQuery {
    if let mistake { throw mistake }
    try QueryError.checkWindow(limit: limit, offset: offset)
    var keys: [NamedSort] = []
    keys.reserveCapacity(sort.count)
    for key in sort { keys.append(NamedSort(try key.names.get(), ascending: key.isAscending)) }
    let query = NamedQuery(predicate: try condition.tree, sort: keys, limit: limit, offset: offset)
    var resolved = try query.resolved(for: entity, in: schema, store: store, templates: schema.templates)
    resolved.includesUnsavedChanges = includesUnsavedChanges
    for path in prefetchedPaths { resolved.prefetchedPaths.append(try path.get()) }
    if let fetchedProperties {
      var names: [[String]] = []
      for property in fetchedProperties { names.append(try property.get()) }
      try resolved.fetch(onlyProperties: names, in: schema)
    }
    return resolved
  }
}

extension Request: CustomStringConvertible {
  @usableFromInline
  package var description: String {
    var text = mistake.map(\.description) ?? condition.description
    if !sort.isEmpty { text += " order by " + sort.map(\.description).joined(separator: ", ") }
    if let limit { text += " limit \(limit)" }
    if offset > 0 { text += " offset \(offset)" }
    if !includesUnsavedChanges { text += " without unsaved changes" }
    if let fetchedProperties { text += " fetching only \(Self.list(fetchedProperties))" }
    if !prefetchedPaths.isEmpty { text += " prefetching \(Self.list(prefetchedPaths))" }
    return text
  }

  private static func list(_ paths: [Result<[String], QueryError>]) -> String {
    paths.compactMap { try? $0.get().joined(separator: ".") }.joined(separator: ", ")
  }
}

extension RequestedOrder: CustomStringConvertible {
  var description: String {
    let name =
      switch names {
      case .success(let names): names.joined(separator: ".")
      case .failure(let error): error.description
      }
    return name + (isAscending ? " ascending" : " descending")
  }
}
