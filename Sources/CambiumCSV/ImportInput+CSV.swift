import Cambium
import CambiumImport

extension ImportInput where Record == CSVRow {
  /// Reads the rows of a CSV file, whose first row has the names of the columns.
  ///
  /// Memory holds a row and a part of the file. A field may stand between quotes, in which two quotes are one, and
  /// delimiters and line breaks are text. Spaces before a field, and around the quotes, are left out. Empty lines are
  /// no rows. A quote in the wrong place is an error, and so is a row with more fields than there are columns.
  ///
  /// - Parameters:
  ///   - url: the file, in UTF-8.
  ///   - delimiter: what stands between two fields, an ASCII character.
  ///   - shortRows: the treatment of rows with fewer fields than there are columns.
  ///   - recordByteLimit: the length of a row, in bytes, beyond which it is refused (`ImportError.Code.recordTooLong`).
  public static func csvRows(
    at url: URL,
    delimiter: Character = ",",
    shortRows: CSVShortRows = .padded,
    recordByteLimit: Int = ImportOptions.defaultRecordByteLimit
  ) -> ImportInput {
    rows(.file(at: url), delimiter, shortRows, recordByteLimit)
  }

  /// Reads CSV rows from a stream that can be read once.
  ///
  /// - Parameters:
  ///   - delimiter: what stands between two fields, an ASCII character.
  ///   - shortRows: the treatment of rows with fewer fields than there are columns.
  ///   - recordByteLimit: the length of a row, in bytes, beyond which it is refused (`ImportError.Code.recordTooLong`).
  ///   - chunks: returns the next bytes, of any length, in UTF-8; nil at the end.
  public static func csvRows(
    delimiter: Character = ",",
    shortRows: CSVShortRows = .padded,
    recordByteLimit: Int = ImportOptions.defaultRecordByteLimit,
    from chunks: @escaping @Sendable () throws -> Data?
  ) -> ImportInput {
    rows(.stream(chunks), delimiter, shortRows, recordByteLimit)
  }

  private static func rows(
    _ bytes: ByteChunks,
    _ delimiter: Character,
    _ shortRows: CSVShortRows,
    _ recordByteLimit: Int
  ) -> ImportInput {
    ImportInput(
      noting: { notes in
        var reader = try CSVReader(bytes.open(), delimiter, recordByteLimit, shortRows, notes)
        return { try reader.next() }
      },
      isRepeatable: bytes.isRepeatable
    )
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
  ///   - shortRows: the treatment of rows with fewer fields than there are columns.
  ///   - recordByteLimit: the length of a row, in bytes, beyond which it is refused (`ImportError.Code.recordTooLong`).
  public static func csv(
    at url: URL,
    delimiter: Character = ",",
    shortRows: CSVShortRows = .padded,
    recordByteLimit: Int = ImportOptions.defaultRecordByteLimit
  ) -> ImportInput {
    decoded(
      .csvRows(at: url, delimiter: delimiter, shortRows: shortRows, recordByteLimit: recordByteLimit)
    )
  }

  /// Decodes CSV rows from a stream that can be read once, as ``csv(at:delimiter:shortRows:recordByteLimit:)`` does
  /// those of a file.
  public static func csv(
    delimiter: Character = ",",
    shortRows: CSVShortRows = .padded,
    recordByteLimit: Int = ImportOptions.defaultRecordByteLimit,
    from chunks: @escaping @Sendable () throws -> Data?
  ) -> ImportInput {
    decoded(
      .csvRows(
        delimiter: delimiter,
        shortRows: shortRows,
        recordByteLimit: recordByteLimit,
        from: chunks
      )
    )
  }

  private static func decoded(_ rows: ImportInput<CSVRow>) -> ImportInput {
    ImportInput(
      noting: { notes in
        let next = try rows.openReader(notes)
        var number = 0
        var knownPositions: CSVColumnPositions?
        return {
          guard let row = try next() else { return nil }
          number += 1
          let positions = knownPositions ?? CSVColumnPositions(row.columns)
          knownPositions = positions
          do {
            return try Record(from: CSVRowDecoder(row, positions))
          } catch {
            throw ImportError(
              .malformedRecord,
              "the row can't be decoded",
              record: number,
              underlyingError: error
            )
          }
        }
      },
      isRepeatable: rows.isRepeatable
    )
  }
}
