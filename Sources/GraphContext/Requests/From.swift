import Foundation
import Predicates

/// A query for objects of one model: which, in what order, how many.
///
/// ```swift
/// let long = From<Song>().where { $0.seconds > 180 && $0.album.year < 1980 }.orderBy(.ascending(\.title)).limit(20)
/// for song in try context.fetch(long) { print(song.title) }
/// ```
///
/// A value: keep it, send it, build others from it. A mistake in it, such as a syntax error in a format string or a key path
/// that isn't persistent, is thrown when it is used.
public struct From<Root: ManagedObject>: Sendable {
  package private(set) var condition = Where<Root>(true)
  package private(set) var sort: [OrderBy<Root>] = []
  /// The first mistake in a format string.
  private var mistake: QueryError?
  package private(set) var limit: Int?
  package private(set) var offset = 0
  package private(set) var includesUnsavedChanges = true
  /// The names along the paths of relationships whose objects are fetched as well.
  private var prefetchedPaths: [Result<[String], QueryError>] = []

  /// All objects of the model.
  public init() {}

  /// All objects of a model: `From(Song.self)`, which is `From<Song>()`.
  public init(_ model: Root.Type) {}

  // MARK: Which

  /// Only objects for which the condition holds, written as a closure: `{ $0.seconds > 180 }`. Conditions add up.
  public func `where`(_ condition: (ValueExpression<Root, Root>) -> Where<Root>) -> From {
    self.where(Where(condition))
  }

  /// Only objects for which the condition holds: `\.seconds > 180 && \.title == "Carey"`, or as a dictionary
  /// `["seconds": 180..., "title": "Carey"]`. Conditions add up.
  public func `where`(_ condition: Where<Root>) -> From {
    var copy = self
    if copy.condition.isEverything {
      copy.condition = condition
    } else {
      copy.condition = copy.condition && condition
    }
    return copy
  }

  /// Only objects whose Bool is true: `\.isLate`. Conditions add up.
  public func `where`(_ keyPath: KeyPath<Root, Bool>) -> From { self.where(Where(keyPath)) }

  /// Only objects whose optional Bool is true: `\.origin?.isOpen`. Conditions add up.
  public func `where`(_ keyPath: KeyPath<Root, Bool?>) -> From { self.where(Where(keyPath)) }

  /// Only objects for which one of Foundation's predicates holds: `#Predicate { $0.seconds > 180 }`. Conditions add up.
  public func `where`(_ predicate: Foundation.Predicate<Root>) -> From { self.where(Where(predicate)) }

  /// Only objects for which the condition holds, written as text: `"seconds > %d AND title BEGINSWITH[c] %@", 180, "car"`.
  /// Conditions add up.
  public func `where`(format: String, _ arguments: (any PredicateArgument)?...) -> From {
    do throws(QueryError) {
      return self.where(try Where(format: format, arguments: arguments))
    } catch {
      var copy = self
      copy.mistake = mistake ?? error
      return copy
    }
  }

  // MARK: In what order

  /// Sorted by these keys, after those that are there already. nil comes first ascending, NaN last; what the keys leave
  /// equal is in the order of object IDs, in the direction of the last key. Without any key: in the order of object IDs.
  public func orderBy(_ keys: OrderBy<Root>...) -> From { orderBy(keys) }

  /// Sorted by these attributes, each ascending: `orderBy(\.album?.title, \.track)` for
  /// `orderBy(.ascending(\.album?.title), .ascending(\.track))`.
  public func orderBy<First: AttributeType, each Next: AttributeType>(
    _ first: KeyPath<Root, First>,
    _ next: repeat KeyPath<Root, each Next>
  ) -> From {
    var keys: [OrderBy<Root>] = [.ascending(first)]
    for keyPath in repeat each next { keys.append(.ascending(keyPath)) }
    return orderBy(keys)
  }

  /// The query with an order by an array of keys.
  public func orderBy(_ keys: [OrderBy<Root>]) -> From {
    var copy = self
    copy.sort += keys
    return copy
  }

