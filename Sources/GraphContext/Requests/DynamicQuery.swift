import Foundation
import Predicates

/// A query in words, for tools and ``ManagedRecord``s: the entity, the predicate and the key paths are text.
///
/// ```swift
/// var query = DynamicQuery("Flight", where: try PredicateTree(format: "arrDelay >= 120"))
/// query.sort = [.init("arrDelay", ascending: false)]
/// query.select = ["flight", "origin.name"]
/// ```
public struct DynamicQuery: Sendable {
  /// One key that the results are sorted by.
  public struct SortKey: Sendable, Hashable {
    /// A key path, through to-one relationships: `origin.name`. `position(menu)` is the position in the ordered
    /// relationship whose to-one end is `menu`.
    public var keyPath: String
    /// True if the least value comes first; nil is then before all values.
    public var isAscending: Bool

    /// Makes a key: `SortKey("origin.name", ascending: false)`.
    public init(_ keyPath: String, ascending isAscending: Bool = true) {
      self.keyPath = keyPath
      self.isAscending = isAscending
    }

    fileprivate var names: [String] {
      let words = ("position(", ")")
      guard keyPath.hasPrefix(words.0), keyPath.hasSuffix(words.1) else { return DynamicQuery.names(keyPath) }
      let path = keyPath.dropFirst(words.0.count).dropLast(words.1.count)
      let names = DynamicQuery.names(String(path))
      return names.dropLast() + names.suffix(1).map(RelationshipDescription.placeName)
    }
  }

  /// The name of the entity.
  public var entity: String
  /// The condition that the objects meet.
  public var predicate: PredicateTree
  /// The keys by which the results are sorted. Objects with equal keys are sorted by their IDs.
  public var sort: [SortKey] = []
  /// The key paths whose values make a row. Without key paths: all stored properties of the entity, in the order of
  /// their declaration, except those that are stored externally, because their values are long.
  public var select: [String] = []
  /// True if only the first of equal rows is returned. Limit and offset then count these first rows.
  public var isDistinct = false
  /// The key paths whose values tell groups apart. With key paths or ``aggregates``, the query is for groups: its
  /// columns are the key paths and then the aggregates, and ``sort``, ``limit`` and ``offset`` are about groups.
  public var groupBy: [String] = []
  /// The aggregates of each group, or of all objects if there are no groups.
  public var aggregates: [Aggregate] = []
  /// A condition on groups, about their columns: `origin.name BEGINSWITH "J" AND delay > 10`. A column like
  /// `avg(arrDelay)` that was given no other name is spelled in backquotes.
  public var having = PredicateTree.constant(true)
  /// The greatest number of results; nil for no limit. A query with a negative limit or ``offset`` is refused.
  public var limit: Int?
  /// The number of results that are left out at the start.
  public var offset = 0
  /// True if the query includes the unsaved changes of the context that runs it.
  public var includesUnsavedChanges = true
  /// The paths of relationships whose objects are read together with the records, as ``From/prefetching(_:)`` does:
  /// `album.artist`. For queries for records.
  public var prefetchedPaths: [String] = []
  /// The names of the properties that the records have from the start, as ``From/fetchingOnly(_:)`` says; nil for whole
  /// records. For queries for records.
  public var fetchedProperties: [String]?

  /// Makes a query for the objects of `entity` that meet the condition: all of them unless one is given.
  ///
  /// - Parameters:
  ///   - entity: the name of the entity.
  ///   - predicate: the condition.
  ///   - sort: the keys of the order.
  ///   - limit: the greatest number of results; nil for no limit.
  ///   - offset: the number of results that are left out at the start.
  public init(
    _ entity: String,
    where predicate: PredicateTree = .constant(true),
    sort: [SortKey] = [],
    limit: Int? = nil,
    offset: Int = 0
  ) {
    self.entity = entity
    self.predicate = predicate
    self.sort = sort
    self.limit = limit
    self.offset = offset
  }
}

extension DynamicQuery {
  /// Returns the query with its names found in the schema, and its columns.
  ///
  /// - Parameter store: the store that is asked.
  func resolved(
    in schema: Schema,
    store: UUID
  ) throws(QueryError) -> (query: ResolvedQuery, columns: [QueryColumn]) {
    guard let entity = schema.entitySchema(named: entity) else {
      let names = schema.namesOfClasses.joined(separator: ", ")
      throw QueryError(.unknownName, "The store has no entity named “\(self.entity)”; it has \(names).")
    }
    try QueryError.checkWindow(limit: limit, offset: offset)
    let named = NamedQuery(
      predicate: predicate,
      sort: sort.map { NamedSort($0.names, ascending: $0.isAscending) },
      limit: limit,
      offset: offset
    )
    var query = try named.resolved(for: entity, in: schema, store: store, templates: schema.templates)
    query.includesUnsavedChanges = includesUnsavedChanges
    query.prefetchedPaths = prefetchedPaths.map(Self.names)
    if let fetchedProperties {
      try query.fetch(onlyProperties: fetchedProperties.map(Self.names), in: schema)
    }
    let paths = PathResolver(entity: entity, schema: schema)
    var columns: [QueryColumn] = []
    let declared = entity.visible.filter { $0.kind != .place && !$0.kind.isExternal }
    for keyPath in select.isEmpty ? declared.map(\.name) : select {
      columns.append(try QueryColumn(Self.names(keyPath), paths, store: store))
    }
    return (query, columns)
  }

  /// Returns the query with its names found in the schema, for whole objects.
  ///
  /// - Throws: `QueryError` of code `arguments` for a query for values or groups.
  func resolvedForObjects(in schema: Schema, store: UUID) throws(QueryError) -> ResolvedQuery {
    guard select.isEmpty, !isDistinct, !isGrouped else {
      throw QueryError(.arguments, "The query is for values or groups, not for objects.")
    }
    return try resolved(in: schema, store: store).query
  }

  static func path(_ keyPath: String, _ paths: PathResolver) throws(QueryError) -> ResolvedPath {
    try paths.resolve(names(keyPath)).path
  }

  static func names(_ keyPath: String) -> [String] {
    keyPath.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
  }
}

/// An object as a tool sees it: the values that a query selected.
public struct QueryRecord: Sendable {
  /// The object's ID.
  public let objectID: ManagedObjectID
  /// The values, in the order of the query's columns. A relationship's value is the number of the object that it leads
  /// to.
  public let values: [AttributeValue]
  private let columns: Columns

  /// The names of the columns, shared by the rows of a query.
  final class Columns: Sendable {
    let names: [String]
    private let places: [String: Int]

    init(_ names: [String]) {
      self.names = names
      places = Dictionary(names.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    }

    func place(of name: String) -> Int? { places[name] }
  }

  init(objectID: ManagedObjectID, values: [AttributeValue], columns: Columns) {
    self.objectID = objectID
    self.values = values
    self.columns = columns
  }

  /// The columns' key paths, in the order of ``values``.
  public var keyPaths: [String] { columns.names }

  /// Returns the value of a column; nil when the query didn't select it.
  public func value(forKeyPath keyPath: String) -> AttributeValue? {
    columns.place(of: keyPath).map { values[$0] }
  }

  /// Returns the value of a column as a type, as `AttributeValue.converted(to:)` makes it; nil also when the query
  /// didn't select the column.
  public func value<Value: AttributeType>(forKeyPath keyPath: String, as type: Value.Type) -> Value? {
    value(forKeyPath: keyPath)?.converted(to: type)
  }
}
