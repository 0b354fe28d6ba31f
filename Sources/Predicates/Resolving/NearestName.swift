/// The search for the name that was probably meant.
enum NearestName {
  /// Returns the name with the fewest edits, if the edits are at most about a third of its letters and leave at least
  /// two letters unchanged.
  static func find(_ name: String, among candidates: [String]) -> String? {
    guard name.utf8.count <= 64 else { return nil }
    return
      candidates
      .map { (name: $0, edits: edits(from: name.lowercased(), to: $0.lowercased())) }
      .filter { $0.edits <= max(1, ($0.name.utf8.count + 1) / 3) && $0.name.utf8.count - $0.edits >= 2 }
      .min { $0.edits < $1.edits }?
      .name
  }

  /// Returns the fewest edits from one text to the other: each inserts, removes or replaces a byte, or exchanges two
  /// neighbours. O(n·m).
  private static func edits(from source: String, to target: String) -> Int {
    let (source, target) = (Array(source.utf8), Array(target.utf8))
    // `row[j]` is the distance of the bytes of the source that were read to the first `j` bytes of the target. The two
    // rows before it are those of one and of two bytes less.
    var (row, previous, earlier) = (Array(0...target.count), [Int](), [Int]())
    for i in source.indices {
      (previous, earlier) = (row, previous)
      row[0] = i + 1
      for j in target.indices {
        let substitution = previous[j] + (target[j] == source[i] ? 0 : 1)
        row[j + 1] = min(substitution, min(row[j], previous[j + 1]) + 1)
        if i > 0, j > 0, source[i] == target[j - 1], source[i - 1] == target[j] {
          row[j + 1] = min(row[j + 1], earlier[j - 1] + 1)
        }
      }
    }
    return row[target.count]
  }
}
