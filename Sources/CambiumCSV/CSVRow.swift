import Cambium
import CambiumImport
import SwiftCSV

/// A row of a CSV text, with the names of its columns.
public struct CSVRow: Sendable, Hashable {
  /// The names of the columns, as the first row of the text gives them.
  public let columns: [String]
  /// The fields, one for each column. A row that is too short has empty ones at its end.
  public let fields: [String]

  /// The field of a column; nil if there is no such column. Of several columns with one name, the first counts.
  /// O(columns).
  public subscript(column: String) -> String? {
    columns.firstIndex(of: column).map { fields[$0] }
  }
}

extension ImportInput where Record == CSVRow {
  /// Reads the rows of a CSV file, whose first row has the names of the columns.
  ///
  /// SwiftCSV parses the rows. It takes whole texts, so it gets some complete rows at a time, and memory holds only
  /// a part of the file.
  ///
  /// - Parameters:
  ///   - url: the file, in UTF-8.
  ///   - delimiter: what stands between two fields, an ASCII character.
  ///   - recordByteLimit: the length of a row, in bytes, beyond which it is refused (`ImportError.Code.recordTooLong`).
  public static func csvRows(
    at url: URL,
    delimiter: Character = ",",
    recordByteLimit: Int = ImportOptions.defaultRecordByteLimit
  ) -> ImportInput {
    rows(.file(at: url), delimiter, recordByteLimit)
  }

  /// Reads CSV rows from a stream that can be read once.
  ///
  /// - Parameters:
  ///   - delimiter: what stands between two fields, an ASCII character.
  ///   - recordByteLimit: the length of a row, in bytes, beyond which it is refused (`ImportError.Code.recordTooLong`).
  ///   - chunks: returns the next bytes, of any length, in UTF-8; nil at the end.
  public static func csvRows(
    delimiter: Character = ",",
    recordByteLimit: Int = ImportOptions.defaultRecordByteLimit,
    from chunks: @escaping @Sendable () throws -> Data?
  ) -> ImportInput {
    rows(.stream(chunks), delimiter, recordByteLimit)
  }

  private static func rows(
    _ bytes: ByteChunks,
    _ delimiter: Character,
    _ recordByteLimit: Int
  ) -> ImportInput {
    ImportInput(isRepeatable: bytes.isRepeatable) {
      var reader = try CSVReader(bytes.open(), delimiter, recordByteLimit)
      return { try reader.next() }
    }
  }
}

extension ImportInput where Record: Decodable {
  /// Decodes the rows of a CSV file, whose first row has the names of the columns. These names are the coding keys.
  ///
  /// An empty field is nil for an optional. Numbers, Bools (`true`, `false`, `1`, `0`), strings, UUIDs, URLs,
  /// decimals, types with such a raw value and dates in the form of ISO 8601 are decoded; a type with several
  /// values is not.
  ///
  /// - Parameters:
  ///   - url: the file, in UTF-8.
  ///   - delimiter: what stands between two fields, an ASCII character.
  ///   - recordByteLimit: the length of a row, in bytes, beyond which it is refused (`ImportError.Code.recordTooLong`).
  public static func csv(
    at url: URL,
    delimiter: Character = ",",
    recordByteLimit: Int = ImportOptions.defaultRecordByteLimit
  ) -> ImportInput {
    decoded(.csvRows(at: url, delimiter: delimiter, recordByteLimit: recordByteLimit))
  }

  /// Decodes CSV rows from a stream that can be read once, as ``csv(at:delimiter:recordByteLimit:)`` does those of
  /// a file.
  public static func csv(
    delimiter: Character = ",",
    recordByteLimit: Int = ImportOptions.defaultRecordByteLimit,
    from chunks: @escaping @Sendable () throws -> Data?
  ) -> ImportInput {
    decoded(.csvRows(delimiter: delimiter, recordByteLimit: recordByteLimit, from: chunks))
  }

