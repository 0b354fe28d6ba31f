/// The conditions on the entity's own columns in a bracket of conditions that must all hold.
struct ColumnConditions {
  /// The condition on one column.
  struct Condition {
    let column: ResolvedIndex.Column
    /// The values that it may hold.
    let set: ValueSet
    /// The only one of the values, if there is only one.
    let point: AttributeValue?
    /// The index of its conjunct.
    let place: Int
  }

  /// The conditions, one for each column with a condition: they are few, so a list is quicker than a dictionary.
  private var conditions: [Condition] = []

  init(_ conjuncts: [NormalPredicate]) {
    conditions.reserveCapacity(conjuncts.count)
    for (place, conjunct) in conjuncts.enumerated() {
      if let (column, set) = conjunct.elementCondition {
        // An object has several entries in an index of elements: only the entries of a single element belong to
        // different objects.
        guard let point = set.point else { continue }
        conditions.append(Condition(column: column, set: set, point: point, place: place))
      }
      guard case .values(let path, let set) = conjunct, let slot = path.ownSlot else { continue }
      let column = ResolvedIndex.Column(slot: slot, folding: set.folding)
      conditions.append(Condition(column: column, set: set, point: set.point, place: place))
    }
  }

  subscript(column: ResolvedIndex.Column) -> Condition? { conditions.first { $0.column == column } }

  /// Returns whether there is a condition on the column.
  func has(_ column: ResolvedIndex.Column) -> Bool { conditions.contains { $0.column == column } }

  /// Returns whether every row has the same value in the column, folded as the column is.
  func isFixed(_ column: ResolvedIndex.Column) -> Bool {
    conditions.contains { $0.column == column && $0.point != nil }
  }

  /// Returns whether every row has the same value in the slot.
  func isFixed(_ slot: Int) -> Bool { isFixed(ResolvedIndex.Column(slot: slot, folding: [])) }
}

extension NormalPredicate {
  /// The column of elements and their values, if the predicate asks for an element of a list of the fetched record
  /// with such a value, and nothing else.
  var elementCondition: (column: ResolvedIndex.Column, set: ValueSet)? {
    guard case .test(.exists(let collection), isNegated: false) = self else { return nil }
    return collection.elementCondition
  }
}

extension ResolvedCollection {
  /// The column and the values of ``NormalPredicate/elementCondition``, for a collection that has to have an element.
  var elementCondition: (column: ResolvedIndex.Column, set: ValueSet)? {
    guard steps.count == 1, case .values(let kind) = steps[0].elements, let slot = steps[0].owner.ownSlot,
      case .values(let path, let set) = Normaliser.normalise(condition), path.scope == steps[0].scope
    else { return nil }
    return (ResolvedIndex.Column(slot: slot, folding: set.folding, elementKind: kind), set)
  }
}

extension ResolvedPath {
  /// The slot of the fetched record itself that holds the value; nil where a hop or the object's ID is needed.
  package var ownSlot: Int? {
    guard scope == 0, hops.isEmpty, case .slot(let slot, _) = leaf else { return nil }
    return slot
  }
}

/// Ranges of an index that hold every row for which some conditions hold.
package struct IndexMatch {
  var ranges: [IndexRange]
  /// The indices of the conjuncts that the ranges express wholly: rows of the ranges needn't be tested for these.
  var coveredPlaces: [Int]

  /// The greatest number of ranges; more are replaced by one range with a filter.
  package static let maximumRangeCount = 1_024

  /// The length of the longest range that is split into its points.
  static let maximumExpansion = 64

  /// Makes the match of an index with conditions. Nil if there is no condition on the index's first column.
  ///
  /// Columns are taken from the first on as long as their values are points, all of them combined; the first column
  /// whose values are ranges is the last one used. A short range is split into its points if then the next column
  /// can be used.
  init?(_ index: ResolvedIndex, _ conditions: ColumnConditions) {
    guard let first = index.columns.first, conditions.has(first) else { return nil }
    var ranges = [IndexRange()]
    var covered: [Int] = []
    var isNarrowed = false
    for (place, column) in index.columns.enumerated() {
      guard let condition = conditions[column] else { break }
      let set = condition.set
      // Objects that refer to nothing are missing from a relationship's own index.
      if index.origin == .relationship, set.includesNull { return nil }
      let room = Self.maximumRangeCount / ranges.count
      let isFollowed =
        place + 1 < index.columns.count && conditions.has(index.columns[place + 1])
      if let point = condition.point {
        for place in ranges.indices { ranges[place].prefix.append(point) }
      } else if let points = isFollowed
        ? set.members(atMost: min(room, Self.maximumExpansion)) : set.points(atMost: room)
      {
        ranges = ranges.flatMap { range in points.map { IndexRange(prefix: range.prefix + [$0]) } }
      } else {
        isNarrowed = true
        if set.segmentCount == 1 || set.segmentCount > room {
          for place in ranges.indices { ranges[place].next = set.hull }
        } else {
          ranges = ranges.flatMap { range in
            set.segments.map { IndexRange(prefix: range.prefix, next: $0) }
          }
        }
        if set.segmentCount > room { break }
      }
      if !covered.contains(condition.place) { covered.append(condition.place) }
      if isNarrowed { break }
    }
    if !isNarrowed, covered.isEmpty { return nil }
    self.ranges = ranges
    coveredPlaces = covered
  }
}

/// The match between a query's order and the order of an index, or of objects by ID.
struct OrderMatch {
  var isReversed: Bool

  /// Makes the match; nil if the orders differ.
  ///
  /// - Parameter columns: the columns by which the rows come ordered, ascending, before their object ID.
  ///
  /// Columns and keys whose value is fixed play no part. The remaining columns and keys must be the same, in one
  /// direction, because the end of an index key is the object ID, which decides between equals. A folded column is in
  /// no order that a sort asks for.
  init?(_ columns: [ResolvedIndex.Column], _ query: ResolvedQuery, _ conditions: ColumnConditions) {
    // The usual case, for which nothing has to be collected.
    if query.sort.isEmpty {
      guard columns.allSatisfy({ conditions.isFixed($0) }) else { return nil }
      isReversed = false
      return
    }
    let columns = columns.filter { !conditions.isFixed($0) }
    guard columns.allSatisfy({ $0.folding.isEmpty }) else { return nil }
    var keys: [Int] = []
    for key in query.sort {
      if key.path.shortened.leaf == .objectID {
        // IDs are unique, so keys after the ID have no effect.
        guard key.isAscending == query.isIDAscending else { return nil }
        break
      }
      guard let slot = key.path.shortened.ownSlot else { return nil }
      if conditions.isFixed(slot) || keys.contains(slot) { continue }
      guard key.isAscending == query.isIDAscending else { return nil }
      keys.append(slot)
    }
    guard keys.elementsEqual(columns.lazy.map { $0.slot }) else { return nil }
    isReversed = !query.isIDAscending
  }
}
