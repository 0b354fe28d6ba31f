import Predicates

/// Ascending object numbers, stored as runs of consecutive numbers: new objects have such numbers.
struct ObjectNumberRanges: Sendable, Hashable {
  /// Not empty, ascending, and apart from one another.
  private var runs: [ClosedRange<UInt64>] = []
  /// The runs.
  var ranges: [ClosedRange<UInt64>] { runs }
  private(set) var count = 0

  var isEmpty: Bool { runs.isEmpty }

  /// Adds a number above all others. O(1) on average.
  mutating func append(_ number: ObjectNumber) {
    count += 1
    if let last = runs.last, last.upperBound &+ 1 == number.rawValue {
      runs[runs.count - 1] = last.lowerBound...number.rawValue
    } else {
      runs.append(number.rawValue...number.rawValue)
    }
  }

  /// O(log runs).
  func contains(_ number: ObjectNumber) -> Bool {
    let place = runs.indices.partitionPoint { runs[$0].upperBound >= number.rawValue }
    return place < runs.count && runs[place].contains(number.rawValue)
  }

  /// Returns the other numbers. O(count) if any of the given ones is here.
  func subtracting(_ numbers: Set<ObjectNumber>) -> ObjectNumberRanges {
    guard numbers.contains(where: contains) else { return self }
    var rest = ObjectNumberRanges()
    for number in self where !numbers.contains(number) { rest.append(number) }
    return rest
  }
}

extension ObjectNumberRanges: Sequence {
  func makeIterator() -> AnyIterator<ObjectNumber> {
    AnyIterator(runs.lazy.joined().lazy.map { ObjectNumber(rawValue: $0) }.makeIterator())
  }
}
