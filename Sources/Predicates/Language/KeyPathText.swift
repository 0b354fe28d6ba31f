/// Key paths as text.
enum KeyPathText {
  /// Returns the names between the points; none for `SELF`, which may begin a longer key path. Nil where a name is
  /// empty.
  static func names(in text: String) -> [String]? {
    let names = text.unicodeScalars.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard names.allSatisfy({ !$0.isEmpty }) else { return nil }
    return names.first?.uppercased() == "SELF" ? Array(names.dropFirst()) : names
  }
}
