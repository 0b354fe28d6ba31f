/// A row of a table, made from the fields of a line.
protocol CSVRecord {
  /// The names, in the file's first line, of the columns that the record takes.
  static var columns: [String] { get }
  /// Takes the fields one after the other, in the order of ``columns``.
  init(_ fields: inout CSVFields) throws
}

/// Reads a CSV file (RFC 4180: quotes, doubled quotes and line breaks within them, either line ending) record by record.
///
/// Only the current line is in memory. `CambiumCSV` does not serve here: its rows don't tell `NA` from `"NA"`.
final class CSVTable<Record: CSVRecord> {
  private let file: GzipFile
  private var chunk: [UInt8]
  private var position = 0
  private var end = 0
  private var fields: CSVFields
  /// The line at which the current record starts, counted from 1.
  private var line = 0
  private var lineBreaks = 0

  init(path: String) throws {
    file = try GzipFile(path: path)
    chunk = [UInt8](repeating: 0, count: 256 << 10)
    fields = CSVFields()
    guard try readRow() else { throw DataError(path: path, message: "is empty") }
    try fields.arrange(Record.columns, path: path)
  }

  /// The next record, or nil at the end.
  func next() throws -> Record? {
    guard try readRow() else { return nil }
    do {
      try fields.checkCount()
      return try Record(&fields)
    } catch let error as CSVFields.Mistake {
      throw DataError(path: file.path, line: line, column: error.column, message: error.message)
    }
  }

  /// All records that are left.
  func rest() throws -> [Record] {
    var records: [Record] = []
    while let record = try next() { records.append(record) }
    return records
  }

  /// Bytes of the file, as it lies on disk, that have been read so far.
  var compressedOffset: Int { file.compressedOffset }

  /// Reads one row into `fields`; returns false at the end of the file. Empty lines are skipped.
  private func readRow() throws -> Bool {
    repeat {
      line += 1 + lineBreaks
      lineBreaks = 0
      fields.removeAll()
      guard try scanRow() else { return false }
    } while fields.isBlank
    return true
  }

  private func scanRow() throws -> Bool {
    var isInQuotes = false
    while true {
      takePlainBytes()
      guard let byte = try nextByte() else { break }
      switch byte {
      case UInt8(ascii: "\"") where isInQuotes:
        if try peekByte() == UInt8(ascii: "\"") {
          position += 1
          fields.append(byte)
        } else {
          isInQuotes = false
        }
      case UInt8(ascii: "\"") where fields.isAtFieldStart:
        isInQuotes = true
        fields.markQuoted()
      case UInt8(ascii: "\n") where !isInQuotes:
        fields.endField()
        return true
      case UInt8(ascii: ",") where !isInQuotes:
        fields.endField()
      case UInt8(ascii: "\r") where !isInQuotes:
        // Half of a line ending; alone it is a character like any other.
        if try peekByte() != UInt8(ascii: "\n") { fields.append(byte) }
      default:
        if byte == UInt8(ascii: "\n") { lineBreaks += 1 }
        fields.append(byte)
      }
    }
    guard !isInQuotes else {
      throw DataError(path: file.path, line: line, message: "a quote is opened and never closed")
    }
    // The last line needs no line break; an empty rest is no line.
    guard !fields.isUntouched else { return false }
    fields.endField()
    return true
  }

  /// Takes the bytes up to the next one that may be special: most bytes of most files.
  private func takePlainBytes() {
    let start = position
    chunk.withUnsafeBufferPointer { bytes in
      while position < end, bytes[position] > UInt8(ascii: ",") { position += 1 }
      fields.append(bytes[start..<position])
    }
  }

  private func nextByte() throws -> UInt8? {
    guard let byte = try peekByte() else { return nil }
    position += 1
    return byte
  }

  private func peekByte() throws -> UInt8? {
    if position == end {
      end = try chunk.withUnsafeMutableBytes { try file.read(into: $0) }
      position = 0
      if end == 0 { return nil }
    }
    return chunk[position]
  }
}
