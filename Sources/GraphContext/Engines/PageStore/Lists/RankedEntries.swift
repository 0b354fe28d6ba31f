import PageStore
import Predicates

/// The entries of a tree that are a query's results in its order. The tree counts them: a position is found, or an
/// entry at a position, in O(log n), and no memory is held for an entry.
struct RankedEntries {
  let view: StoreView
  let entity: StoredEntity
  let access: RankedAccess
  let tree: TreeReader?
  /// Neighbouring entries, in the tree's order.
  let spans: [Span]
  let count: Int

  struct Span {
    let keys: KeyRange
    /// The number of entries of the tree before the span.
    let rank: Int
    /// The number of entries in earlier spans.
    let start: Int
    let count: Int
  }

  /// Counts the entries. O(ranges · log n).
  init(_ access: RankedAccess, of entity: StoredEntity, in view: StoreView) throws {
    (self.view, self.entity, self.access) = (view, entity, access)
    let ranges: [KeyRange]
    switch access.source {
    case .records(let numbers):
      tree = try view.records(of: entity)
      ranges = [numbers.map(KeyRange.init) ?? .all]
    case .index(let index, let values):
      tree = try view.tree(of: index)
      ranges = values.map { IndexKeys.keys($0, in: index) }
    }
    var (spans, start) = ([Span](), 0)
    for keys in ranges {
      guard let tree else { break }
      let span = Span(
        keys: keys,
        rank: try tree.count(in: KeyRange(upper: keys.lowerAsEnd)),
        start: start,
        count: try tree.count(in: keys)
      )
      guard span.rank >= 0, span.count >= 0, span.count <= 1 << 48 else {
        throw ContextError(.corrupt, "the entries of a list have a count that no tree can have")
      }
      spans.append(span)
      start += span.count
    }
    self.spans = spans
    count = start
  }

  /// Returns the key of an object's entry, given its record.
  func key(of record: RecordView, _ number: ObjectNumber) -> [UInt8] {
    guard case .index(let index, _) = access.source else { return KeyCoder.key(of: number) }
    var key: [UInt8] = []
    _ = index.appendKey(of: record, number, to: &key)
    return key
  }

  /// Tells whether a key is in the ranges of the results.
  func includes(_ key: [UInt8]) -> Bool {
    span(of: key) != nil || tree == nil && access.source.includes(key)
  }

  /// Returns the position of a stored object; nil if it isn't among the results. O(log n).
  func position(of number: ObjectNumber) throws -> Int? {
    let key: [UInt8]?? = try view.withRecord(number, of: entity) { record in
      let key = self.key(of: record, number)
      return includes(key) ? key : nil
    }
    guard case .some(.some(let key)) = key else { return nil }
    return try position(of: key, isEntry: true)
  }

  /// Counts the results before a key, whether or not the tree has it. O(log n).
  func position(of key: [UInt8], isEntry: Bool) throws -> Int {
    guard let tree, let span = span(of: key) else { return 0 }
    view.counters.entriesWalked += 1
    let place = span.start + min(max(0, try tree.rank(of: key) - span.rank), span.count)
    return access.isReversed ? max(0, count - place - (isEntry ? 1 : 0)) : place
  }

  /// Compares two keys in the order of the results.
  func isBefore(_ first: [UInt8], _ second: [UInt8]) -> Bool {
    access.isReversed ? second.lexicographicallyPrecedes(first) : first.lexicographicallyPrecedes(second)
  }

  private func span(of key: [UInt8]) -> Span? { spans.first { $0.keys.contains(key) } }

  /// Calls `body` with the numbers of the results at some positions, in their order. O(log n + range).
  func forEachNumber(at range: Range<Int>, _ body: (ObjectNumber) -> Void) throws {
    guard let tree, !range.isEmpty else { return }
    let isReversed = access.isReversed
    var place = isReversed ? count - 1 - range.lowerBound : range.lowerBound
    var left = range.count
    while left > 0 {
      guard let span = spans.last(where: { $0.start <= place && place < $0.start + $0.count }) else {
        throw damage
      }
      var cursor = tree.cursor()
      var isAtEntry = try cursor.seek(toPosition: span.rank + place - span.start)
      let last = isReversed ? span.start : span.start + span.count - 1
      while left > 0 {
        guard isAtEntry else { throw damage }
        body(try cursor.number())
        view.counters.entriesWalked += 1
        left -= 1
        let wasLast = place == last
        place += isReversed ? -1 : 1
        if wasLast { break }
        if left > 0 { isAtEntry = try isReversed ? cursor.previous() : cursor.next() }
      }
    }
  }

  var damage: ContextError {
    ContextError(.corrupt, "a tree of \(entity.name) has fewer entries than its count")
  }
}

extension RankedAccess.Source {
  /// Returns whether a key is in one of the ranges.
  fileprivate func includes(_ key: [UInt8]) -> Bool {
    switch self {
    case .records(let numbers): numbers.map(KeyRange.init)?.contains(key) ?? true
    case .index(let index, let ranges): ranges.contains { IndexKeys.keys($0, in: index).contains(key) }
    }
  }
}

extension KeyRange {
  fileprivate func contains(_ key: [UInt8]) -> Bool {
    let isAbove =
      switch lower {
      case .unbounded: true
      case .including(let bound): !key.lexicographicallyPrecedes(bound)
      case .excluding(let bound): bound.lexicographicallyPrecedes(key)
      }
    guard isAbove else { return false }
    return switch upper {
    case .unbounded: true
    case .including(let bound): !bound.lexicographicallyPrecedes(key)
    case .excluding(let bound): key.lexicographicallyPrecedes(bound)
    }
  }
}
