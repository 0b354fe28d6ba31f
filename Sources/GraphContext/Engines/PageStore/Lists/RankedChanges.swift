import Predicates

/// The unsaved objects of a list by rank, among the entries of one commit. The changes of a turn are made from those of
/// the turn before; a copy shares the chunks that stay as they are.
struct RankedChanges {
  /// Ascending positions of the entries that don't count, because their objects have unsaved changes.
  private(set) var hidden = SortedChunks<Int>()
  /// The unsaved objects that match, in the list's order.
  private(set) var added = SortedChunks<Added>()
  /// The objects whose entry is hidden, or that are added, by their numbers.
  private var known = SortedChunks<Known>()
  /// The unsaved changes from which this value was made, and the number of their updates that it contains.
  private weak var source: EncodedChanges?
  private var updateCount = 0

  struct Added {
    let number: ObjectNumber
    let key: [UInt8]
    /// The number of entries before the object, hidden ones included.
    let entriesBefore: Int
  }

  /// An object whose entry is hidden, that is added, or both.
  struct Known {
    let number: ObjectNumber
    let hidden: Int?
    let key: [UInt8]?
  }

  /// Updates this value from the unsaved changes. O(changes · log n) if this value was made from them
  /// before, else O(unsaved · log n).
  ///
  /// - Parameter entries: the entries of the same commit as in all earlier calls.
  mutating func update(from records: UnsavedRecords, _ entries: RankedEntries) throws {
    let layer = records.onlyLayer
    if let layer, layer === source {
      for number in Set(layer.log[updateCount...]) { try update(number, records, entries) }
    } else {
      self = RankedChanges()
      var numbers = records.hidden
      records.forEach { number, _ in numbers.insert(number) }
      for number in numbers { try update(number, records, entries) }
    }
    (source, updateCount) = (layer, layer?.log.count ?? 0)
  }

  private mutating func update(
    _ number: ObjectNumber,
    _ records: UnsavedRecords,
    _ entries: RankedEntries
  ) throws {
    let old = forget(number, entries)
    var entry: Int?
    if records.hidden.contains(number) { entry = try old?.hidden ?? entries.position(of: number) }
    let layout = entries.entity.layout
    let key = records.record(number).map {
      entries.key(of: RecordView(validated: $0, layout: layout), number)
    }
    let included = key.flatMap { entries.includes($0) ? $0 : nil }
    if let entry { hidden.insert(entry, at: hiddenCount(before: entry)) }
    if let included {
      // A changed object may have kept its key: its entry, which is hidden, comes right before it or after it.
      let before = try entries.position(of: included, isEntry: false)
      added.insert(
        Added(number: number, key: included, entriesBefore: before),
        at: place(of: included, entries)
      )
    }
    if entry == nil, included == nil { return }
    known.insert(
      Known(number: number, hidden: entry, key: included),
      at: known.prefixCount { $0.number.rawValue < number.rawValue }
    )
  }

  private mutating func forget(_ number: ObjectNumber, _ entries: RankedEntries) -> Known? {
    guard let old = known(number) else { return nil }
    if let entry = old.hidden { hidden.remove(at: hiddenCount(before: entry)) }
    if let key = old.key { added.remove(at: place(of: key, entries)) }
    known.remove(at: known.prefixCount { $0.number.rawValue < number.rawValue })
    return old
  }

  /// Returns what is known of an object whose entry is hidden, or that is added; nil for any other object.
  func known(_ number: ObjectNumber) -> Known? {
    let place = known.prefixCount { $0.number.rawValue < number.rawValue }
    return place < known.count && known[place].number == number ? known[place] : nil
  }

  func hiddenCount(before entry: Int) -> Int { hidden.prefixCount { $0 < entry } }

  /// Returns the place of a key among those of the added objects.
  func place(of key: [UInt8], _ entries: RankedEntries) -> Int {
    added.prefixCount { entries.isBefore($0.key, key) }
  }

  /// Returns the position in the list of an added object.
  func position(ofAdded place: Int) -> Int {
    let before = added[place].entriesBefore
    return before - hiddenCount(before: before) + place
  }

  var isEmpty: Bool { known.count == 0 }

  var byteCount: Int {
    let keys = added.elements.reduce(0) { $0 + $1.key.count }
    return hidden.count * MemoryLayout<Int>.stride + added.count * MemoryLayout<Added>.stride
      + known.count * MemoryLayout<Known>.stride + keys
  }
}
