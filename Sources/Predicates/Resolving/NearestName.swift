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

  /// Returns Levenshtein's distance between the two texts' bytes. O(n·m).
  private static func edits(from source: String, to target: String) -> Int {
    let target = Array(target.utf8)
    var row = Array(0...target.count)
    for (i, byte) in source.utf8.enumerated() {
      var diagonal = row[0]
      row[0] = i + 1
      for j in target.indices {
        let substitution = diagonal + (target[j] == byte ? 0 : 1)
        diagonal = row[j + 1]
        row[j + 1] = min(substitution, min(row[j], row[j + 1]) + 1)
      }
    }
    return row[target.count]
  }
}
