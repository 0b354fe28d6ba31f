extension Where {
  /// Makes a condition in the language of NSPredicate's format strings.
  ///
  /// ```swift
  /// let condition = try Where<Song>(format: "seconds > %d AND album.title BEGINSWITH[c] %@", 180, "bl")
  /// ```
  ///
  /// Comparisons `== = != <> < <= =< > >= =>`, `BETWEEN {a, b}`, `IN {…}`, `BEGINSWITH`, `ENDSWITH`,
  /// `CONTAINS`, `LIKE`, `MATCHES`, with `[c]`, `[d]`, `[n]` where strings are compared; `AND OR NOT` or `&& || !`; paths with points;
  /// strings, numbers, `TRUE`, `FALSE`, `nil`, `SELF`. A path alone asks whether it is true. A string that is
  /// compared with a date is read as ISO 8601 (`departed >= "2013-01-01T10:00:00Z"`), and with a UUID as its
  /// text.
  ///
  /// Arguments stand for `%@` (a value, an array, a set, a range, an object, nil), `%K` (a key path), `%d`
  /// and its like (an integer) and `%f` and its like (a number). They are values, never read as text of the
  /// language.
  ///
  /// - Throws: `QueryError` of code `syntax`, `arguments` or `tooComplex`, with the column.
  public init(format: String, _ arguments: (any PredicateArgument)?...) throws(QueryError) {
    try self.init(format: format, arguments: arguments)
  }

  /// Makes a condition in the language of NSPredicate's format strings, with its arguments in an array.
  public init(format: String, arguments: [(any PredicateArgument)?]) throws(QueryError) {
    self.init(try PredicateTree(format: format, arguments: arguments))
  }
}

extension PredicateTree {
  /// Makes the tree of a format string; see ``Where/init(format:_:)``.
  ///
  /// - Throws: `QueryError` of code `syntax`, `arguments` or `tooComplex`, with the column.
  public init(format: String, arguments: [(any PredicateArgument)?] = []) throws(QueryError) {
    self = try FormatParser.parse(format, arguments.map { $0?._predicateArgument ?? .value(.null) })
  }
}
