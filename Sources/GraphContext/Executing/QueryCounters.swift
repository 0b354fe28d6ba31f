/// Counts of what queries over a source have read so far.
struct QueryCounters {
  var rowsRead = 0
  var entriesWalked = 0
  var recordsLookedUp = 0
  /// Members of to-many relationships that were listed for the program.
  var membersListed = 0
  /// Records, and lists or counts of members, that were read from the store one at a time, as when an object is
  /// touched.
  var singleReads = 0

  /// Entries of trees that were read, in order or one by one.
  var treeEntries: Int { rowsRead + entriesWalked + recordsLookedUp + singleReads }

  /// Adds the counts of another source, which has read for this one.
  mutating func add(_ others: QueryCounters) {
    rowsRead += others.rowsRead
    entriesWalked += others.entriesWalked
    recordsLookedUp += others.recordsLookedUp
    membersListed += others.membersListed
    singleReads += others.singleReads
  }
}