  /// The query without its order, for another one.
  public func withoutOrder() -> From {
    var copy = self
    copy.sort = []
    return copy
  }

  /// The query with an order by Foundation's sort descriptors.
  public func orderBy(_ descriptors: [SortDescriptor<Root>]) -> From {
    orderBy(descriptors.map(OrderBy.init))
  }

  // MARK: Of which state

  /// Includes the context's unsaved changes, as every query does by default, or leaves them out. A query without them is answered by what the context
  /// has read: its snapshot of the store, or what its parent shows. Objects with unsaved changes are then found by their saved values, though they show
  /// the others; deleted ones are found, except by batches, which leave deleted objects out, and new ones are not.
  public func includingUnsavedChanges(_ includesUnsavedChanges: Bool) -> From {
    var copy = self
    copy.includesUnsavedChanges = includesUnsavedChanges
    return copy
  }

  // MARK: With what

  /// Reads the objects that these relationships lead to together with the results: `prefetching(\.album, \.album?.artist, \.tags)`. All objects at the
  /// end of a step are read in one pass in the order of their IDs, instead of one by one when the program comes to them.
  ///
  /// A path goes through relationships to one, and may end with one to many, whose members are listed too. Of a path of several steps, each step is
  /// prefetched. What was prefetched is at hand, without a look into the store, until the context moves to another commit or gives up the records that
  /// it keeps; queries for IDs, values and counts don't prefetch. A path that leads through anything but relationships is a mistake, thrown when
  /// the query is used.
  public func prefetching(_ keyPaths: PartialKeyPath<Root>...) -> From {
    var copy = self
    copy.prefetchedPaths += keyPaths.map { Root.names(of: $0) }
    return copy
  }

  // MARK: How many

  /// No more than so many objects. A negative limit is a mistake, thrown when the query is used.
  public func limit(_ count: Int) -> From {
    var copy = self
    copy.limit = count
    return copy
  }

  /// Without the first so many objects. A negative offset is a mistake, thrown when the query is used.
  public func offset(_ count: Int) -> From {
    var copy = self
    copy.offset = count
    return copy
  }
}

// MARK: - The last word

/// What a request says beside its condition and its order, for ``From/tweak(_:)``.
public struct FetchOptions: Sendable, Hashable {
  /// How many objects are returned at most; nil for all.
  public var limit: Int?
  /// How many objects are left out at the start.
  public var offset: Int
  /// Whether the context's unsaved changes are included.
  public var includesUnsavedChanges: Bool
}

extension From {
  /// The request with options that code reads and sets: `request.tweak { $0.limit = min($0.limit ?? 100, 100) }`.
  public func tweak(_ body: (inout FetchOptions) -> Void) -> From {
    var options = FetchOptions(limit: limit, offset: offset, includesUnsavedChanges: includesUnsavedChanges)
    body(&options)
    var copy = self
    (copy.limit, copy.offset) = (options.limit, options.offset)
    copy.includesUnsavedChanges = options.includesUnsavedChanges
    return copy
  }
}

/// The name that this has in Core Data.
public typealias FetchRequest = From

extension From {
  /// The query with its names found in the schema.
  ///
  /// - Parameter store: the store that is asked.
  /// - Throws: `QueryError`, the first mistake in the query.
  package func resolved(
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
    return resolved
  }
}

extension From: CustomStringConvertible {
  /// The query in a line, for people: `From<Song> where year > 1980 order by title ascending limit 20`.
  public var description: String {
    var text = "From<\(Root.entityName)> where \(mistake.map(\.description) ?? condition.description)"
    if !sort.isEmpty { text += " order by " + sort.map(\.description).joined(separator: ", ") }
    if let limit { text += " limit \(limit)" }
    if offset > 0 { text += " offset \(offset)" }
    if !includesUnsavedChanges { text += " without unsaved changes" }
    let paths = prefetchedPaths.compactMap { try? $0.get().joined(separator: ".") }
    if !paths.isEmpty { text += " prefetching \(paths.joined(separator: ", "))" }
    return text
  }
}

