extension QueryPlan {
  /// What a query has done, measured while it ran.
  public struct Measurement: Sendable, Hashable, Codable {
    /// Rows that the access path has given to be tested or counted.
    public var rowsRead: Int
    /// Rows of the result.
    public var rowsMatched: Int
    /// Entries of indexes that were stepped over. What is counted or skipped by rank isn't.
    public var entriesWalked: Int
    /// Records sought by their objects' IDs: for the entries of an index, and at the other end of relationships.
    public var recordsLookedUp: Int
    /// From the plan to the last row.
    public var nanoseconds: Int64

    package init(
      rowsRead: Int,
      rowsMatched: Int,
      entriesWalked: Int,
      recordsLookedUp: Int,
      nanoseconds: Int64
    ) {
      self.rowsRead = rowsRead
      self.rowsMatched = rowsMatched
      self.entriesWalked = entriesWalked
      self.recordsLookedUp = recordsLookedUp
      self.nanoseconds = nanoseconds
    }
  }
}

extension QueryPlan.Measurement {
  /// The line that it adds to a plan's text.
  var line: String {
    let microseconds = (nanoseconds + 500) / 1_000
    let thousandths = String(microseconds % 1_000 + 1_000).dropFirst()
    return "  measured: rows read \(rowsRead), matched \(rowsMatched); entries walked \(entriesWalked); "
      + "records looked up \(recordsLookedUp); \(microseconds / 1_000).\(thousandths) ms"
  }
}
