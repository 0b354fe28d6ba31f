import Foundation

@testable import GraphContext
@testable import Predicates

/// One state of a dictionary engine. Every query goes through all objects.
final class DictionarySource: StoredSource {
  let schema: ResolvedSchema
  private let store: PlainStore
  var counters = QueryCounters()
  var cancellation: Cancellation?
  /// Records that were handed out, by the entity's ordinal.
  private var kept: [KeptBytes]
  private(set) var keptByteCount = 0

  init(_ store: PlainStore, _ schema: ResolvedSchema) {
    self.store = store
    self.schema = schema
    kept = schema.entities.map { KeptBytes($0.layout) }
  }

  /// A class, because an encoder can't be copied, and so not be in an array.
  private final class KeptBytes {
    var encoder: RecordEncoder

    init(_ layout: RecordLayout) { encoder = RecordEncoder(layout: layout) }
  }

  var commit: UInt64 { store.commit }
  var failure: ContextError? { nil }

  func another() -> any ObjectSource {
    let source = DictionarySource(store, schema)
    source.cancellation = cancellation
    return source
  }

  // MARK: Records

  func record(
    _ number: ObjectNumber,
    of entity: StoredEntity
  ) throws(ContextError) -> UnsafeRawBufferPointer? {
    store.row(number, of: entity.ordinal).map { encode($0, entity) }
  }

  /// Its records have all values.
  func contents(
    of reference: ExternalReference,
    at slot: Int,
    of entity: StoredEntity
  ) throws(ContextError) -> any BlobContents { throw .damagedBlob(at: slot, of: entity) }

  private func encode(_ row: PlainStore.Row, _ entity: StoredEntity) -> UnsafeRawBufferPointer {
    let kept = kept[entity.ordinal]
    kept.encoder.begin()
    for slot in entity.slotsByPlace { _ = kept.encoder.set(row.values[slot], at: slot) }
    let bytes = kept.encoder.finish()
    keptByteCount += bytes.count
    return UnsafeRawBufferPointer(bytes)
  }

  func reference(
    at slot: Int,
    of number: ObjectNumber,
    _ entity: StoredEntity
  ) throws(ContextError) -> ObjectNumber {
    store.reference(slot, of: number, entity.ordinal) ?? .none
  }

  func contains(_ number: ObjectNumber, of entity: StoredEntity) throws(ContextError) -> Bool {
    store.row(number, of: entity.ordinal) != nil
  }

  func keep(_ record: UnsafeRawBufferPointer, of entity: StoredEntity) -> UnsafeRawBufferPointer {
    encode(PlainStore.Row(RecordView(validated: record, layout: entity.layout)), entity)
  }

  func releaseKept() {
    kept = schema.entities.map { KeptBytes($0.layout) }
    keptByteCount = 0
  }

  func owner(of components: [UInt8], in index: ResolvedIndex) throws(ContextError) -> ObjectNumber? {
    let entity = schema[index.id.entity]
    return store.rows[entity.ordinal].keys.sorted().first { number in
      guard let row = store.row(number, of: entity.ordinal) else { return false }
      var key: [UInt8] = []
      let record = RecordView(validated: encode(row, entity), layout: entity.layout)
      return index.appendKey(of: record, .none, to: &key)
        && key.dropLast(KeyCoder.numberByteCount) == components[...]
    }
  }

  // MARK: Links

  func elements(of owner: ObjectNumber, in links: LinkTable) throws(ContextError) -> [ObjectNumber] {
    store.elements(of: owner, in: links)
  }

  func keepElements(of owners: [ObjectNumber], in links: LinkTable) throws(ContextError) {}

  func elementCount(of owner: ObjectNumber, in links: LinkTable) throws(ContextError) -> Int {
    store.elements(of: owner, in: links).count
  }

  func isLinked(
    _ owner: ObjectNumber,
    _ element: ObjectNumber,
    in links: LinkTable
  ) throws(ContextError) -> Bool {
    store.elements(of: owner, in: links).contains(element)
  }

  func entries(
    of owner: ObjectNumber,
    at range: Range<Int>,
    in list: ListTable
  ) throws(ContextError) -> [ListEntry] {
    let all = entries(of: owner, in: list)
    return Array(all[range.clamped(to: all.indices)])
  }

  func entryCount(
    of owner: ObjectNumber,
    before entry: ListEntry?,
    in list: ListTable
  ) throws(ContextError) -> Int {
    entries(of: owner, in: list).count { entry == nil || $0 < entry! }
  }

  func place(
    of element: ObjectNumber,
    in owner: ObjectNumber,
    _ places: PairPlaces
  ) throws(ContextError) -> ListPlace? { nil }

  private func entries(of owner: ObjectNumber, in list: ListTable) -> [ListEntry] {
    let entity = schema.entities[list.entity]
    // The models of these tests have no order of many-to-many links.
    guard case .members(let slots) = list.origin else { return [] }
    return store.rows[list.entity].keys.compactMap { number in
      guard let row = store.row(number, of: list.entity) else { return nil }
      let record = RecordView(validated: encode(row, entity), layout: entity.layout)
      return record.reference(slots.reference) == owner ? record.listEntry(number, in: slots) : nil
    }.sorted()
  }

  // MARK: Queries

