/// The names of a path, and their positions in a text.
struct PathNames {
  private var names: [String]
  /// For each name, the index of its name in the text; nil if the indices are equal.
  private var origins: [Int]?
  let location: SourceLocation?
  /// The number of first names that are not in the text: they lead to the object of a variable.
  private let impliedCount: Int
  /// The spelling of the path.
  let text: String

  init(_ names: [String], _ location: SourceLocation?, impliedCount: Int = 0, text: String? = nil) {
    self.names = names
    self.location = location
    self.impliedCount = impliedCount
    self.text = text ?? names.joined(separator: ".")
  }

  var count: Int { names.count }
  subscript(place: Int) -> String { names[place] }

  /// Returns the last names.
  func suffix(_ count: Int) -> [String] { Array(names.suffix(count)) }

  /// Replaces a shorthand by the names that it stands for.
  mutating func replace(_ place: Int, by path: [String]) {
    var known = origins ?? Array(names.indices)
    known.replaceSubrange(place...place, with: path.map { _ in known[place] })
    origins = known
    names.replaceSubrange(place...place, with: path)
  }

  func error(_ code: QueryError.Code, _ message: String, _ place: Int) -> QueryError {
    QueryError(
      code,
      message,
      source: location?.text,
      column: location?.column(ofName: (origins?[place] ?? place) - impliedCount),
      keyPath: text
    )
  }
}
