/// A longest ascending run of a list: numbers that ascend when the others are left out.
enum LongestAscent {
  /// Returns for each number whether it is in the run. O(n log n).
  static func indices(of numbers: [Int]) -> [Bool] {
    // The last index of the best run of each length, and for each index the one before it in its run.
    var ends: [Int] = []
    var previous: [Int?] = []
    previous.reserveCapacity(numbers.count)
    for (index, number) in numbers.enumerated() {
      let length = ends.insertionIndex(sorted: number) { numbers[$0] }
      previous.append(length > 0 ? ends[length - 1] : nil)
      if length == ends.count { ends.append(index) } else { ends[length] = index }
    }
    var isKept = [Bool](repeating: false, count: numbers.count)
    var next = ends.last
    while let index = next {
      isKept[index] = true
      next = previous[index]
    }
    return isKept
  }
}
