import Predicates

/// A state of a list by rank: entries of a tree, less those of objects with unsaved changes, and the unsaved objects that match in between.
///
/// Memory: a snapshot, and some words for each object with unsaved changes. Time: O(log n) for a position.
final class RankedContent: ListContent {
  private let entries: RankedEntries
  /// Positions among the entries, ascending, of those that don't count: their objects have unsaved changes.
  private var hidden: [Int] = []
  /// The unsaved objects that match, in the list's order.
  private var added: [Added] = []
  /// The index in `added` of each of its objects.
  private var addedPlaces: [ObjectNumber: Int] = [:]

  private struct Added {
    let number: ObjectNumber
    let key: [UInt8]
    /// The number of entries before the object, hidden ones included.
    let entriesBefore: Int
    /// The position in the list.
    var position = 0
  }

  /// - Parameters:
  ///   - view: the state of the store, with memory of its own.
  ///   - unsaved: the unsaved objects of the entity; nil for none.
  init(
    _ access: RankedAccess,
    of entity: StoredEntity,
    in view: StoreView,
    unsaved: UnsavedRecords?
  ) throws(ContextError) {
    entries = try ContextError.mapping { try RankedEntries(access, of: entity, in: view) }
    if let unsaved { try ContextError.mapping { try workIn(unsaved) } }
  }

  /// O(unsaved · log n).
  private func workIn(_ unsaved: UnsavedRecords) throws {
    hidden = try unsaved.hidden.compactMap(entryPosition).sorted()
    let layout = entries.entity.layout
    try unsaved.forEach { number, bytes in
      let record = RecordView(validated: bytes, layout: layout)
      let key = entries.key(of: record, number)
      guard entries.includes(key) else { return }
      // A changed object may have kept its key: its entry, which is hidden, comes right before it or after it.
      added.append(
        Added(number: number, key: key, entriesBefore: try entries.position(of: key, isEntry: false))
      )
    }
    added.sort { entries.isBefore($0.key, $1.key) }
    for place in added.indices {
      let before = added[place].entriesBefore
      added[place].position = before - hidden.insertionIndex(sorted: before) { $0 } + place
      addedPlaces[added[place].number] = place
    }
  }

  /// The position of a stored object among the entries; nil if it isn't there.
  private func entryPosition(of number: ObjectNumber) throws -> Int? {
    let entries = entries
    let key: [UInt8]?? = try entries.view.withRecord(number, of: entries.entity) { record in
      let key = entries.key(of: record, number)
      return entries.includes(key) ? key : nil
    }
    guard case .some(.some(let key)) = key else { return nil }
    return try entries.position(of: key, isEntry: true)
  }

  var count: Int { entries.count - hidden.count + added.count }

  var byteCount: Int {
    let keys = added.reduce(0) { $0 + $1.key.count }
    return hidden.count * MemoryLayout<Int>.stride + added.count * 2 * MemoryLayout<Added>.stride + keys
  }

  /// Nothing changes it.
  func kept() -> any ListContent { self }

  var entriesWalked: Int { entries.view.counters.treeEntries }

  func positions(of numbers: [ObjectNumber]) throws(ContextError) -> [Int?] {
    try ContextError.mapping { try numbers.map(position) }
  }

  private func position(of number: ObjectNumber) throws -> Int? {
    if let place = addedPlaces[number] { return added[place].position }
    guard let entry = try entryPosition(of: number) else { return nil }
    let hiddenBefore = hidden.insertionIndex(sorted: entry) { $0 }
    if hiddenBefore < hidden.count, hidden[hiddenBefore] == entry { return nil }
    // An unsaved object comes before the entry that it was compared with.
    let addedBefore = added.insertionIndex(sorted: entry + 1, by: \.entriesBefore)
    return entry - hiddenBefore + addedBefore
  }

  func numbers(at range: Range<Int>) throws(ContextError) -> [ObjectNumber] {
    try ContextError.mapping { try foundNumbers(at: range) }
  }

  private func foundNumbers(at range: Range<Int>) throws -> [ObjectNumber] {
    var numbers: [ObjectNumber] = []
    numbers.reserveCapacity(range.count)
    var place = added.insertionIndex(sorted: range.lowerBound, by: \.position)
    var position = range.lowerBound
    while position < range.upperBound {
      if place < added.count, added[place].position == position {
        numbers.append(added[place].number)
        (place, position) = (place + 1, position + 1)
        continue
      }
      let end = min(range.upperBound, place < added.count ? added[place].position : .max)
      try appendEntries(position - place, end - position, to: &numbers)
      position = end
    }
    return numbers
  }

  /// Appends entries that count, from the one on that has so many others that count before it.
  private func appendEntries(_ first: Int, _ count: Int, to numbers: inout [ObjectNumber]) throws {
    // The number of hidden entries before it is that of those with no more than `first` others before them.
    var (low, high) = (0, hidden.count)
    while low < high {
      let middle = (low + high) / 2
      if hidden[middle] - middle <= first { low = middle + 1 } else { high = middle }
    }
    var (entry, left) = (first + low, count)
    while left > 0 {
      let end = low < hidden.count ? min(entry + left, hidden[low]) : entry + left
      try entries.forEachNumber(at: entry..<end) { numbers.append($0) }
      left -= end - entry
      (entry, low) = (end + 1, low + 1)
    }
  }
}

extension StoreView {
  func rankedContent(
    _ access: RankedAccess,
    of entity: StoredEntity,
    over layers: UnsavedLayers?
  ) throws(ContextError) -> (any ListContent)? {
    // The list keeps the snapshot when the context has moved on.
    guard let view = another() as? StoreView else { return nil }
    return try RankedContent(access, of: entity, in: view, unsaved: layers?.records(of: entity))
  }
}