  private static func decoded(_ rows: ImportInput<CSVRow>) -> ImportInput {
    ImportInput(isRepeatable: rows.isRepeatable) {
      let next = try rows.makeReader()
      var number = 0
      return {
        guard let row = try next() else { return nil }
        number += 1
        do {
          return try Record(from: CSVRowDecoder(row))
        } catch {
          throw ImportError(
            .malformedRecord,
            "the row can't be decoded",
            record: number,
            underlyingError: error
          )
        }
      }
    }
  }
}

extension PersistentContainer {
  /// Imports the rows of a CSV file, as one commit unless the options say otherwise.
  ///
  /// - Throws: As `importRecords(_:with:options:)`; then an import of one commit has changed nothing.
  @discardableResult
  public func importCSV<Source: ManagedObjectUpdatable & Decodable>(
    at url: URL,
    as type: Source.Type,
    delimiter: Character = ",",
    options: ImportOptions = ImportOptions()
  ) async throws -> ImportReport {
    try await importRecords(.csv(at: url, delimiter: delimiter), with: Source.objectImport, options: options)
  }

  /// Writes the stored objects that a query describes as CSV, with a row of the columns' names:
  /// `exportRecords(_:as:to:format:progress:)`.
  @discardableResult
  public func exportCSV<Value: ManagedObjectInitialisable & Encodable & SendableMetatype>(
    _ request: From<Value.Object>,
    as type: Value.Type,
    to url: URL,
    columns: [String]? = nil,
    delimiter: Character = ","
  ) async throws -> Int {
    try await exportRecords(
      request,
      as: type,
      to: url,
      format: .csv(columns: columns, delimiter: delimiter)
    )
  }
}

/// Reads rows, some at a time.
struct CSVReader {
  private var records: SplitReader<CSVSplitter>
  private let delimiter: Character
  private let characters: ByteCharacters
  /// The first row, as text.
  private var header: String?
  private var columns: [String] = []
  /// Rows that were parsed, the next one last.
  private var parsed: [[String]] = []
  /// The error of the record after those in ``parsed``, thrown when these have been read.
  private var failure: (any Error)?
  private var rowCount = 0

  private static let batchByteCount = 64 << 10

  init(
    _ chunks: @escaping () throws -> Data?,
    _ delimiter: Character,
    _ recordByteLimit: Int
  ) throws {
    let byte = try CSVText.delimiterByte(delimiter)
    let splitter = CSVSplitter(delimiter: byte)
    records = SplitReader(chunks, splitter, recordByteLimit: recordByteLimit, headerCount: 1)
    characters = ByteCharacters(delimiter: byte)
    self.delimiter = delimiter
  }

  mutating func next() throws -> CSVRow? {
    if parsed.isEmpty, failure == nil { try parse() }
    guard let fields = parsed.popLast() else {
      if let failure { throw failure }
      return nil
    }
    rowCount += 1
    return CSVRow(
      columns: columns,
      fields: fields + Array(repeating: "", count: columns.count - fields.count)
    )
  }

  private mutating func parse() throws {
    if header == nil, let record = try records.next() { try readHeader(record) }
    guard let header else { return }
    let batch = nextBatch()
    if batch.isEmpty { return }
    do {
      parsed = try rows(of: batch, below: header, from: rowCount + 1).reversed()
    } catch {
      parseSeparately(batch, below: header)
    }
  }

  private mutating func readHeader(_ record: Data) throws {
    let names = try text(record)
    do {
      let csv = try EnumeratedCSV(string: names + "\n", delimiter: .character(delimiter), loadColumns: false)
      columns = csv.header.map(ByteCharacters.field)
    } catch {
      throw ImportError(.malformedRecord, "the row of the columns' names is no CSV", underlyingError: error)
    }
    header = names
  }

  /// The texts of the next records, before the first one that can't be read.
  private mutating func nextBatch() -> ArraySlice<String> {
    var (batch, byteCount) = (ArraySlice<String>(), 0)
    do {
      while byteCount < Self.batchByteCount, let record = try records.next() {
        batch.append(try text(record))
        byteCount += record.count
      }
    } catch {
      failure = error
    }
    return batch
  }

