import Predicates

/// A change of one element between two states of a list: the element was moved, added, removed or changed.
struct PositionChange: Equatable {
  let number: ObjectNumber
  /// The position in the old state; nil for an element that was added.
  var old: Int?
  /// The position in the new state; nil for an element that was removed.
  var new: Int?
  /// True if an element of both states has another position among the elements that stay. An element whose position
  /// changed only because others came or went hasn't moved.
  var isMove = false
}

/// The difference between two states of a list, where the elements that may have changed are known: the candidates. The
/// time depends on their number, not on the length of the list.
struct PositionDifference {
  /// The elements that may have changed, with their positions in the whole lists, without a window.
  private let candidates: [PositionChange]
  /// Positions of candidates, ascending.
  private let (olds, news): ([Int], [Int])

  init(_ candidates: [PositionChange]) {
    self.candidates = candidates
    olds = candidates.compactMap(\.old).sorted()
    news = candidates.compactMap(\.new).sorted()
  }

  /// The changes in the whole list.
  var changes: [PositionChange] { moved(candidates) }

  /// Returns the changes in a window of the list, by positions in the window.
  ///
  /// Elements that others have moved across an end of the window come and go like any other. At each end there are at
  /// most as many of them as there are candidates.
  ///
  /// - Parameters:
  ///   - old: the list as it was.
  ///   - new: the list as it is.
  func changes(
    in window: RowWindow,
    from old: any ListContent,
    to new: any ListContent
  ) throws(ContextError) -> [PositionChange] {
    if window.isWhole { return changes }
    let (oldRange, newRange) = (window.range(in: old.count), window.range(in: new.count))
    var changes = candidates.compactMap { candidate -> PositionChange? in
      var change = candidate
      change.old = candidate.old.flatMap { oldRange.contains($0) ? $0 : nil }
      change.new = candidate.new.flatMap { newRange.contains($0) ? $0 : nil }
      return change.old == nil && change.new == nil ? nil : change
    }
    // By their positions among the elements that are no candidates. These elements are the same in both lists.
    let stayedOld = stable(oldRange.lowerBound, olds)..<stable(oldRange.upperBound, olds)
    let stayedNew = stable(newRange.lowerBound, news)..<stable(newRange.upperBound, news)
    for (number, position) in try elements(of: old, olds, in: stayedOld, beyond: stayedNew) {
      changes.append(PositionChange(number: number, old: position))
    }
    for (number, position) in try elements(of: new, news, in: stayedNew, beyond: stayedOld) {
      changes.append(PositionChange(number: number, new: position))
    }
    return moved(changes).map { change in
      var change = change
      change.old? -= oldRange.lowerBound
      change.new? -= newRange.lowerBound
      return change
    }
  }

  /// Returns the elements of one window that aren't in the other one and are no candidates, with their positions.
  ///
  /// - Parameters:
  ///   - list: the list of the one window.
  ///   - candidates: the positions of its candidates, ascending.
  ///   - range: the one window, by positions among the elements that are no candidates.
  ///   - other: the other window, in the same way.
  private func elements(
    of list: any ListContent,
    _ candidates: [Int],
    in range: Range<Int>,
    beyond other: Range<Int>
  ) throws(ContextError) -> [(number: ObjectNumber, position: Int)] {
    let before = range.clamped(to: 0..<max(0, other.lowerBound))
    let after = range.clamped(to: other.upperBound..<max(other.upperBound, range.upperBound))
    var elements: [(number: ObjectNumber, position: Int)] = []
    for place in [Array(before), Array(after)].joined() {
      let position = candidates.number(ofGap: place) { $0 }
      elements.append((try list.numbers(at: position..<position + 1)[0], position))
    }
    return elements
  }

  /// Returns the number of elements before a position that are no candidates.
  private func stable(_ position: Int, _ candidates: [Int]) -> Int {
    position - candidates.insertionIndex(sorted: position) { $0 }
  }

  /// Returns the changes, with moves marked as such.
  private func moved(_ changes: [PositionChange]) -> [PositionChange] {
    var changes = changes
    // Candidates that have the same number of non-candidates before them in both lists.
    var staying: [Int] = []
    for (index, change) in changes.enumerated() {
      guard let old = change.old, let new = change.new else { continue }
      if stable(old, olds) == stable(new, news) {
        staying.append(index)
      } else {
        changes[index].isMove = true
      }
    }
    staying.sort { changes[$0].old! < changes[$1].old! }
    let isKept = LongestAscent.indices(of: staying.map { changes[$0].new! })
    for (index, isKept) in zip(staying, isKept) where !isKept { changes[index].isMove = true }
    return changes
  }
}

extension PositionDifference {
  /// Returns the changes from one list to another, where no candidates are known. O(n log n) for the part between the
  /// common beginning and the common end of the two lists.
  ///
  /// - Parameter touched: elements that count as changed even if they stay.
  static func changes(
    from old: [ObjectNumber],
    to new: [ObjectNumber],
    touched: Set<ObjectNumber>
  ) -> [PositionChange] {
    let start = zip(old, new).prefix { $0 == $1 }.reduce(0) { count, _ in count + 1 }
    let end = zip(old.dropFirst(start).reversed(), new.dropFirst(start).reversed())
      .prefix { $0 == $1 }.reduce(0) { count, _ in count + 1 }
    var positions: [ObjectNumber: Int] = [:]
    for position in start..<new.count - end { positions[new[position]] = position }
    var changes: [PositionChange] = []
    var stayed: [PositionChange] = []
    for position in start..<old.count - end {
      if let new = positions.removeValue(forKey: old[position]) {
        stayed.append(PositionChange(number: old[position], old: position, new: new))
      } else {
        changes.append(PositionChange(number: old[position], old: position))
      }
    }
    for (number, position) in positions { changes.append(PositionChange(number: number, new: position)) }
    let isKept = LongestAscent.indices(of: stayed.map { $0.new! })
    for (var change, isKept) in zip(stayed, isKept) where !isKept || touched.contains(change.number) {
      change.isMove = !isKept
      changes.append(change)
    }
    if touched.isEmpty { return changes }
    for position in 0..<start where touched.contains(old[position]) {
      changes.append(PositionChange(number: old[position], old: position, new: position))
    }
    for place in 1..<end + 1 where touched.contains(old[old.count - place]) {
      changes.append(
        PositionChange(number: old[old.count - place], old: old.count - place, new: new.count - place)
      )
    }
    return changes
  }
}
