import Cambium
import CambiumImport

/// Reads the rows of a text, whose first row has the names of the columns.
struct CSVReader {
  private var rows: SplitReader<CSVSplitter>
  /// Nil before the first row was read.
  private var columns: [String]?

  /// - Throws: `malformedRecord` for a character that can't separate fields.
  init(
    _ chunks: @escaping () throws -> Data?,
    _ delimiter: Character,
    _ recordByteLimit: Int
  ) throws {
    let splitter = CSVSplitter(delimiter: try CSVText.delimiterByte(delimiter))
    rows = SplitReader(chunks, splitter, recordByteLimit: recordByteLimit, headerCount: 1)
  }

  mutating func next() throws -> CSVRow? {
    if columns == nil { columns = try readColumns() }
    guard let columns, let fields = try rows.next() else { return nil }
    return CSVRow(columns: columns, fields: fields)
  }

  private mutating func readColumns() throws -> [String]? {
    do {
      return try rows.next()
    } catch let error as ImportError where error.code == .malformedRecord {
      throw ImportError(.malformedRecord, "the row of the columns' names is no CSV", underlyingError: error)
    }
  }
}
