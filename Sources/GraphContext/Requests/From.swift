import Foundation
import Predicates

/// A query for objects of one model: its conditions, order, limit and offset.
///
/// ```swift
/// let long = From<Song>().where { $0.seconds > 180 && $0.album.year < 1980 }.orderBy(.ascending(\.title)).limit(20)
/// for song in try context.fetch(long) { print(song.title) }
/// ```
///
/// A value: keep it, send it, build others from it. A mistake in it, such as a syntax error in a format string or a key
/// path that isn't persistent, is thrown when the query is used.
public struct From<Root: ManagedObject>: Sendable {
  @usableFromInline package var untyped: Request

  @inlinable package init(_ untyped: Request) { self.untyped = untyped }

  /// Makes the query for all objects of the model.
  @inlinable
  public init() { self.init(Request()) }

  /// Makes the query for all objects of a model: `From(Song.self)`, which is `From<Song>()`.
  @inlinable
  public init(_ model: Root.Type) { self.init(Request()) }

  // MARK: Conditions

  /// Returns the query for only those objects for which the condition holds, written as a closure:
  /// `{ $0.seconds > 180 }`. Conditions add up.
  @inlinable
  public func `where`(_ condition: (ValueExpression<Root, Root>) -> Where<Root>) -> From {
    self.where(Where(condition))
  }

  /// Returns the query for only those objects for which the condition holds: `\.seconds > 180 && \.title == "Carey"`,
  /// or as a dictionary `["seconds": 180..., "title": "Carey"]`. Conditions add up.
  @inlinable
  public func `where`(_ condition: Where<Root>) -> From { From(untyped.with(condition.condition)) }

  /// Returns the query for only those objects whose Bool is true: `\.isLate`. Conditions add up.
  public func `where`(_ keyPath: KeyPath<Root, Bool>) -> From { self.where(Where(keyPath)) }

  /// Returns the query for only those objects whose optional Bool is true: `\.origin?.isOpen`. Conditions add up.
  public func `where`(_ keyPath: KeyPath<Root, Bool?>) -> From { self.where(Where(keyPath)) }

  /// Returns the query for only those objects for which one of Foundation's predicates holds:
  /// `#Predicate { $0.seconds > 180 }`. Conditions add up.
  public func `where`(_ predicate: Foundation.Predicate<Root>) -> From { self.where(Where(predicate)) }

  /// Returns the query for only those objects for which the condition holds, written as text:
  /// `"seconds > %d AND title BEGINSWITH[c] %@", 180, "car"`. Conditions add up.
  public func `where`(format: String, _ arguments: (any PredicateArgument)?...) -> From {
    self.where(format: format, arguments: arguments)
  }

  /// Returns the query for only those objects for which the condition holds, written as text, with its arguments in an
  /// array. Conditions add up.
  public func `where`(format: String, arguments: [(any PredicateArgument)?]) -> From {
    do throws(QueryError) {
      return self.where(try Where(format: format, arguments: arguments))
    } catch {
      var copy = self
      copy.untyped.mistake = untyped.mistake ?? error
      return copy
    }
  }

  // MARK: Order

  /// Returns the query sorted by these keys, after the keys that the query already has. In ascending order nil comes
  /// first and NaN last. Objects with equal keys are in the order of object IDs, in the direction of the last key.
  /// Without any key: in the order of object IDs.
  public func orderBy(_ keys: OrderBy<Root>...) -> From { orderBy(keys) }

  /// Returns the query sorted by these attributes, each ascending: `orderBy(\.album?.title, \.track)` for
  /// `orderBy(.ascending(\.album?.title), .ascending(\.track))`.
  public func orderBy<First: AttributeType, each Next: AttributeType>(
    _ first: KeyPath<Root, First>,
    _ next: repeat KeyPath<Root, each Next>
  ) -> From {
    var keys: [OrderBy<Root>] = [.ascending(first)]
    for keyPath in repeat each next { keys.append(.ascending(keyPath)) }
    return orderBy(keys)
  }

  /// Returns the query with an order by an array of keys.
  public func orderBy(_ keys: [OrderBy<Root>]) -> From {
    var copy = self
    for key in keys { copy.untyped.sort.append(key.key) }
    return copy
  }

