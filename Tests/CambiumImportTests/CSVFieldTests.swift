import Cambium
import CambiumCSV
import CambiumImport
import Testing

/// The fields of a row are cut by quotes and delimiters, and a row with a quote in the wrong place is refused.
struct CSVFieldTests {
  /// Reads the rows below a row of three columns' names.
  private func rows(_ text: Data) throws -> [[String]] {
    let rest = Locked([Data("a,b,c\n".utf8) + text])
    let input = ImportInput<CSVRow>.csvRows { rest.withLock { $0.popLast() } }
    let next = try input.makeReader()
    var rows: [[String]] = []
    while let row = try next() { rows.append(row.fields) }
    return rows
  }

  @Test(arguments: [
    ("1,2,3", ["1", "2", "3"]), ("1", ["1", "", ""]), (",,", ["", "", ""]), ("\"\"", ["", "", ""]),
    ("\"\"\"\",\"\"\"a\"\"\"", ["\"", "\"a\"", ""]), ("a\"\"b, c ,\t\"d\" ", ["a\"b", "c ", "d"]),
    ("\" ,\r\n\",\" \" ,", [" ,\r\n", " ", ""]),
    ("\"\"\"\u{301}\",\u{301}\"\",\"\u{301}\"", ["\"\u{301}", "\u{301}\"", "\u{301}"]),
  ])
  func fieldsAreCut(_ text: String, _ fields: [String]) throws {
    for end in ["", "\n", "\r\n"] {
      let found = try rows(Data((text + end).utf8))
      #expect(found.map { $0.map { Array($0.utf8) } } == [fields.map { Array($0.utf8) }])
    }
  }

  @Test(arguments: ["5\" wide", "a\"b\"", "a\"", "\"a\"b", "\"a\" \"b\"", "\"a\" b", "\"a\"\"b\"c", "1,2,3,"])
  func wrongRowsAreRefused(_ row: String) {
    for end in ["", "\n", ",2\n"] {
      let error = #expect(throws: ImportError.self) { try rows(Data(("1\n" + row + end).utf8)) }
      #expect(error?.code == .malformedRecord && error?.record == 2)
    }
  }

  @Test func theFirstColumnOfANameCounts() throws {
    let rest = Locked([Data("a,b,a\n1,2,3\n4\n".utf8)])
    let input = ImportInput<[String: String]>.csv { rest.withLock { $0.popLast() } }
    let next = try input.makeReader()
    #expect(try next() == ["a": "1", "b": "2"])
    #expect(try next() == ["a": "4", "b": ""])
  }

  /// The row of the names is no record.
  @Test func anErrorInTheRowOfNamesHasNoNumber() throws {
    for (names, limit, code) in [
      (Data([0xFF, 0x0A]), 100, ImportError.Code.malformedRecord), (Data("\"a".utf8), 100, .truncated),
      (Data("abc\n1\n".utf8), 2, .recordTooLong),
    ] {
      let rest = Locked([names])
      let next = try ImportInput<CSVRow>.csvRows(recordByteLimit: limit) { rest.withLock { $0.popLast() } }
        .makeReader()
      let error = #expect(throws: ImportError.self) { try next() }
      #expect(error?.code == code && error?.record == nil)
    }
  }

  /// What follows a wrong row may be a part of it.
  @Test func nothingIsReadAfterAWrongRow() throws {
    let rest = Locked([Data("a,b\n1,2\n3,,,,,\n4,5\n".utf8)])
    let next = try ImportInput<CSVRow>.csvRows { rest.withLock { $0.popLast() } }.makeReader()
    #expect(try next()?.fields == ["1", "2"])
    for row in ["wrong", "later"] {
      let error = #expect(throws: ImportError.self) { try next() }
      #expect(error?.code == .malformedRecord && error?.record == 2, "\(row)")
    }
  }
}
