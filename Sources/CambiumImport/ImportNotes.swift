/// The count of records with missing fields in one reading of an input, for the report of the import.
package final class ImportNotes {
  /// The count of records whose missing fields were read as empty.
  package private(set) var paddedCount = 0
  /// The first of these records.
  package private(set) var firstPadded: ImportReport.PaddedRecord?

  package init() {}

  /// Notes a record whose missing fields are read as empty.
  package func notePadded(record: Int, missingColumns: some Sequence<String>) {
    paddedCount += 1
    if firstPadded == nil {
      firstPadded = ImportReport.PaddedRecord(record: record, missingColumns: Array(missingColumns))
    }
  }
}
