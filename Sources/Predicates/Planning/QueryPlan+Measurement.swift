extension QueryPlan {
  /// The work of a query, measured while it ran.
  public struct Measurement: Sendable, Hashable, Codable {
    /// The number of rows of the access path that were tested or counted.
    public var rowsRead: Int
    /// The number of rows of the result.
    public var rowsMatched: Int
    /// The number of entries of indexes that were walked. Entries that are counted or skipped by rank are not included.
    public var entriesWalked: Int
    /// The number of records sought by their objects' IDs: for the entries of an index, and at the other end of
    /// relationships.
    public var recordsLookedUp: Int
    /// The time in nanoseconds from the plan to the last row.
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
  /// The line that the measurement adds to a plan's text.
  var line: String {
    let microseconds = (nanoseconds + 500) / 1_000
    let thousandths = String(microseconds % 1_000 + 1_000).dropFirst()
    return "  measured: rows read \(rowsRead), matched \(rowsMatched); entries walked \(entriesWalked); "
      + "records looked up \(recordsLookedUp); \(microseconds / 1_000).\(thousandths) ms"
  }
}
