import Predicates

extension QueryError {
  /// Throws `arguments` for a limit or an offset that is negative.
  static func checkWindow(limit: Int?, offset: Int) throws(QueryError) {
    if let limit, limit < 0 { throw QueryError(.arguments, "A limit is not negative; this one is \(limit).") }
    if offset < 0 { throw QueryError(.arguments, "An offset is not negative; this one is \(offset).") }
  }

  /// Throws `arguments` for batches without objects.
  static func checkBatch(of count: Int) throws(QueryError) {
    if count < 1 { throw QueryError(.arguments, "A batch has at least one object; this one has \(count).") }
  }
}
