import PageStore
import Predicates

/// The row counts of groups, read from an index whose first columns are the keys of the groups: the entries of a
/// group are neighbours.
struct IndexGroups {
  let index: ResolvedIndex
  private let scan: IndexScan
  private let view: StoreView
  private let kinds: [AttributeKind]
  /// The column of the index for each key of the groups.
  private let columns: [Int]
  private let aggregateCount: Int

  /// Nil if an aggregate other than the number of rows is requested, or no index has the groups.
  init?(_ executor: QueryExecutor, by keys: [ResolvedPath], _ aggregates: [ResolvedAggregate]) throws {
    guard !keys.isEmpty, executor.ownChanges == nil, aggregates.allSatisfy({ $0.path == nil }),
      executor.plan.isCovering,
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

  /// Returns a row for each group: its keys, and its number of rows for each aggregate.
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
    let start = try tree.count(in: KeyRange(upper: keys.lowerAsEnd))
    let entries = EntryGroups(tree: tree, kinds: kinds, damage: damage)
    var walkedCount = 0
    defer { view.counters.entriesWalked += walkedCount }
    try entries.forEach(from: start, to: start + tree.count(in: keys)) { group in
      let checks = walkedCount / StoreView.rowsBetweenChecks
      walkedCount += group.readCount
      if walkedCount / StoreView.rowsBetweenChecks > checks { try view.checkCancellation() }
      // A range may begin with the group that the previous range has ended with.
      if let last = groups.indices.last, groups[last].prefix == group.prefix {
        groups[last].count += group.count
      } else {
        groups.append((group.prefix, group.count))
      }
      return true
    }
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
    return ContextError(.corrupt, "index \(index.name) of \(entity) has a key that can't be read")
  }
}
