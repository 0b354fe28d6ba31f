import PageStore
import Predicates

/// How many rows each group has, told by an index whose first columns are what the groups are by: the entries of a group are
/// neighbours. Of a large group all but the first are counted, not read.
struct IndexGroups {
  let index: ResolvedIndex
  private let scan: IndexScan
  private let view: StoreView
  private let kinds: [AttributeKind]
  /// For each key of the groups, which column of the index it is.
  private let columns: [Int]
  private let aggregateCount: Int

  /// Entries of a group that are read before the rest is counted.
  private static let readCount = 16

  /// Nil where something else than the number of rows is asked for, or no index tells.
  init?(_ executor: QueryExecutor, by keys: [ResolvedPath], _ aggregates: [ResolvedAggregate]) throws {
    guard executor.ownChanges == nil, aggregates.allSatisfy({ $0.path == nil }), executor.plan.isCovering,
      executor.plan.isCountExact, executor.plan.limit == nil, executor.plan.offset == 0,
      case .index(let scan) = executor.plan.access, scan.index.origin == .declared, !scan.index.isOfElements
    else { return nil }
    let slots = scan.index.columns.prefix(keys.count).filter(\.folding.isEmpty).map(\.slot)
    let columns = keys.compactMap { key in key.ownSlot.flatMap { slots.firstIndex(of: $0) } }
    guard Set(columns).count == keys.count, slots.count == keys.count else { return nil }
    self.scan = scan
    self.columns = columns
    index = scan.index
    view = executor.view
    kinds = slots.map { executor.entity.layout.fields[$0].kind }
    aggregateCount = aggregates.count
  }

  /// A row for each group: its keys, and how many rows it has for each aggregate.
  func rows() throws -> [[AttributeValue]] {
    var groups: [(prefix: [UInt8], count: Int)] = []
    if let tree = try view.tree(of: index) {
      for range in scan.ranges { try count(range.range, in: tree, &groups) }
    }
    return try groups.map { try row($0.prefix, $0.count) }
  }

  private func count(
    _ range: IndexRange,
    in tree: TreeReader,
    _ groups: inout [(prefix: [UInt8], count: Int)]
  ) throws {
    let keys = IndexKeys.keys(range, in: index)
    var cursor = tree.cursor(in: keys)
    var walkedCount = 0
    defer { view.counters.entriesWalked += walkedCount }
    var isAtEntry = try cursor.next()
    while isAtEntry {
      let prefix = try prefix(of: cursor.key())
      let end = KeyRange.successor(ofPrefix: prefix)
      var count = 0
      repeat {
        count += 1
        walkedCount += 1
        if walkedCount % StoreView.rowsBetweenChecks == 0 { try view.checkCancellation() }
        isAtEntry = try cursor.next()
      } while try isAtEntry && count < Self.readCount && cursor.key().starts(with: prefix)
      if isAtEntry, count == Self.readCount, try cursor.key().starts(with: prefix) {
        let rest = KeyRange(lower: .including([UInt8](try cursor.key())), upper: Self.first(end, keys.upper))
        count += try tree.count(in: rest)
        isAtEntry = if case .excluding(let next) = end { try cursor.seek(to: next) } else { false }
      }
      // Of several ranges, one may go on with the group that the one before has ended with.
      if let last = groups.indices.last, groups[last].prefix == prefix {
        groups[last].count += count
      } else {
        groups.append((prefix, count))
      }
    }
  }

  /// The components of a key that tell its group.
  private func prefix(of key: UnsafeRawBufferPointer) throws -> [UInt8] {
    var reader = KeyReader(key)
    for kind in kinds {
      if reader.next(kind) == nil { throw damage }
    }
    return [UInt8](key.prefix(key.count - reader.remaining))
  }

  private func row(_ prefix: [UInt8], _ count: Int) throws -> [AttributeValue] {
    let values = try prefix.withUnsafeBytes { bytes in
      var reader = KeyReader(bytes)
      return try kinds.map { kind in
        guard let value = reader.next(kind) else { throw damage }
        return value
      }
    }
    return columns.map { values[$0] } + Array(repeating: .int(Int64(count)), count: aggregateCount)
  }

  private var damage: ContextError {
    let entity = view.schema[index.id.entity].name
    return ContextError(.corrupt, "index \(index.name) of \(entity) has a key that is none of it")
  }

  /// The end that comes first.
  private static func first(_ a: KeyRange.Bound, _ b: KeyRange.Bound) -> KeyRange.Bound {
    guard case .excluding(let first) = a else { return b }
    guard case .excluding(let second) = b else { return a }
    return first.lexicographicallyPrecedes(second) ? a : b
  }
}
