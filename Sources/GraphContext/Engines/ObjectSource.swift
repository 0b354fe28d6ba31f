import Predicates

/// What a context reads: one state of a store, or what a parent context shows with its unsaved changes.
///
/// A source belongs to one task at a time, like the context that reads it.
protocol ObjectSource: AnyObject {
  var schema: StoredSchema { get }
  /// Optional abilities of this source.
  var capabilities: SourceCapabilities { get }
  /// The commit that the source shows; 0 if it shows none.
  var commit: UInt64 { get }
  /// Why the source shows nothing; nil if it shows a state. Then everything else throws this.
  var failure: ContextError? { get }
  /// What the source has read so far, and what it keeps.
  var counters: QueryCounters { get set }
  /// Set where the source is read outside of the task that waits for it.
  var cancellation: Cancellation? { get set }

  /// A source of the same state with memory of its own.
  func another() -> any ObjectSource

  // MARK: Records

  /// The record of an object, checked, in the newest layout; nil when there is none. The bytes stay where they are until
  /// ``releaseKept()``.
  func record(_ number: ObjectNumber, of entity: StoredEntity) throws(ContextError) -> UnsafeRawBufferPointer?

  /// The records of objects, each as ``record(_:of:)`` gives it, from the first on until they have so many bytes together; nil for an object
  /// that there is none of, or whose record is damaged.
  func records(
    _ numbers: ArraySlice<ObjectNumber>,
    of entity: StoredEntity,
    byteLimit: Int
  ) throws(ContextError) -> [UnsafeRawBufferPointer?]

  /// What an object has in the slot of a to-one relationship; `none` for nil, and where there is no such object.
  func reference(
    at slot: Int,
    of number: ObjectNumber,
    _ entity: StoredEntity
  ) throws(ContextError) -> ObjectNumber

  func contains(_ number: ObjectNumber, of entity: StoredEntity) throws(ContextError) -> Bool

  /// A copy of a record, which stays where it is until ``releaseKept()``; an empty one of bytes that are no record of the entity.
  func keep(_ record: UnsafeRawBufferPointer, of entity: StoredEntity) -> UnsafeRawBufferPointer

  /// Bytes of records that are kept.
  var keptByteCount: Int { get }

  /// Gives the memory of all kept records back.
  func releaseKept()

  /// The value that a record of the source refers to.
  ///
  /// - Parameter slot: where the record has the reference.
  func contents(
    of reference: ExternalReference,
    at slot: Int,
    of entity: StoredEntity
  ) throws(ContextError) -> any BlobContents

  // MARK: Links

  /// The numbers linked to `owner`, ascending.
  func elements(of owner: ObjectNumber, in links: LinkTable) throws(ContextError) -> [ObjectNumber]

  func elementCount(of owner: ObjectNumber, in links: LinkTable) throws(ContextError) -> Int

  func isLinked(
    _ owner: ObjectNumber,
    _ element: ObjectNumber,
    in links: LinkTable
  ) throws(ContextError) -> Bool

  /// Reads the elements of these owners, which ascend, in one pass, and keeps the lists until ``releaseKept()``.
  func keepElements(of owners: [ObjectNumber], in links: LinkTable) throws(ContextError)

  /// The members of an owner at these positions, in their order; fewer where the list ends. O(log n + positions).
  func entries(
    of owner: ObjectNumber,
    at range: Range<Int>,
    in list: ListTable
  ) throws(ContextError) -> [ListEntry]

  /// How many members of an owner come before an entry, which needn't be there; nil stands for the end. O(log n).
  func entryCount(
    of owner: ObjectNumber,
    before entry: ListEntry?,
    in list: ListTable
  ) throws(ContextError) -> Int

  /// The place of a link, from its owner to its element; nil for that of the element's number, and where there is no such link. O(log n).
  func place(
    of element: ObjectNumber,
    in owner: ObjectNumber,
    _ places: PairPlaces
  ) throws(ContextError) -> ListPlace?

  // MARK: Queries

  /// The objects that a query describes, in its order.
  ///
  /// - Parameters:
  ///   - layers: unsaved changes that take part.
  ///   - needsRecords: whether the rows of objects without unsaved changes come with their records, which are kept.
  func rows(
    of query: ResolvedQuery,
    over layers: UnsavedLayers?,
    needsRecords: Bool
  ) throws(ContextError) -> [QueryRow]

  /// How many objects a query describes; limit and offset count.
  func count(of query: ResolvedQuery, over layers: UnsavedLayers?) throws(ContextError) -> Int

  /// The objects that a query describes, to be taken a few at a time.
  func cursor(of query: ResolvedQuery, over layers: UnsavedLayers?) throws(ContextError) -> any RowCursor

