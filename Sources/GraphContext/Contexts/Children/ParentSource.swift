import Predicates

/// The source of a child context: the parent's source with the parent's unsaved changes on top.
///
/// It has no ranked lists: the positions of the parent's source don't count the parent's changes.
final class ParentSource: ObjectSource {
  private let parent: ManagedObjectContext
  /// The parent's source, with separate memory for records.
  private let base: any ObjectSource

  init(_ parent: ManagedObjectContext) {
    self.parent = parent
    base = parent.source.another()
  }

  var schema: ResolvedSchema { base.schema }
  var commit: UInt64 { base.commit }
  var failure: ContextError? { base.failure }
  var counters: QueryCounters {
    get { base.counters }
    set { base.counters = newValue }
  }
  var cancellation: Cancellation? {
    get { base.cancellation }
    set { base.cancellation = newValue }
  }

  func another() -> any ObjectSource { ParentSource(parent) }

  // MARK: Records

  /// The state of an object in the parent's unsaved changes.
  private enum Unsaved {
    case unchanged
    case deleted
    case record(UnsafeRawBufferPointer)
  }

  /// Returns the state of an object in the parent's unsaved changes. A record's bytes stay valid until the object is
  /// changed in the parent.
  private func unsaved(_ number: ObjectNumber, _ entity: StoredEntity) -> Unsaved {
    guard let changes = parent.encodedChanges(of: entity) else { return .unchanged }
    if let record = changes.record(number) { return .record(record) }
    return changes.hidden.contains(number) ? .deleted : .unchanged
  }

  func record(
    _ number: ObjectNumber,
    of entity: StoredEntity
  ) throws(ContextError) -> UnsafeRawBufferPointer? {
    switch unsaved(number, entity) {
    case .unchanged: try base.record(number, of: entity)
    case .deleted: nil
    case .record(let record): base.keep(record, of: entity)
    }
  }

  func reference(
    at slot: Int,
    of number: ObjectNumber,
    _ entity: StoredEntity
  ) throws(ContextError) -> ObjectNumber {
    switch unsaved(number, entity) {
    case .unchanged: try base.reference(at: slot, of: number, entity)
    case .deleted: .none
    case .record(let record): RecordView(validated: record, layout: entity.layout).reference(slot)
    }
  }

  func contains(_ number: ObjectNumber, of entity: StoredEntity) throws(ContextError) -> Bool {
    switch unsaved(number, entity) {
    case .unchanged: try base.contains(number, of: entity)
    case .deleted: false
    case .record: true
    }
  }

  func keep(_ record: UnsafeRawBufferPointer, of entity: StoredEntity) -> UnsafeRawBufferPointer {
    base.keep(record, of: entity)
  }

  func contents(
    of reference: ExternalReference,
    at slot: Int,
    of entity: StoredEntity
  ) throws(ContextError) -> any BlobContents {
    try base.contents(of: reference, at: slot, of: entity)
  }

  var keptByteCount: Int { base.keptByteCount }

  func releaseKept() { base.releaseKept() }

  // MARK: Links

  func elements(of owner: ObjectNumber, in links: LinkTable) throws(ContextError) -> [ObjectNumber] {
    let stored = try base.elements(of: owner, in: links)
    return parent.pendingLinks(in: links)?.elements(of: owner, stored: stored) ?? stored
  }

  func elementCount(of owner: ObjectNumber, in links: LinkTable) throws(ContextError) -> Int {
    try base.elementCount(of: owner, in: links)
      + (parent.pendingLinks(in: links)?.difference(of: owner) ?? 0)
  }

  func isLinked(
    _ owner: ObjectNumber,
    _ element: ObjectNumber,
    in links: LinkTable
  ) throws(ContextError) -> Bool {
    if let answer = parent.pendingLinks(in: links)?.isLinked(owner, element) { return answer }
    return try base.isLinked(owner, element, in: links)
  }

  func keepElements(of owners: [ObjectNumber], in links: LinkTable) throws(ContextError) {
    try base.keepElements(of: owners, in: links)
  }

  func entries(
    of owner: ObjectNumber,
    at range: Range<Int>,
    in list: ListTable
  ) throws(ContextError) -> [ListEntry] { try merged(owner, list).entries(at: range) }

  func entryCount(
    of owner: ObjectNumber,
    before entry: ListEntry?,
    in list: ListTable
  ) throws(ContextError) -> Int { try merged(owner, list).count(before: entry) }

  func place(
    of element: ObjectNumber,
    in owner: ObjectNumber,
    _ places: PairPlaces
  ) throws(ContextError) -> ListPlace? {
    if let place = parent.entities[places.entity].pairs[places.position].places[owner, element] {
      return place
    }
    if parent.entities[places.entity].pairs[places.position].links.isLinked(owner, element) != nil {
      return nil
    }
    return try base.place(of: element, in: owner, places)
  }

  private func merged(_ owner: ObjectNumber, _ list: ListTable) -> MergedList {
    MergedList(source: base, table: list, owner: owner, pending: parent.pendingList(of: owner, in: list))
  }

  // MARK: Queries

  func rows(
    of query: ResolvedQuery,
    over layers: UnsavedLayers?,
    needsRecords: Bool
  ) throws(ContextError) -> [QueryRow] {
    try base.rows(of: query, over: .stack(layers, on: parent), needsRecords: needsRecords)
  }

  func count(of query: ResolvedQuery, over layers: UnsavedLayers?) throws(ContextError) -> Int {
    try base.count(of: query, over: .stack(layers, on: parent))
  }

  func cursor(of query: ResolvedQuery, over layers: UnsavedLayers?) throws(ContextError) -> any RowCursor {
    try base.cursor(of: query, over: .stack(layers, on: parent))
  }

  func forEachRow(
    of selection: ResolvedSelection,
    over layers: UnsavedLayers?,
    _ body: (QueryRow, inout RowReader, [RowField]) throws -> Bool
  ) throws(ContextError) {
    try base.forEachRow(of: selection, over: .stack(layers, on: parent), body)
  }

  func groups(of grouping: ResolvedGrouping, over layers: UnsavedLayers?) throws(ContextError) -> GroupRows {
    try base.groups(of: grouping, over: .stack(layers, on: parent))
  }

  func plan(of request: ResolvedRequest, over layers: UnsavedLayers?) throws(ContextError) -> QueryPlan {
    try base.plan(of: request, over: .stack(layers, on: parent))
  }
}
