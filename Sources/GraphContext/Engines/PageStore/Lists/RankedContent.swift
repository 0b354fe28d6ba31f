import Predicates

/// A state of a list by rank: the entries of a tree, without those of objects with unsaved changes, merged with the
/// unsaved objects that match.
///
/// Memory: a snapshot, and some words for each object with unsaved changes. Time: O(log n) for a position.
final class RankedContent: ListContent {
  private let entries: RankedEntries
  private var unsaved = RankedChanges()

  /// O(changes since the previous state · log n) if that is of the same commit, else O(unsaved · log n).
  ///
  /// - Parameters:
  ///   - view: the state of the store, with its own memory.
  ///   - records: the unsaved objects of the entity; nil for none.
  ///   - previous: the previous state of the list; nil for none.
  init(
    _ access: RankedAccess,
    of entity: StoredEntity,
    in view: StoreView,
    _ records: UnsavedRecords?,
    after previous: RankedContent?
  ) throws(ContextError) {
    entries = try ContextError.mapping { try RankedEntries(access, of: entity, in: view) }
    guard let records else { return }
    if let previous, previous.entries.view.commit == view.commit { unsaved = previous.unsaved }
    try ContextError.mapping { try unsaved.update(from: records, entries) }
  }

  var count: Int { entries.count - unsaved.hidden.count + unsaved.added.count }

  var byteCount: Int { unsaved.byteCount }

  /// Returns the content itself, because nothing changes it.
  func kept() -> any ListContent { self }

  var entriesWalked: Int { entries.view.counters.treeEntries }

  func positions(of numbers: [ObjectNumber]) throws(ContextError) -> [Int?] {
    try ContextError.mapping { try numbers.map(position) }
  }

  private func position(of number: ObjectNumber) throws -> Int? {
    if let known = unsaved.known(number) {
      return known.key.map { unsaved.position(ofAdded: unsaved.place(of: $0, entries)) }
    }
    guard let entry = try entries.position(of: number) else { return nil }
    // An unsaved object comes before the entry that it was compared with.
    let addedBefore = unsaved.added.prefixCount { $0.entriesBefore <= entry }
    return entry - unsaved.hiddenCount(before: entry) + addedBefore
  }

  func numbers(at range: Range<Int>) throws(ContextError) -> [ObjectNumber] {
    try ContextError.mapping { try foundNumbers(at: range) }
  }

  private func foundNumbers(at range: Range<Int>) throws -> [ObjectNumber] {
    var numbers: [ObjectNumber] = []
    numbers.reserveCapacity(range.count)
    let added = unsaved.added
    var place = added.firstPlace { unsaved.position(ofAdded: $0) >= range.lowerBound }
    var position = range.lowerBound
    while position < range.upperBound {
      let next = place < added.count ? unsaved.position(ofAdded: place) : .max
      guard next >= position else { throw entries.damage }
      if next == position {
        numbers.append(added[place].number)
        (place, position) = (place + 1, position + 1)
        continue
      }
      let end = min(range.upperBound, next)
      try appendEntries(position - place, end - position, to: &numbers)
      position = end
    }
    return numbers
  }

  /// Returns the number of hidden entries in front of a counted entry.
  ///
  /// - Parameter first: the number of counted entries in front of it.
  private func hiddenCount(beforeCounted first: Int) -> Int {
    let hidden = unsaved.hidden
    // The hidden entries with no more than `first` counted entries before them.
    return hidden.firstPlace { hidden[$0] - $0 > first }
  }

  /// Appends `count` counted entries, beginning with the one that has `first` counted entries in front of it.
  private func appendEntries(_ first: Int, _ count: Int, to numbers: inout [ObjectNumber]) throws {
    let hidden = unsaved.hidden
    var place = hiddenCount(beforeCounted: first)
    var (entry, left) = (first + place, count)
    while left > 0 {
      let end = place < hidden.count ? min(entry + left, hidden[place]) : entry + left
      // Objects without entries have positions that others have.
      guard end >= entry else { throw entries.damage }
      try entries.forEachNumber(at: entry..<end) { numbers.append($0) }
      left -= end - entry
      (entry, place) = (end + 1, place + 1)
    }
  }
}

// MARK: - Groups

extension RankedContent {
  func hasGroups(of path: ResolvedPath) -> Bool { unsaved.isEmpty && entries.columns(of: path) != nil }

  func forEachGroup(
    of path: ResolvedPath,
    from position: Int,
    _ body: (AttributeValue, Int) throws -> Bool
  ) throws(ContextError) {
    guard let columns = entries.columns(of: path) else { return }
    let added = unsaved.added
    let first = position - added.firstPlace { unsaved.position(ofAdded: $0) >= position }
    var entry = first + hiddenCount(beforeCounted: first)
    try ContextError.mapping {
      try entries.forEachGroup(by: columns, from: entry) { value, count in
        // A commit of another context may have moved an entry that an unsaved change hides.
        let hidden = unsaved.hiddenCount(before: entry + count) - unsaved.hiddenCount(before: entry)
        entry += count
        return try hidden >= count || body(value, count - hidden)
      }
    }
  }
}

extension StoreView {
  func rankedContent(
    _ access: RankedAccess,
    of entity: StoredEntity,
    over layers: UnsavedLayers?,
    after previous: any ListContent
  ) throws(ContextError) -> (any ListContent)? {
    // The list keeps the snapshot when the context has moved on.
    guard let view = another() as? StoreView else { return nil }
    let records = layers?.records(of: entity)
    return try RankedContent(access, of: entity, in: view, records, after: previous as? RankedContent)
  }
}
