extension Range<Int> {
  /// Returns the first number that meets a condition; the upper bound if none does. All numbers after the first one
  /// meet it, too. O(log n) calls.
  @inlinable
  package func partitionPoint(where condition: (Int) -> Bool) -> Int {
    var (low, high) = (lowerBound, upperBound)
    while low < high {
      let middle = low + (high - low) / 2
      if condition(middle) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
