extension Range where Bound: FixedWidthInteger {
  /// Returns the first number for which `condition` holds, or the upper bound if there is none: by binary
  /// search, so that the condition must hold for all numbers after one for which it holds. O(log *n*).
  @inline(__always)
  func partitionPoint(where condition: (Bound) -> Bool) -> Bound {
    var (low, high) = (lowerBound, upperBound)
    while low < high {
      let middle = low + (high - low) / 2
      if condition(middle) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