  func rows(
    of query: ResolvedQuery,
    over layers: UnsavedLayers?,
    needsRecords: Bool
  ) throws(ContextError) -> [QueryRow] {
    let entity = schema[query.entity.id]
    return PlainWorld(store, schema, layers).subjects(of: query).map { subject in
      let row = needsRecords ? store.row(subject.number, of: entity.ordinal) : nil
      return QueryRow(number: subject.number, record: row.map { encode($0, entity) })
    }
  }

  func count(of query: ResolvedQuery, over layers: UnsavedLayers?) throws(ContextError) -> Int {
    PlainWorld(store, schema, layers).subjects(of: query).count
  }

  func cursor(of query: ResolvedQuery, over layers: UnsavedLayers?) throws(ContextError) -> any RowCursor {
    Cursor(try rows(of: query, over: layers, needsRecords: true))
  }

  private final class Cursor: RowCursor {
    private var rows: ArraySlice<QueryRow>

    init(_ rows: [QueryRow]) { self.rows = rows[...] }

    func next(
      _ count: Int,
      _ keep: (UnsafeRawBufferPointer) -> UnsafeRawBufferPointer
    ) throws(ContextError) -> [QueryRow] {
      let next = rows.prefix(count)
      rows = rows.dropFirst(count)
      return next.map { QueryRow(number: $0.number, record: $0.record.map(keep)) }
    }
  }

  func forEachRow(
    of selection: ResolvedSelection,
    over layers: UnsavedLayers?,
    _ body: (QueryRow, inout RowReader, [RowField]) throws -> Bool
  ) throws(ContextError) {
    let world = PlainWorld(store, schema, layers)
    var query = selection.query
    if selection.isDistinct { (query.limit, query.offset) = (nil, 0) }
    var subjects = world.subjects(of: query)
    if selection.isDistinct {
      var seen: [[AttributeValue]] = []
      subjects.removeAll { subject in
        let row = selection.columns.map { subject.value(at: $0.path) }
        if seen.contains(where: { PlainWorld.areEqual($0, row) }) { return true }
        seen.append(row)
        return false
      }
      subjects = PlainWorld.window(subjects, selection.query)
    }
    var paths = RowPaths(query.entity, in: schema.schema)
    var fields: [RowField] = []
    for column in selection.columns { fields.append(paths.field(for: column.path)) }
    var reader = RowReader(paths, source: Records(self, world, paths))
    try ContextError.mapping {
      for subject in subjects {
        let record = encode(subject.row, schema[query.entity.id])
        let row = QueryRow(number: subject.number, record: record)
        try reader.begin(subject.number, record)
        guard try body(row, &reader, fields) else { return }
      }
    }
  }

  func reader(of paths: RowPaths) -> RowReader {
    RowReader(paths, source: Records(self, PlainWorld(store, schema, nil), paths))
  }

  /// The records that rows lead to.
  private final class Records: RecordSource {
    private let source: DictionarySource
    private let world: PlainWorld
    private let paths: RowPaths

    init(_ source: DictionarySource, _ world: PlainWorld, _ paths: RowPaths) {
      self.source = source
      self.world = world
      self.paths = paths
    }

    func record(_ number: ObjectNumber, at place: Int) throws -> UnsafeRawBufferPointer? {
      let entity = source.schema[paths.places[place].entity.id]
      return world.store.row(number, of: entity.ordinal).map { source.encode($0, entity) }
    }

    func externalValue(_ reference: ExternalReference, at slot: Int, of place: Int) throws -> Data {
      throw DamagedRecord(entity: "", number: .none)
    }

    func elements(of owner: ObjectNumber, in relationship: Int) throws -> [ObjectNumber] {
      world.store.elements(of: owner, in: source.schema[paths.relationships[relationship]].relationship.links)
    }

    func elementCount(of owner: ObjectNumber, in relationship: Int) throws -> Int {
      try elements(of: owner, in: relationship).count
    }

    func releaseRecords() {}
  }

  func groups(of grouping: ResolvedGrouping, over layers: UnsavedLayers?) throws(ContextError) -> GroupRows {
    let subjects = PlainWorld(store, schema, layers).subjects(of: grouping.query)
    var groups: [(keys: [AttributeValue], members: [PlainSubject])] = grouping.keys.isEmpty ? [([], [])] : []
    for subject in subjects {
      let keys = grouping.keys.map { subject.value(at: $0).withOneSpelling }
      if let place = groups.firstIndex(where: { PlainWorld.areEqual($0.keys, keys) }) {
        groups[place].members.append(subject)
      } else {
        groups.append((keys, [subject]))
      }
    }
    return GroupRows(
      groups.map { group in
        group.keys + grouping.aggregates.map { PlainAggregate.value($0, of: group.members) }
      }
    )
  }

  func plan(of request: ResolvedRequest, over layers: UnsavedLayers?) throws(ContextError) -> QueryPlan {
    let query =
      switch request {
      case .objects(let query): query
      case .values(let selection): selection.query
      case .groups(let grouping): grouping.query
      }
    return QueryPlan(
      entity: query.entity.name,
      access: .fullScan,
      ranges: [],
      lookups: [],
      rowCount: store.rows[query.entity.id.ordinal].count,
      isCovering: false,
      order: .sorted(by: query.sort.map(\.path.name), keeping: query.wanted),
      limit: query.limit,
      offset: query.offset
    )
  }
}