/// One key that a query sorts by.
public struct OrderBy<Root: PredicateRoot>: Sendable {
  package let names: Result<[String], QueryError>
  package let isAscending: Bool

  /// The least value first; nil before all others.
  public static func ascending(_ keyPath: KeyPath<Root, some AttributeType>) -> OrderBy {
    OrderBy(names: Root.names(of: keyPath), isAscending: true)
  }

  /// The greatest value first; nil after all others.
  public static func descending(_ keyPath: KeyPath<Root, some AttributeType>) -> OrderBy {
    OrderBy(names: Root.names(of: keyPath), isAscending: false)
  }

  /// The order of what an attribute that is transformed is stored as: `orderBy(.stored(\.length))`.
  public static func stored<Value>(
    _ keyPath: KeyPath<Root, Value>,
    ascending isAscending: Bool = true
  ) -> OrderBy {
    OrderBy(names: Root.names(of: keyPath), isAscending: isAscending)
  }

  /// The position in an ordered relationship, by its to-one end: `From<Track>().where { $0.album == album }.orderBy(.position(in: \.album))` finds
  /// the tracks as `album.tracks` has them. With a limit and an offset a page of them is read without those before it.
  ///
  /// A relationship that isn't ordered is a mistake, thrown when the query is used.
  public static func position<Owner: ManagedObject>(
    in relationship: KeyPath<Root, Owner?>,
    ascending isAscending: Bool = true
  ) -> OrderBy { position(inAny: relationship, isAscending) }

  /// The position in an ordered relationship whose to-one end is required.
  public static func position<Owner: ManagedObject>(
    in relationship: KeyPath<Root, Owner>,
    ascending isAscending: Bool = true
  ) -> OrderBy { position(inAny: relationship, isAscending) }

  private static func position(inAny relationship: AnyKeyPath, _ isAscending: Bool) -> OrderBy {
    let names = Root.names(of: relationship).map { names in
      Array(names.dropLast()) + names.suffix(1).map(RelationshipDescription.placeName)
    }
    return OrderBy(names: names, isAscending: isAscending)
  }

  /// A key path in words, through to-one relationships, as a request from elsewhere has it: `OrderBy(named: "album.title", ascending: false)`.
  ///
  /// An unknown name is a mistake, thrown when the key is used.
  public init(named keyPath: String, ascending isAscending: Bool = true) {
    self.init(names: .success(DynamicQuery.names(keyPath)), isAscending: isAscending)
  }

  /// The key of one of Foundation's sort descriptors. Strings are sorted by their bytes, whatever comparator it has.
  ///
  /// A descriptor that sorts by another comparator than that of its values is a mistake, thrown when the key is used.
  public init(_ descriptor: SortDescriptor<Root>) {
    guard let keyPath = descriptor.keyPath else {
      let message = "A sort descriptor without a key path has no counterpart in a query."
      self.init(names: .failure(QueryError(.keyPath, message)), isAscending: true)
      return
    }
    self.init(names: Root.names(of: keyPath), isAscending: descriptor.order == .forward)
  }

  init(names: Result<[String], QueryError>, isAscending: Bool) {
    self.names = names
    self.isAscending = isAscending
  }
}

extension PredicateRoot {
  /// The names along a key path, or why it has none: what a query keeps until it is used.
  static func names(of keyPath: AnyKeyPath) -> Result<[String], QueryError> {
    Result { () throws(QueryError) in try predicatePath(of: keyPath) }
  }
}

extension OrderBy: CustomStringConvertible {
  /// The key path and the direction: `title ascending`.
  public var description: String {
    let name =
      switch names {
      case .success(let names): names.joined(separator: ".")
      case .failure(let error): error.description
      }
    return name + (isAscending ? " ascending" : " descending")
  }
}
