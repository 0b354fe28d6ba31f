import Foundation
import Predicates

/// Objects, put together in groups by the values of some attributes; ``aggregate(_:)`` adds the values to compute for
/// each group.
public struct Grouping<Root: ManagedObject, each Key: ColumnType>: Sendable {
  let request: From<Root>
  let keys: [Result<[String], QueryError>]

  /// Returns the query for a row for each group: the values that the group has in common, then the aggregates.
  public func aggregate<each Value: AttributeType>(
    _ aggregates: repeat Aggregate<Root, each Value>
  ) -> GroupedQuery<Root, (repeat each Key, repeat each Value)> {
    var terms: [AggregateTerm] = []
    for aggregate in repeat each aggregates { terms.append(aggregate.term) }
    return GroupedQuery(request: request, keys: keys, terms: terms) { columns throws(ContextError) in
      var columns = columns
      func key<Next: ColumnType>(_ type: Next.Type) throws(ContextError) -> Next {
        try columns.nextKey(type)
      }
      func value<Next: AttributeType>(_ type: Next.Type) throws(ContextError) -> Next {
        try columns.nextValue(type)
      }
      return (repeat try key((each Key).self), repeat try value((each Value).self))
    }
  }
}

extension From {
  /// Puts these objects into groups. Objects of one group have the same values of some attributes, of their own or of
  /// objects that their to-one relationships lead to, or refer to the same objects: `groupBy(\.origin?.objectID)`. nil
  /// equals nil and NaN equals NaN, −0.0 equals 0.0, and strings are equal if their UTF-8 bytes are equal.
  ///
  /// ```swift
  /// let late = From<Flight>().groupBy(\.carrier).aggregate(.count, .average(\.arrDelay))
  ///   .having { $0.count > 100 }.orderBy(.descending(.average(\.arrDelay))).limit(5)
  /// for (carrier, flights, delay) in try context.fetch(late) { … }
  /// ```
  public func groupBy<each Key: ColumnType>(
    _ keyPaths: repeat KeyPath<Root, each Key>
  ) -> Grouping<Root, repeat each Key> {
    var keys: [Result<[String], QueryError>] = []
    for keyPath in repeat each keyPaths { keys.append(Root.names(of: keyPath)) }
    return Grouping(request: self, keys: keys)
  }
}

/// A query for groups of objects. The row of a group consists of the values that its objects have in common and of its
/// aggregates.
///
/// The request before the grouping determines the objects that take part, by its conditions, its limit and its offset.
/// A value, like ``From``.
public struct GroupedQuery<Root: ManagedObject, Row>: Sendable {
  let request: From<Root>
  let keys: [Result<[String], QueryError>]
  let terms: [AggregateTerm]
  let row: @Sendable (TypedColumns) throws(ContextError) -> Row
  private(set) var condition: Where<Group<Root>>?
  /// Aggregates that only the condition uses.
  private(set) var conditionTerms: [AggregateTerm] = []
  private(set) var sort: [GroupOrder<Root>] = []
  private(set) var limit: Int?
  private(set) var offset = 0

  init(
    request: From<Root>,
    keys: [Result<[String], QueryError>],
    terms: [AggregateTerm],
    row: @escaping @Sendable (TypedColumns) throws(ContextError) -> Row
  ) {
    self.request = request
    self.keys = keys
    self.terms = terms
    self.row = row
  }

  /// Returns the query for only those groups for which the condition holds:
  /// `{ $0.count > 100 && $0.average(\.arrDelay) > 10 }`. Conditions add up. A condition may use aggregates that aren't
  /// columns of the rows.
  public func having(_ condition: (Group<Root>) -> Where<Group<Root>>) -> GroupedQuery {
    let group = Group<Root>(keys: keyNames)
    var copy = self
    let added = condition(group)
    copy.condition = copy.condition.map { $0 && added } ?? added
    copy.conditionTerms += group.terms.list
    return copy
  }

  /// Returns the query sorted by these keys, after the keys that the query already has. In ascending order nil comes
  /// first and NaN last. Groups that are equal in these keys, or all groups if there are no keys, are sorted by the
  /// values that their objects have in common, ascending.
  public func orderBy(_ keys: GroupOrder<Root>...) -> GroupedQuery {
    var copy = self
    copy.sort += keys
    return copy
  }

  /// Returns the query sorted by a value that the groups have in common, ascending: `orderBy(\.carrier)`.
  public func orderBy(_ keyPath: KeyPath<Root, some AttributeType>) -> GroupedQuery {
    orderBy(.ascending(keyPath))
  }

  /// Returns the query for at most this number of groups. A negative limit is a mistake, thrown when the query is used.
  public func limit(_ count: Int) -> GroupedQuery {
    var copy = self
    copy.limit = count
    return copy
  }

