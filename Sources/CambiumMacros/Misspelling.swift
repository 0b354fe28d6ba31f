/// Corrections of misspelt names.
enum Misspelling {
  /// Returns the name that is most similar to a misspelt one; nil if no name is similar enough.
  static func correction(of name: String, among names: [String]) -> String? {
    let distances = names.map { (name: $0, distance: distance(from: Array(name), to: Array($0))) }
    guard let nearest = distances.min(by: { $0.distance < $1.distance }),
      nearest.distance <= max(1, name.count / 3)
    else { return nil }
    return nearest.name
  }

  /// The distance between two names: the number of characters that one has to insert, drop, replace or swap with
  /// the next one to get the other name. O(product of the lengths).
  private static func distance(from first: [Character], to second: [Character]) -> Int {
    var beforeLast: [Int] = []
    var last = Array(0...second.count)
    for row in first.indices {
      var next = [row + 1]
      for column in second.indices {
        let isSame = first[row] == second[column]
        var least = min(last[column] + (isSame ? 0 : 1), last[column + 1] + 1, next[column] + 1)
        if row > 0, column > 0, first[row] == second[column - 1], first[row - 1] == second[column] {
          least = min(least, beforeLast[column - 1] + 1)
        }
        next.append(least)
      }
      beforeLast = last
      last = next
    }
    return last[second.count]
  }
}
