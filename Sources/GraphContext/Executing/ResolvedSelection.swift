import Predicates

/// A query for values whose names are found in the schema.
struct ResolvedSelection {
  var query: ResolvedQuery
  let columns: [QueryColumn]
  let isDistinct: Bool

  /// Makes a selection.
  ///
  /// - Throws: `typeMismatch` if distinct rows are requested and a column can't be compared.
  init(query: ResolvedQuery, columns: [QueryColumn], isDistinct: Bool) throws(QueryError) {
    if isDistinct { for column in columns { try column.path.checkComparable("told apart") } }
    (self.query, self.columns, self.isDistinct) = (query, columns, isDistinct)
  }

  /// Counts the rows by reading each of them.
  func count(in source: any ObjectSource, over layers: UnsavedLayers? = nil) throws(ContextError) -> Int {
    var count = 0
    try source.forEachRow(of: self, over: layers) { _, reader, fields in
      for field in fields { _ = try reader.value(of: field) }
      count += 1
      return true
    }
    return count
  }
}