  /// Returns the query without this number of groups at the start. A negative offset is a mistake, thrown when the
  /// query is used.
  public func offset(_ count: Int) -> GroupedQuery {
    var copy = self
    copy.offset = count
    return copy
  }
}

extension GroupedQuery {
  private var keyNames: Set<String> {
    Set(keys.compactMap { try? $0.get().joined(separator: ".") })
  }

  func resolved(
    for entity: EntitySchema,
    in schema: Schema,
    store: UUID
  ) throws(QueryError) -> ResolvedGrouping {
    try QueryError.checkWindow(limit: limit, offset: offset)
    let paths = PathResolver(entity: entity, schema: schema)
    var options = ResolvedGrouping.Options(
      condition: try condition?.tree ?? .constant(true),
      limit: limit,
      offset: offset
    )
    let names = keyNames
    for term in conditionTerms { options.aggregates.append(try term.resolved(paths, besides: names)) }
    for key in sort {
      if case .aggregate(let term) = key.column {
        options.aggregates.append(try term.resolved(paths, besides: names))
      }
      options.sort.append((try key.column.name(besides: names).get(), key.isAscending))
    }
    var keyColumns: [QueryColumn] = []
    for names in keys { keyColumns.append(try QueryColumn(names.get(), paths, store: store)) }
    var aggregates: [ResolvedAggregate] = []
    for term in terms { aggregates.append(try term.resolved(paths, besides: names)) }
    return try ResolvedGrouping(
      request.untyped.resolved(for: entity, in: schema, store: store),
      by: keyColumns,
      aggregates,
      options: options,
      in: schema
    )
  }
}

/// One key that groups are sorted by: a value that they have in common, or an aggregate.
public struct GroupOrder<Root: ManagedObject>: Sendable {
  enum Column: Sendable {
    case key(Result<[String], QueryError>)
    case aggregate(AggregateTerm)

    /// Returns the name that the column has in the rows.
    func name(besides keys: Set<String>) -> Result<String, QueryError> {
      switch self {
      case .key(let names): names.map { $0.joined(separator: ".") }
      case .aggregate(let term): term.name(besides: keys)
      }
    }
  }
  let column: Column
  let isAscending: Bool

  /// Sorts by a key of the groups, the least first.
  public static func ascending(_ keyPath: KeyPath<Root, some AttributeType>) -> GroupOrder {
    GroupOrder(column: .key(Root.names(of: keyPath)), isAscending: true)
  }

  /// Sorts by a key of the groups, the greatest first.
  public static func descending(_ keyPath: KeyPath<Root, some AttributeType>) -> GroupOrder {
    GroupOrder(column: .key(Root.names(of: keyPath)), isAscending: false)
  }

  /// Sorts by an aggregate of each group, the least first.
  public static func ascending<Value>(_ aggregate: Aggregate<Root, Value>) -> GroupOrder {
    GroupOrder(column: .aggregate(aggregate.term), isAscending: true)
  }

  /// Sorts by an aggregate of each group, the greatest first.
  public static func descending<Value>(_ aggregate: Aggregate<Root, Value>) -> GroupOrder {
    GroupOrder(column: .aggregate(aggregate.term), isAscending: false)
  }
}

/// A reader that takes a row's values one by one as the types of its columns.
struct TypedColumns {
  let entity: String
  let values: [AttributeValue]
  /// The origins of the first columns, which are the groups' keys.
  private let keyOrigins: [ColumnOrigin]
  private var place = 0

  init(entity: String, values: [AttributeValue], keyOrigins: [ColumnOrigin]) {
    self.entity = entity
    self.values = values
    self.keyOrigins = keyOrigins
  }

  /// Returns the value of the next key.
  ///
  /// - Throws: `corrupt` where the value isn't one of the type: nil, because an object on the way is missing, for a
  ///   type without nil.
  mutating func nextKey<Key: ColumnType>(_ type: Key.Type) throws(ContextError) -> Key {
    defer { place += 1 }
    return try checked(Key(_columnValue: values[place], of: keyOrigins[place]))
  }

  /// Returns the value of an aggregate.
  mutating func nextValue<Value: AttributeType>(_ type: Value.Type) throws(ContextError) -> Value {
    defer { place += 1 }
    return try checked(Value(_attributeValue: values[place]))
  }

  private func checked<Value>(_ value: Value?) throws(ContextError) -> Value {
    if let value { return value }
    throw ContextError(
      .corrupt,
      "column \(place + 1) of the groups of \(entity) holds no value of type \(Value.self)",
      context: .init(entity: entity)
    )
  }
}
