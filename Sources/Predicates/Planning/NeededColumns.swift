/// The columns that a query for values reads of its rows: an index that has all of them answers the query
/// without reading a record.
struct NeededColumns {
  /// The slots of the fetched entity. A path through a relationship needs the relationship.
  private let slots: Set<Int>
  private let isOrdered: Bool

  /// Makes the columns of a query; nil if the query asks for the records themselves.
  init?(_ purpose: QueryPlanner.Purpose, _ query: ResolvedQuery) {
    switch purpose {
    case .objects: return nil
    case .count:
      isOrdered = false
      slots = []
    case .values(let paths, let isOrdered):
      self.isOrdered = isOrdered
      // Unsaved rows are sorted in by their keys even where an index has them in order.
      slots = Set((paths + (isOrdered ? query.sort.map(\.path) : [])).compactMap(\.firstSlot))
    }
  }

  /// The order of rows that may come in any order.
  var anyOrder: ResultOrder? { isOrdered ? nil : .access(isReversed: false) }

  /// Returns whether the entries that an access path reads have all columns, also those of the rest of the
  /// predicate.
  func areIn(_ access: AccessPath, _ residual: NormalPredicate) -> Bool {
    guard case .index(let scan) = access else { return false }
    return areIn(scan.index, residual)
  }

  /// Returns whether the entries of an index have all columns, also those of the rest of the predicate.
  func areIn(_ index: ResolvedIndex, _ residual: NormalPredicate) -> Bool {
    // A folded column doesn't contain the original string, nor an element its list.
    if index.isOfElements { return false }
    func has(_ slot: Int) -> Bool { index.columns.contains { $0.slot == slot && $0.folding.isEmpty } }
    var isCovered = slots.allSatisfy(has)
    residual.forEachPath { path in
      if let slot = path.firstSlot, !has(slot) { isCovered = false }
    }
    return isCovered
  }
}

extension ResolvedPath {
  /// The slot of the fetched record where the path begins; nil for the object's own ID, which every index entry has.
  var firstSlot: Int? {
    let path = shortened
    // A path that starts at an element of a collection reads the element.
    if path.scope > 0 { return nil }
    if let hop = path.hops.first { return hop.slot }
    if case .slot(let slot, _) = path.leaf { return slot }
    return nil
  }
}