  /// Returns the query without its order, for another one.
  public func withoutOrder() -> From {
    var copy = self
    copy.untyped.sort = []
    return copy
  }

  /// Returns the query with an order by Foundation's sort descriptors.
  public func orderBy(_ descriptors: [SortDescriptor<Root>]) -> From {
    orderBy(descriptors.map(OrderBy.init))
  }

  // MARK: State

  /// Includes the context's unsaved changes, as every query does by default, or leaves them out. A query without them
  /// runs on the state below the context: its snapshot of the store, or the state that its parent shows. Objects with
  /// unsaved changes are then found by their saved values, though they show the unsaved ones. New objects aren't found.
  /// Deleted objects are found, except by batches, which leave them out.
  public func includingUnsavedChanges(_ includesUnsavedChanges: Bool) -> From {
    var copy = self
    copy.untyped.includesUnsavedChanges = includesUnsavedChanges
    return copy
  }

  // MARK: Amount of data

  /// Reads the objects that these relationships lead to together with the results:
  /// `prefetching(\.album, \.album?.artist, \.tags)`. All objects at the end of a step are read in one pass in the
  /// order of their IDs, instead of one by one when the program reads them.
  ///
  /// A path goes through to-one relationships, and may end with a to-many relationship, whose members are listed too.
  /// Each step of a path is prefetched. Prefetched records are used without reading the store, until the context moves
  /// to another commit or releases the records that it keeps. Queries for IDs, values and counts don't prefetch. A path
  /// that leads through anything but relationships is a mistake, thrown when the query is used.
  public func prefetching(_ keyPaths: PartialKeyPath<Root>...) -> From {
    var copy = self
    copy.untyped.prefetchedPaths += keyPaths.map { Root.names(of: $0) }
    return copy
  }

  /// Fetches partial objects: faults that have the values of these properties, and read the others on access:
  /// `fetchingOnly(\.title, \.year)`.
  ///
  /// The values are found as by ``select(_:)``: where an index has all the values that the query asks for, the records
  /// aren't read, and without any property the objects are plain faults. For a few values of records that are read
  /// anyway, whole objects are as fast: their getters decode one value at a time.
  ///
  /// Attributes, to-one relationships, and embedded values, whole or a part, can be named; a path that goes through a
  /// relationship is a mistake, thrown when the query is used. Values of an object that a context has already read
  /// stay. Only fetches of arrays make partial objects: batches, observers and lists read whole records.
  public func fetchingOnly(_ keyPaths: PartialKeyPath<Root>...) -> From {
    var copy = self
    copy.untyped.fetchedProperties = keyPaths.map { Root.names(of: $0) }
    return copy
  }

  // MARK: Limit and offset

  /// Returns the query for at most this number of objects. A negative limit is a mistake, thrown when the query is
  /// used.
  @inlinable
  public func limit(_ count: Int) -> From {
    var copy = self
    copy.untyped.limit = count
    return copy
  }

  /// Returns the query without this number of objects at the start. A negative offset is a mistake, thrown when the
  /// query is used.
  @inlinable
  public func offset(_ count: Int) -> From {
    var copy = self
    copy.untyped.offset = count
    return copy
  }
}

// MARK: - Compiler messages

extension From {
  /// Unavailable: SwiftUI and SwiftData give the direction behind the key path; here it is a part of the key.
  @available(*, unavailable, message: "the key has the direction: 'orderBy(.descending(\\.name))'")
  public func orderBy(_ keyPath: KeyPath<Root, some AttributeType>, ascending isAscending: Bool) -> From {
    fatalError("an order has no parameter for the direction")
  }

  /// Unavailable: SwiftUI and SwiftData give the direction behind the key path; here it is a part of the key.
  @available(*, unavailable, message: "the key has the direction: 'orderBy(.descending(\\.name))'")
  public func orderBy(_ keyPath: KeyPath<Root, some AttributeType>, order: SortOrder) -> From {
    fatalError("an order has no parameter for the direction")
  }
}

// MARK: - Options

