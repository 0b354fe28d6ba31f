import Predicates

/// The source that a context reads: one state of a store, or a parent context with its unsaved changes.
///
/// A source belongs to one task at a time, like the context that reads it.
protocol ObjectSource: AnyObject {
  var schema: ResolvedSchema { get }
  /// The commit that the source shows; 0 if it shows none.
  var commit: UInt64 { get }
  /// The reason why the source shows nothing; nil if it shows a state. If there is a reason, all other calls throw
  /// it.
  var failure: ContextError? { get }
  /// Counts of what the source has read so far, and of what it keeps.
  var counters: QueryCounters { get set }
  /// The cancellation by the waiting task; set if the source is read outside of this task.
  var cancellation: Cancellation? { get set }

  /// Makes a source of the same state with its own memory.
  func another() -> any ObjectSource

  // MARK: Records

  /// Returns the record of an object, checked, in the newest layout; nil when there is none. The bytes stay where
  /// they are until ``releaseKept()``.
  func record(_ number: ObjectNumber, of entity: StoredEntity) throws(ContextError) -> UnsafeRawBufferPointer?

  /// Returns the records of objects, each as ``record(_:of:)`` returns it, from the first on, until together they
  /// have `byteLimit` bytes; nil for an object that doesn't exist, or whose record is damaged.
  func records(
    _ numbers: ArraySlice<ObjectNumber>,
    of entity: StoredEntity,
    byteLimit: Int
  ) throws(ContextError) -> [UnsafeRawBufferPointer?]

  /// Returns the reference in the slot of an object's to-one relationship; `none` for nil, and if there is no such
  /// object.
  func reference(
    at slot: Int,
    of number: ObjectNumber,
    _ entity: StoredEntity
  ) throws(ContextError) -> ObjectNumber

  func contains(_ number: ObjectNumber, of entity: StoredEntity) throws(ContextError) -> Bool

  /// Returns a copy of a record, which stays at its address until ``releaseKept()``; an empty copy if the bytes are
  /// no record of the entity.
  func keep(_ record: UnsafeRawBufferPointer, of entity: StoredEntity) -> UnsafeRawBufferPointer

  /// Bytes of records that are kept.
  var keptByteCount: Int { get }

  /// Gives the memory of all kept records back.
  func releaseKept()

  /// Returns the value that a record of the source refers to.
  ///
  /// - Parameter slot: the slot of the record that has the reference.
  func contents(
    of reference: ExternalReference,
    at slot: Int,
    of entity: StoredEntity
  ) throws(ContextError) -> any BlobContents

  // MARK: Links

  /// Returns the numbers linked to `owner`, ascending.
  func elements(of owner: ObjectNumber, in links: LinkTable) throws(ContextError) -> [ObjectNumber]

  func elementCount(of owner: ObjectNumber, in links: LinkTable) throws(ContextError) -> Int

  func isLinked(
    _ owner: ObjectNumber,
    _ element: ObjectNumber,
    in links: LinkTable
  ) throws(ContextError) -> Bool

  /// Reads the elements of these owners, which ascend, in one pass, and keeps the lists until ``releaseKept()``.
  func keepElements(of owners: [ObjectNumber], in links: LinkTable) throws(ContextError)

  /// Returns the members of an owner at these positions, in their order; fewer where the list ends.
  /// O(log n + positions).
  func entries(
    of owner: ObjectNumber,
    at range: Range<Int>,
    in list: ListTable
  ) throws(ContextError) -> [ListEntry]

  /// Returns the number of an owner's members before an entry, which needn't be there; nil stands for the end.
  /// O(log n).
  func entryCount(
    of owner: ObjectNumber,
    before entry: ListEntry?,
    in list: ListTable
  ) throws(ContextError) -> Int

  /// Returns the place of a link from an owner to an element; nil for the place of the element's number, and if
  /// there is no such link. O(log n).
  func place(
    of element: ObjectNumber,
    in owner: ObjectNumber,
    _ places: PairPlaces
  ) throws(ContextError) -> ListPlace?

  // MARK: Queries

