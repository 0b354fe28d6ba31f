import Cambium
import CambiumImport

/// Reads the rows of a text, whose first row has the names of the columns.
struct CSVReader {
  private var rows: SplitReader<CSVSplitter>
  /// Nil before the first row was read.
  private var columns: [String]?
  private let shortRows: CSVShortRows
  private let notes: ImportNotes
  /// The error of a row that is too short: what follows it isn't read.
  private var failure: ImportError?

  /// - Throws: `malformedRecord` for a character that can't separate fields.
  init(
    _ chunks: @escaping () throws -> Data?,
    _ delimiter: Character,
    _ recordByteLimit: Int,
    _ shortRows: CSVShortRows,
    _ notes: ImportNotes
  ) throws {
    (self.shortRows, self.notes) = (shortRows, notes)
    let splitter = CSVSplitter(delimiter: try CSVText.delimiterByte(delimiter))
    rows = SplitReader(chunks, splitter, recordByteLimit: recordByteLimit, headerCount: 1)
  }

  mutating func next() throws -> CSVRow? {
    if columns == nil { columns = try readColumns() }
    if let failure { throw failure }
    guard let columns, let fields = try rows.next() else { return nil }
    if fields.count < columns.count { try takeShortRow(columns, fields.count) }
    return CSVRow(columns: columns, fields: fields)
  }

  private mutating func takeShortRow(_ columns: [String], _ fieldCount: Int) throws {
    if shortRows == .padded {
      return notes.notePadded(record: rows.recordCount, missingColumns: columns[fieldCount...])
    }
    let first = columns[fieldCount]
    let (missing, count) = ("from \u{201C}\(first)\u{201D} on", columns.count)
    let message = "the row has \(fieldCount) of \(count) fields: those of the columns \(missing) are missing"
    let error = ImportError(.malformedRecord, message, record: rows.recordCount)
    failure = error
    throw error
  }

  private mutating func readColumns() throws -> [String]? {
    do {
      return try rows.next()
    } catch let error as ImportError where error.code == .malformedRecord {
      throw ImportError(.malformedRecord, "the row of the columns' names is no CSV", underlyingError: error)
    }
  }
}