/// Limit, offset and use of unsaved changes of a request, for ``From/tweak(_:)``.
public struct FetchOptions: Sendable, Hashable {
  /// The greatest number of objects that are returned; nil for all.
  public var limit: Int?
  /// The number of objects that are left out at the start.
  public var offset: Int
  /// True if the context's unsaved changes are included.
  public var includesUnsavedChanges: Bool
}

extension From {
  /// Returns the request with options that code reads and sets:
  /// `request.tweak { $0.limit = min($0.limit ?? 100, 100) }`.
  public func tweak(_ body: (inout FetchOptions) -> Void) -> From {
    var options = FetchOptions(
      limit: untyped.limit,
      offset: untyped.offset,
      includesUnsavedChanges: untyped.includesUnsavedChanges
    )
    body(&options)
    var copy = self
    (copy.untyped.limit, copy.untyped.offset) = (options.limit, options.offset)
    copy.untyped.includesUnsavedChanges = options.includesUnsavedChanges
    return copy
  }
}

extension From: CustomStringConvertible {
  /// The query in a line, for people: `From<Song> where year > 1980 order by title ascending limit 20`.
  public var description: String {
    "From<\(Root.entityName)> where \(untyped)"
  }
}

/// One key that a query sorts by.
public struct OrderBy<Root: PredicateRoot>: Sendable {
  let key: RequestedOrder

  /// Returns a key that puts the least value first; nil before all others.
  public static func ascending(_ keyPath: KeyPath<Root, some AttributeType>) -> OrderBy {
    OrderBy(names: Root.names(of: keyPath), isAscending: true)
  }

  /// Returns a key that puts the greatest value first; nil after all others.
  public static func descending(_ keyPath: KeyPath<Root, some AttributeType>) -> OrderBy {
    OrderBy(names: Root.names(of: keyPath), isAscending: false)
  }

  /// Returns the order of the stored values of a transformed attribute: `orderBy(.stored(\.length))`.
  public static func stored<Value>(
    _ keyPath: KeyPath<Root, Value>,
    ascending isAscending: Bool = true
  ) -> OrderBy {
    OrderBy(names: Root.names(of: keyPath), isAscending: isAscending)
  }

  /// Returns the order by the position in an ordered relationship, by its to-one end:
  /// `From<Track>().where { $0.album == album }.orderBy(.position(in: \.album))` finds the tracks in the order of
  /// `album.tracks`. With a limit and an offset a page of the tracks is read without those before it.
  ///
  /// A relationship that isn't ordered is a mistake, thrown when the query is used.
  public static func position<Owner: ManagedObject>(
    in relationship: KeyPath<Root, Owner?>,
    ascending isAscending: Bool = true
  ) -> OrderBy { position(inAny: relationship, isAscending) }

  /// Returns the order by the position in an ordered relationship whose to-one end is required.
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

  /// Makes a key of a key path as text, through to-one relationships, as a request from outside the program has it:
  /// `OrderBy(named: "album.title", ascending: false)`.
  ///
  /// An unknown name is a mistake, thrown when the key is used.
  public init(named keyPath: String, ascending isAscending: Bool = true) {
    self.init(names: .success(DynamicQuery.names(keyPath)), isAscending: isAscending)
  }

  /// Makes the key of one of Foundation's sort descriptors. Strings are sorted by their bytes: `.lexical` is the only
  /// comparator of strings that a descriptor can have on Linux.
  ///
  /// A descriptor whose comparator isn't that of its values is a mistake, thrown when the key is used.
  public init(_ descriptor: SortDescriptor<Root>) {
    guard let keyPath = descriptor.keyPath else {
      let message = "A sort descriptor without a key path has no counterpart in a query."
      self.init(names: .failure(QueryError(.keyPath, message)), isAscending: true)
      return
    }
    self.init(names: Root.names(of: keyPath), isAscending: descriptor.order == .forward)
  }

  init(names: Result<[String], QueryError>, isAscending: Bool) {
    key = RequestedOrder(names: names, isAscending: isAscending)
  }
}

extension OrderBy: CustomStringConvertible {
  /// The key path and the direction: `title ascending`.
  public var description: String { key.description }
}
