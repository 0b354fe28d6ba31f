/// What a bracket of conditions, all of which must hold, asks of the entity's own columns.
struct ColumnConditions {
  /// What is asked of one slot.
  struct Condition {
    let slot: Int
    /// The values that it may hold.
    let set: ValueSet
    /// Which of the conjuncts says so.
    let place: Int
  }

  /// One for each slot that there is a condition on: a few, so a list is quicker than a dictionary.
  private var conditions: [Condition] = []

  init(_ conjuncts: [NormalPredicate]) {
    for (place, conjunct) in conjuncts.enumerated() {
      guard case .values(let path, let set) = conjunct, let slot = path.ownSlot else { continue }
      conditions.append(Condition(slot: slot, set: set, place: place))
    }
  }

  subscript(slot: Int) -> Condition? { conditions.first { $0.slot == slot } }

  /// Whether every row has the same value there.
  func isFixed(_ slot: Int) -> Bool { self[slot]?.set.point != nil }
}

extension ResolvedPath {
  /// The slot of the fetched record itself that holds the value; nil where a hop or the object's ID is needed.
  var ownSlot: Int? {
    guard scope == 0, hops.isEmpty, case .slot(let slot, _) = leaf else { return nil }
    return slot
  }
}

/// Ranges of an index that hold every row for which some conditions hold.
struct IndexMatch {
  var ranges: [IndexRange]
  /// The slots whose conditions the ranges express wholly: their rows need no more test for those.
  var coveredSlots: [Int]

  /// More ranges than this are one range with a filter.
  static let maximumRangeCount = 1_024

  /// The longest range that is taken apart.
  static let maximumExpansion = 64

  /// Nil when no condition says anything about the index's first column.
  ///
  /// Columns are taken from the first on as long as their values are points, all of them combined; the first column
  /// whose values are ranges ends it. A short range is taken for its points if that lets the next column in.
  init?(_ index: IndexReference, _ conditions: ColumnConditions) {
    var prefixes: [[AttributeValue]] = [[]]
    var covered: [Int] = []
    var result: [IndexRange]?
    for (column, slot) in index.slots.enumerated() {
      guard let set = conditions[slot]?.set else { break }
      // Objects that refer to nothing are missing from a relationship's own index.
      if index.origin == .relationship, set.includesNull { return nil }
      let room = Self.maximumRangeCount / prefixes.count
      let isFollowed = column + 1 < index.slots.count && conditions[index.slots[column + 1]] != nil
      if let points = isFollowed
        ? set.members(atMost: min(room, Self.maximumExpansion)) : set.points(atMost: room)
      {
        prefixes = prefixes.flatMap { prefix in points.map { prefix + [$0] } }
        if !covered.contains(slot) { covered.append(slot) }
        continue
      }
      if set.segmentCount <= room {
        if !covered.contains(slot) { covered.append(slot) }
        result = prefixes.flatMap { prefix in set.segments.map { IndexRange(prefix: prefix, next: $0) } }
      } else {
        result = prefixes.map { IndexRange(prefix: $0, next: set.hull) }
      }
      break
    }
    if result == nil, covered.isEmpty { return nil }
    ranges = result ?? prefixes.map { IndexRange(prefix: $0) }
    coveredSlots = covered
  }
}

/// Whether reading an index in order, or objects by ID, yields the order that a query asks for.
struct OrderMatch {
  var isReversed: Bool

  /// - Parameter columns: the columns by which the rows come ordered, ascending, before their object ID.
  ///
  /// Columns and keys whose value is fixed play no part. What remains must be the same, in one direction, because the
  /// end of an index key is the object ID, which decides between equals.
  init?(_ columns: [Int], _ query: ResolvedQuery, _ conditions: ColumnConditions) {
    // The usual case, for which nothing has to be collected.
    if query.sort.isEmpty {
      guard columns.allSatisfy(conditions.isFixed) else { return nil }
      isReversed = false
      return
    }
    let columns = columns.filter { !conditions.isFixed($0) }
    var keys: [Int] = []
    for key in query.sort {
      if key.path.shortened.leaf == .objectID {
        // The ID decides everything, so the keys after it say nothing; ties there are none.
        guard key.isAscending == query.isIDAscending else { return nil }
        break
      }
      guard let slot = key.path.shortened.ownSlot else { return nil }
      if conditions.isFixed(slot) || keys.contains(slot) { continue }
      guard key.isAscending == query.isIDAscending else { return nil }
      keys.append(slot)
    }
    guard keys == columns else { return nil }
    isReversed = !query.isIDAscending
  }
}
