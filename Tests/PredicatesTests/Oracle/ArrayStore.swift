import Foundation
import Testing

@testable import Predicates

/// Records and indexes in sorted arrays, in place of trees: what a plan is carried out on here.
final class ArrayStore: IndexCounting, RecordSource {
  struct Entry {
    var columns: [Plain]
    var number: UInt64
  }

  let translation: Translation
  private var records: [String: [(number: UInt64, bytes: UnsafeRawBufferPointer)]] = [:]
  private var entries: [IndexReference: [Entry]] = [:]
  /// Which entity's record a place of the row's paths holds.
  var places: [RowPaths.Place] = []

  init(_ world: PlainWorld, _ translation: Translation) {
    self.translation = translation
    for (entity, schema) in translation.entities {
      let rows = world.rows[entity] ?? []
      records[entity] = rows.map { row in
        let values = schema.stored.map { translation.value(row.values[$0.name] ?? .missing) }
        let bytes = PlainRecord.bytes(of: values, layout: schema.layout)
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 8)
        copy.copyBytes(from: bytes)
        return (row.number, UnsafeRawBufferPointer(copy))
      }
      for index in schema.indexReferences {
        let all = rows.map { row in
          Entry(
            columns: index.columns.map { column in
              Translation.folding(column.folding).fold(
                row.values[schema.stored[column.slot].name] ?? .missing
              )
            },
            number: row.number
          )
        }
        let kept = index.origin == .relationship ? all.filter { !$0.columns[0].isMissing } : all
        entries[index] = kept.sorted { a, b in
          for (left, right) in zip(a.columns, b.columns) {
            if Plain.precedes(left, right) { return true }
            if Plain.precedes(right, left) { return false }
          }
          return a.number < b.number
        }
      }
    }
  }

  deinit {
    for record in records.values.joined() { record.bytes.deallocate() }
  }

  // MARK: Counting

  func count(of entity: String) -> Int { records[entity]?.count ?? 0 }

  func count(_ range: IndexRange, in index: IndexReference) -> Int { objectIDs(range, in: index).count }

  func objectIDs(_ range: IndexRange, in index: IndexReference) -> [UInt64] {
    (entries[index] ?? []).filter { contains(range, $0) }.map(\.number)
  }

  private func contains(_ range: IndexRange, _ entry: Entry) -> Bool {
    for (column, value) in zip(entry.columns, range.prefix) {
      let value = translation.plain(value)
      if Plain.precedes(column, value) || Plain.precedes(value, column) { return false }
    }
    guard let next = range.next else { return true }
    let value = entry.columns[range.prefix.count]
    switch next.lower {
    case .lowest: break
    case .before(let bound): if Plain.precedes(value, translation.plain(bound)) { return false }
    case .after(let bound): if !Plain.precedes(translation.plain(bound), value) { return false }
    case .highest: return false
    }
    switch next.upper {
    case .highest: return true
    case .before(let bound): return Plain.precedes(value, translation.plain(bound))
    case .after(let bound): return !Plain.precedes(translation.plain(bound), value)
    case .lowest: return false
    }
  }

  // MARK: Records

  func record(_ number: UInt64, at place: Int) -> UnsafeRawBufferPointer? {
    record(number, of: places[place].entity)
  }

  func owners(of elements: [UInt64], in relationship: RowPaths.Relationship) -> [UInt64] { [] }
  func elements(of owner: UInt64, in relationship: Int) -> [UInt64] { [] }
  func elementCount(of owner: UInt64, in relationship: Int) -> Int { 0 }

  func releaseRecords() {}

  func record(_ number: UInt64, of entity: String) -> UnsafeRawBufferPointer? {
    records[entity]?.first { $0.number == number }?.bytes
  }

  // MARK: Plans

  /// Carries the plan out, step by step.
  func run(_ plan: PlannedQuery) throws -> [UInt64] {
    var numbers = numbers(plan.access)
    #expect(numbers.count <= plan.access.rowCount)
    if plan.isCountExact { #expect(numbers.count == plan.access.rowCount) }
    let program = try FilterProgram(compiling: plan.residual, paths: RowPaths(plan.entity, in: translation))
    places = program.paths.places
    var reader = RowReader(program.paths, source: self)
    numbers = try numbers.filter { number in
      guard let record = record(number, of: plan.entity.name) else { return false }
      try reader.begin(number, record)
      return try program.matches(&reader)
    }
    switch plan.order {
    case .access(let isReversed): if isReversed { numbers.reverse() }
    case .sorted(let keys, let isIDAscending): numbers = try sorted(numbers, keys, isIDAscending, plan.entity)
    }
    return Array(
      plan.limit.map { numbers.dropFirst(plan.offset).prefix($0) } ?? numbers.dropFirst(plan.offset)
    )
  }

  private func numbers(_ access: AccessPath) -> [UInt64] {
    switch access {
    case .nothing: []
    case .fullScan: records[PlainWorld.fetched]?.map(\.number) ?? []
    case .objects(let numbers): numbers
    case .index(let scan): scan.ranges.flatMap { objectIDs($0.range, in: scan.index) }
    case .union(let scans):
      Set(scans.flatMap { scan in scan.ranges.flatMap { objectIDs($0.range, in: scan.index) } }).sorted()
    }
  }

  private func sorted(
    _ numbers: [UInt64],
    _ keys: [ResolvedSort],
    _ isIDAscending: Bool,
    _ entity: EntitySchema
  ) throws -> [UInt64] {
    var paths = RowPaths(entity, in: translation)
    let fields = try keys.map { try paths.field(for: $0.path) }
    places = paths.places
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