  /// Calls `body` with each row that a selection describes, in order, until it returns false: with a reader that has begun the row, and
  /// the fields of the columns. An error that `body` throws becomes a `ContextError`.
  func forEachRow(
    of selection: ResolvedSelection,
    over layers: UnsavedLayers?,
    _ body: (QueryRow, inout RowReader, [RowField]) throws -> Bool
  ) throws(ContextError)

  /// The groups of a query, in no order: condition, order, limit and offset of groups are applied above the source.
  func groups(of grouping: ResolvedGrouping, over layers: UnsavedLayers?) throws(ContextError) -> GroupRows

  /// The state of a list whose positions the source can count; nil if it can't. Only sources with the capability
  /// ``SourceCapabilities/ranks`` are asked.
  ///
  /// - Parameter previous: the list's state before, of the same source or another one.
  func rankedContent(
    _ access: RankedAccess,
    of entity: StoredEntity,
    over layers: UnsavedLayers?,
    after previous: any ListContent
  ) throws(ContextError) -> (any ListContent)?

  /// How the source answers a request.
  func plan(of request: ResolvedRequest, over layers: UnsavedLayers?) throws(ContextError) -> QueryPlan
}

/// Optional abilities of an ``ObjectSource``.
struct SourceCapabilities: OptionSet, Sendable {
  let rawValue: Int

  init(rawValue: Int) { self.rawValue = rawValue }

  /// Finds a row by its position in an order in O(log n), so that a list holds no IDs.
  static let ranks = SourceCapabilities(rawValue: 1)
  /// Counts the rows of an index range in O(log n), exactly; plans show the counts.
  static let exactCounts = SourceCapabilities(rawValue: 2)
  /// Answers queries from an index without reading records.
  static let coveringScans = SourceCapabilities(rawValue: 4)
}

/// A source that shows one state of a store, without unsaved changes.
protocol StoredSource: ObjectSource {
  /// The object whose entry of a unique index has these components, encoded by ``KeyCoder``; nil if there is none. O(log n).
  func owner(of components: [UInt8], in index: ResolvedIndex) throws(ContextError) -> ObjectNumber?

  /// A reader of rows whose relationships lead to this state's objects.
  func reader(of paths: RowPaths) -> RowReader
}

/// The results of a query, a few at a time, all of one state.
protocol RowCursor: AnyObject {
  /// The next `count` results, fewer at the end; those of objects without unsaved changes with their records, as `keep` returns them.
  func next(
    _ count: Int,
    _ keep: (UnsafeRawBufferPointer) -> UnsafeRawBufferPointer
  ) throws(ContextError) -> [QueryRow]
}

/// A request for objects, values or groups whose names are found in the schema.
enum ResolvedRequest {
  case objects(ResolvedQuery)
  case values(ResolvedSelection)
  case groups(ResolvedGrouping)

  /// Which objects take part.
  var query: ResolvedQuery {
    switch self {
    case .objects(let query): query
    case .values(let selection): selection.query
    case .groups(let grouping): grouping.query
    }
  }
}

/// A table of links between objects, owner and element.
package struct LinkTable: Sendable, Hashable {
  /// Where the links come from.
  package enum Origin: Sendable, Hashable {
    /// A to-one relationship: its object is the element, what it leads to the owner.
    case reference(entity: Int, slot: Int)
    /// A relationship that is stored as pairs, by its position among the to-many relationships of the owner's entity.
    case pairs(entity: Int, position: Int)
  }
  package let origin: Origin
  /// The name of the tree that has the links.
  package let treeName: String
}

extension ObjectSource {
  /// Gives none: each is read when it is asked for.
  func records(
    _ numbers: ArraySlice<ObjectNumber>,
    of entity: StoredEntity,
    byteLimit: Int
  ) throws(ContextError) -> [UnsafeRawBufferPointer?] { [] }

  /// None, as a source without ``SourceCapabilities/ranks``.
  func rankedContent(
    _ access: RankedAccess,
    of entity: StoredEntity,
    over layers: UnsavedLayers?,
    after previous: any ListContent
  ) throws(ContextError) -> (any ListContent)? { nil }

  /// How the source answers a request, with what that has read if it is measured.
  func explain(
    _ request: ResolvedRequest,
    over layers: UnsavedLayers?,
    analyze: Bool
  ) throws(ContextError) -> QueryPlan {
    let plan = try plan(of: request, over: layers)
    guard analyze else { return plan }
    return try plan.measured(on: self) { () throws(ContextError) in
      try rowCount(of: request, over: layers)
    }
  }

  /// How many rows there are, each of them read.
  private func rowCount(of request: ResolvedRequest, over layers: UnsavedLayers?) throws(ContextError) -> Int
  {
    switch request {
    case .objects(let query): try rows(of: query, over: layers, needsRecords: true).count
    case .values(let selection): try selection.count(in: self, over: layers)
    case .groups(let grouping): try grouping.rows(in: self, over: layers).count
    }
  }
}