  /// Returns the objects of a query, in the query's order.
  ///
  /// - Parameters:
  ///   - layers: unsaved changes that take part.
  ///   - needsRecords: whether the rows of objects without unsaved changes come with their records, which are kept.
  func rows(
    of query: ResolvedQuery,
    over layers: UnsavedLayers?,
    needsRecords: Bool
  ) throws(ContextError) -> [QueryRow]

  /// Returns the number of objects of a query; limit and offset count.
  func count(of query: ResolvedQuery, over layers: UnsavedLayers?) throws(ContextError) -> Int

  /// Returns a cursor that yields the objects of a query a few at a time.
  func cursor(of query: ResolvedQuery, over layers: UnsavedLayers?) throws(ContextError) -> any RowCursor

  /// Calls `body` with each row that a selection describes, in order, until `body` returns false. It gets a reader
  /// that has begun the row, and the fields of the columns. An error that `body` throws becomes a `ContextError`.
  func forEachRow(
    of selection: ResolvedSelection,
    over layers: UnsavedLayers?,
    _ body: (QueryRow, inout RowReader, [RowField]) throws -> Bool
  ) throws(ContextError)

  /// Returns the groups of a query, in no order: condition, order, limit and offset of groups are applied above the
  /// source.
  func groups(of grouping: ResolvedGrouping, over layers: UnsavedLayers?) throws(ContextError) -> GroupRows

  /// Returns the state of a list that finds its rows by their positions in O(log n), and so holds no IDs; nil if the
  /// source can't count positions.
  ///
  /// - Parameter previous: the previous state of the list, of the same source or another one.
  func rankedContent(
    _ access: RankedAccess,
    of entity: StoredEntity,
    over layers: UnsavedLayers?,
    after previous: any ListContent
  ) throws(ContextError) -> (any ListContent)?

  /// Returns how the source answers a request.
  func plan(of request: ResolvedRequest, over layers: UnsavedLayers?) throws(ContextError) -> QueryPlan
}

/// A source that shows one state of a store, without unsaved changes.
protocol StoredSource: ObjectSource {
  /// Returns the object whose entry of a unique index has these components, encoded by ``KeyCoder``; nil if there
  /// is none. O(log n).
  func owner(of components: [UInt8], in index: ResolvedIndex) throws(ContextError) -> ObjectNumber?

  /// Returns a reader of rows whose relationships lead to this state's objects.
  func reader(of paths: RowPaths) -> RowReader
}

/// The results of a query, a few at a time, all of one state.
protocol RowCursor: AnyObject {
  /// Returns the next `count` results, fewer at the end; those of objects without unsaved changes with their
  /// records, as `keep` returns them.
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
struct LinkTable: Sendable, Hashable {
  /// The origin of the links.
  enum Origin: Sendable, Hashable {
    /// A to-one relationship: the object that has it is the element, and its destination is the owner.
    case reference(entity: Int, slot: Int)
    /// A relationship that is stored as pairs, by its position among the to-many relationships of the owner's entity.
    case pairs(entity: Int, position: Int)
  }
  let origin: Origin
  /// The name of the tree that has the links.
  let treeName: String
}

extension ObjectSource {
  /// Returns no records: each record is read when it is asked for.
  func records(
    _ numbers: ArraySlice<ObjectNumber>,
    of entity: StoredEntity,
    byteLimit: Int
  ) throws(ContextError) -> [UnsafeRawBufferPointer?] { [] }

  /// Returns nil: a source counts no positions unless it has its own method.
  func rankedContent(
    _ access: RankedAccess,
    of entity: StoredEntity,
    over layers: UnsavedLayers?,
    after previous: any ListContent
  ) throws(ContextError) -> (any ListContent)? { nil }

  /// Returns how the source answers a request, with counts of what was read if the request is measured.
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

  /// Counts the rows of a request by reading each of them.
  private func rowCount(of request: ResolvedRequest, over layers: UnsavedLayers?) throws(ContextError) -> Int
  {
    switch request {
    case .objects(let query): try rows(of: query, over: layers, needsRecords: true).count
    case .values(let selection): try selection.count(in: self, over: layers)
    case .groups(let grouping): try grouping.rows(in: self, over: layers).count
    }
  }
}