  /// Parses the records one by one up to the first wrong one, because parsing all of them at once doesn't tell
  /// which one is wrong.
  private mutating func parseSeparately(_ batch: ArraySlice<String>, below header: String) {
    var good: [[String]] = []
    do {
      for place in batch.indices {
        good += try rows(of: batch[place...place], below: header, from: rowCount + place + 1)
      }
    } catch {
      failure = error
    }
    parsed = good.reversed()
  }

  /// - Parameter number: the number of the first record.
  private func rows(
    of batch: ArraySlice<String>,
    below header: String,
    from number: Int
  ) throws(ImportError) -> [[String]] {
    var text = header + "\n"
    for record in batch { text += record + "\n" }
    let csv: EnumeratedCSV
    do {
      csv = try EnumeratedCSV(string: text, delimiter: .character(delimiter), loadColumns: false)
    } catch {
      throw ImportError(.malformedRecord, "the row is no CSV", record: number, underlyingError: error)
    }
    // The parser makes all rows as long as the longest.
    if let count = csv.rows.first?.count, count > columns.count {
      let message = "the row has \(count) fields, but there are \(columns.count) columns"
      throw ImportError(.malformedRecord, message, record: number)
    }
    return csv.rows.map { $0.map(ByteCharacters.field) }
  }

  private func text(_ bytes: Data) throws -> String {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw ImportError(.malformedRecord, "the text is not UTF-8", record: max(1, records.recordCount - 1))
    }
    return bytes.allSatisfy(characters.isPlain) ? text : characters.text(of: bytes)
  }
}

/// Bytes as SwiftCSV gets them: one character for each byte.
///
/// SwiftCSV reads characters: a combining mark after a delimiter or a quote makes another character of both. It
/// also takes all line breaks of Unicode for ends of rows. So bytes that are neither ASCII nor the end of a row are
/// replaced by ideographs.
private struct ByteCharacters {
  let delimiter: UInt8
  private static let ideographs: UInt32 = 0x4E00

  func text(of bytes: Data) -> String {
    var text = String.UnicodeScalarView()
    for byte in bytes {
      text.append(isPlain(byte) ? Unicode.Scalar(byte) : Unicode.Scalar(Self.ideographs + UInt32(byte))!)
    }
    return String(text)
  }

  /// The field that was parsed.
  static func field(_ text: String) -> String {
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return text }
    return String(decoding: text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }, as: UTF8.self)
  }

  /// All control characters but the tab are replaced, too: SwiftCSV takes some of them for line breaks, and a
  /// carriage return is one character with the line feed after it.
  func isPlain(_ byte: UInt8) -> Bool {
    byte == delimiter
      || byte < 0x80 && (byte >= 0x20 || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\n"))
  }
}

/// Finds rows: line breaks between quotes don't end one.
struct CSVSplitter: RecordSplitter {
  let delimiter: UInt8
  var start: Int?
  private var isQuoted = false
  private var isAtFieldStart = true

  init(delimiter: UInt8) { self.delimiter = delimiter }

  mutating func next(
    in bytes: UnsafeRawBufferPointer,
    _ position: inout Int,
    isAtEnd: Bool
  ) throws -> Range<Int>? {
    while position < bytes.count {
      let byte = bytes[position]
      position += 1
      let isBreak = byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
      if isBreak, !isQuoted {
        isAtFieldStart = true
        guard let begin = start else { continue }
        start = nil
        return begin..<position - 1
      }
      let isBlank = byte != delimiter && (byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t"))
      // Spaces before a field belong to none, and a line of spaces is no row.
      if isBlank, start == nil { continue }
      if start == nil { start = position - 1 }
      if byte == UInt8(ascii: "\""), isQuoted || isAtFieldStart {
        // The second of two quotes within quotes opens them again.
        isQuoted.toggle()
        isAtFieldStart = !isQuoted
      } else if byte == delimiter {
        isAtFieldStart = true
      } else if !isBlank {
        isAtFieldStart = false
      }
    }
    guard isAtEnd, let begin = start else { return nil }
    start = nil
    if isQuoted { throw ImportError(.truncated, "the text ends within quotes") }
    return begin..<bytes.count
  }
}
