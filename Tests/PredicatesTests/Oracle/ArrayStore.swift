import Foundation
import TestSupport

@testable import Predicates

/// Records and indexes in sorted arrays instead of trees. The tests carry plans out on them.
final class ArrayStore: IndexCounting, RowSampling, RecordSource {
  struct Entry {
    var columns: [Plain]
    var number: ObjectNumber
  }

  let translation: Translation
  private let world: PlainWorld
  private var records: [String: [ObjectNumber: UnsafeRawBufferPointer]] = [:]
  private var entries: [IndexID: [Entry]] = [:]
  /// The meaning of the path and relationship numbers by which rows are read.
  var paths: RowPaths?

  init(_ world: PlainWorld, _ translation: Translation) {
    self.translation = translation
    self.world = world
    for schema in translation.entities {
      let rows = world.objects[schema.name] ?? []
      let layout = schema.layout
      for row in rows {
        let values = schema.stored.map { translation.value(row.values[$0.name] ?? .missing) }
        let bytes = PlainRecord.bytes(of: values, layout: layout)
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 8)
        copy.copyBytes(from: bytes)
        records[schema.name, default: [:]][row.objectNumber] = UnsafeRawBufferPointer(copy)
      }
      for index in schema.indexes { entries[index.id] = Self.entries(of: index, schema, rows) }
    }
  }

  private static func entries(
    of index: ResolvedIndex,
    _ schema: EntitySchema,
    _ rows: [PlainObject]
  ) -> [Entry] {
    let all = rows.map { row in
      let columns = index.columns.map { column in
        Translation.folding(column.folding).fold(row.values[schema.stored[column.slot].name] ?? .missing)
      }
      return Entry(columns: columns, number: row.objectNumber)
    }
    let kept = index.origin == .relationship ? all.filter { !$0.columns[0].isMissing } : all
    return kept.sorted { a, b in
      for (left, right) in zip(a.columns, b.columns) {
        if Plain.precedes(left, right) { return true }
        if Plain.precedes(right, left) { return false }
      }
      return a.number < b.number
    }
  }

  deinit {
    for record in records.values.flatMap(\.values) { record.deallocate() }
  }

  // MARK: Counting

  func count(of entity: EntityID, in range: ClosedRange<ObjectNumber>) -> Int {
    records[translation.entitySchema(entity).name]?.keys.count { range.contains($0) } ?? 0
  }

  func count(of entity: EntityID) -> Int { records[translation.entitySchema(entity).name]?.count ?? 0 }

  func count(_ range: IndexRange, in index: ResolvedIndex) -> Int { numbers(range, in: index).count }

  func numbers(_ range: IndexRange, in index: ResolvedIndex) -> [ObjectNumber] {
    guard let range = PlainRange(range, translation) else { return [] }
    return (entries[index.id] ?? []).filter { contains(range, $0) }.map(\.number)
  }

  private func contains(_ range: PlainRange, _ entry: Entry) -> Bool {
    for (column, value) in zip(entry.columns, range.prefix) where !Plain.areEqual(column, value) {
      return false
    }
    guard range.prefix.count < entry.columns.count else { return true }
    let value = entry.columns[range.prefix.count]
    if let lower = range.lower {
      if lower.isIncluded ? Plain.precedes(value, lower.value) : !Plain.precedes(lower.value, value) {
        return false
      }
    }
    if let upper = range.upper {
      return upper.isIncluded ? !Plain.precedes(upper.value, value) : Plain.precedes(value, upper.value)
    }
    return true
  }

  /// The objects that the elements name as theirs.
  func owners(of elements: [ObjectNumber], in relationship: ToManyID) -> [ObjectNumber] {
    let plain = translation.plain(relationship)
    let owners = (world.objects[plain.destination] ?? []).filter { elements.contains($0.objectNumber) }
      .compactMap { element -> ObjectNumber? in
        if case .link(let owner) = element.values[plain.inverse] {
          ObjectNumber(rawValue: owner)
        } else {
          nil
        }
      }
    return Set(owners).sorted()
  }

  func numbers(
    of entity: EntitySchema,
    where condition: NormalPredicate,
    scope: Int,
    atMost limit: Int
  ) throws -> [ObjectNumber]? {
    let program = try FilterProgram(
      compiling: condition,
      paths: RowPaths(entity, in: translation, scope: scope)
    )
    let numbers = (world.objects[entity.name] ?? []).map(\.objectNumber).sorted()
    let found = try matches(of: program, among: numbers, of: entity.name)
    return found.count <= limit ? found : nil
  }

  // MARK: Sampling

  func hits(
    at ranks: [Int],
    of access: AccessPath,
    in entity: EntitySchema,
    passing tests: [NormalPredicate]
  ) throws -> [Int] {
    let rows = numbers(access)
    return try tests.map { test in
      let program = try FilterProgram(compiling: test, paths: RowPaths(entity, in: translation))
      return try matches(of: program, among: ranks.map { rows[$0] }).count
    }
  }

  // MARK: Records

  func record(_ number: ObjectNumber, at place: Int) -> UnsafeRawBufferPointer? {
    paths.flatMap { record(number, of: $0.places[place].entity.name) }
  }

  func elements(of owner: ObjectNumber, in relationship: Int) -> [ObjectNumber] {
    guard let paths else { return [] }
    let plain = translation.plain(paths.relationships[relationship])
    return world.elements(plain, of: .link(owner.rawValue)).map(\.objectNumber)
  }

  func elementCount(of owner: ObjectNumber, in relationship: Int) -> Int {
    elements(of: owner, in: relationship).count
  }

  func externalValue(_ reference: ExternalReference, at slot: Int, of place: Int) throws -> Data {
    throw DamagedRecord(entity: "", number: .none)
  }

  func releaseRecords() {}

  func record(_ number: ObjectNumber, of entity: String) -> UnsafeRawBufferPointer? {
    records[entity]?[number]
  }

  // MARK: Plans

  /// Carries the plan out, step by step.
  func run(_ plan: PlannedQuery) throws -> [UInt64] {
    var numbers = numbers(plan.access)
    if plan.isCountExact ? numbers.count != plan.access.rowCount : numbers.count > plan.access.rowCount {
      throw OracleMismatch("the plan counted \(plan.access.rowCount) rows, there are \(numbers.count)")
    }
    if plan.residual != .constant(true) {
      let program = try FilterProgram(
        compiling: plan.residual,
        paths: RowPaths(plan.entity, in: translation)
      )
      numbers = try matches(of: program, among: numbers)
    }
    switch plan.order {
    case .access(let isReversed): if isReversed { numbers.reverse() }
    case .sorted(let keys, let isIDAscending): numbers = try sorted(numbers, keys, isIDAscending, plan.entity)
    }
    let rest = numbers.dropFirst(plan.offset)
    return (plan.limit.map { rest.prefix($0) } ?? rest).map(\.rawValue)
  }

  /// The objects that the program accepts; those that don't exist are left out.
  func matches(
    of program: FilterProgram,
    among numbers: [ObjectNumber],
    of entity: String = PlainWorld.fetched
  ) throws -> [ObjectNumber] {
    paths = program.paths
    var reader = RowReader(program.paths, source: self)
    return try numbers.filter { number in
      guard let record = record(number, of: entity) else { return false }
      try reader.begin(number, record)
      return try program.matches(&reader)
    }
  }

  private func numbers(_ access: AccessPath) -> [ObjectNumber] {
    switch access {
    case .nothing: []
    case .fullScan: world.things.map(\.objectNumber)
    case .objects(let numbers): numbers.filter { record($0, of: PlainWorld.fetched) != nil }
    case .index(let scan): found(by: scan)
    case .union(let scans):
      Set(scans.flatMap(found)).sorted()
    case .intersection(let scans):
      scans.dropFirst().reduce(Set(scans.first.map(found) ?? [])) { $0.intersection(found(by: $1)) }.sorted()
    }
  }

  private func found(by scan: IndexScan) -> [ObjectNumber] {
    scan.ranges.flatMap { numbers($0.range, in: scan.index) }
  }

  private func sorted(
    _ numbers: [ObjectNumber],
    _ keys: [ResolvedSort],
    _ isIDAscending: Bool,
    _ entity: EntitySchema
  ) throws -> [ObjectNumber] {
    if keys.isEmpty { return isIDAscending ? numbers.sorted() : numbers.sorted(by: >) }
    var paths = RowPaths(entity, in: translation)
    let fields = keys.map { paths.field(for: $0.path) }
    self.paths = paths
    var reader = RowReader(paths, source: self)
    let rows = try numbers.map { number in
      guard let record = record(number, of: entity.name) else { return (number, [AttributeValue]()) }
      try reader.begin(number, record)
      return (number, try fields.map { try reader.value(of: $0) })
    }
    return rows.sorted { a, b in
      for (index, key) in keys.enumerated() {
        let order = ValueComparison.sortOrder(a.1[index], b.1[index])
        if order != 0 { return (order < 0) == key.isAscending }
      }
      return (a.0 < b.0) == isIDAscending
    }.map(\.0)
  }
}

extension PlainObject {
  var objectNumber: ObjectNumber { ObjectNumber(rawValue: number) }
}

/// A range of an index in the oracle's words.
private struct PlainRange {
  var prefix: [Plain]
  /// Of the column after the prefix; nil for no bound.
  var lower: (value: Plain, isIncluded: Bool)?
  var upper: (value: Plain, isIncluded: Bool)?

  /// Returns nil for an empty range.
  init?(_ range: IndexRange, _ translation: Translation) {
    prefix = range.prefix.map(translation.plain)
    guard let next = range.next else { return }
    switch next.lower {
    case .lowest: break
    case .before(let bound): lower = (translation.plain(bound), true)
    case .after(let bound): lower = (translation.plain(bound), false)
    case .highest: return nil
    }
    switch next.upper {
    case .highest: break
    case .before(let bound): upper = (translation.plain(bound), false)
    case .after(let bound): upper = (translation.plain(bound), true)
    case .lowest: return nil
    }
  }
}
