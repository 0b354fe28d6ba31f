import Cambium
import CambiumImport
import TestSupport
import Testing

@testable import CambiumCSV

/// A text may have many columns, of which its rows fill few.
struct CSVWidthTests {
  /// Reads the rows of a text that begins with the names of its columns, `c0`, `c1` and so on.
  private func reader(columnCount: Int, rows: String) throws -> () throws -> CSVRow? {
    let names = (0..<columnCount).map { "c\($0)" }.joined(separator: ",")
    let rest = Locked([Data((names + "\n" + rows).utf8)])
    return try ImportInput<CSVRow>.csvRows { rest.withLock { $0.popLast() } }.makeReader()
  }

  /// The memory of a row must not grow with the columns that it has no text for.
  @Test func aRowKeepsTheFieldsThatItHas() throws {
    let next = try reader(columnCount: 50_000, rows: "1\n,2,,,\n,,\n")
    var rows: [CSVRow] = []
    while let row = try next() { rows.append(row) }
    #expect(rows.map(\.filledFields) == [["1"], ["", "2"], []])
    #expect(rows.allSatisfy { $0.fields.count == 50_000 && $0.columns.count == 50_000 })
    #expect(rows[1]["c1"] == "2" && rows[1]["c49999"] == "" && rows[1]["c50000"] == nil)
  }

  /// An empty field at the end is the same as none.
  @Test func rowsWithTheSameFieldsAreEqual() throws {
    let next = try reader(columnCount: 3, rows: "1\n1,,\n1,2\n")
    let (short, full, other) = (try next(), try next(), try next())
    #expect(short == full && short?.hashValue == full?.hashValue && short != other)
    #expect(short?.fields == ["1", "", ""])
  }

  @Test func tooManyColumnsAreRefused() throws {
    let next = try reader(columnCount: CSVRow.maximumColumnCount, rows: "1\n")
    #expect(try next()?["c0"] == "1")
    let wider = try reader(columnCount: CSVRow.maximumColumnCount + 1, rows: "1\n")
    let error = #expect(throws: ImportError.self) { try wider() }
    #expect(error?.code == .recordTooLong && error?.record == nil)
  }

  /// Docs/Limits.md says what the code does.
  @Test func theLimitsAreDocumented() throws {
    let text = try Document("Docs/Limits.md").text.replacing(",", with: "")
    #expect(text.contains("\(CSVRow.maximumColumnCount) columns (`CSVRow.maximumColumnCount`)"))
    let bytes = ImportOptions.defaultRecordByteLimit
    #expect(text.contains("\(bytes) bytes (`ImportOptions.defaultRecordByteLimit`)"))
  }
}
