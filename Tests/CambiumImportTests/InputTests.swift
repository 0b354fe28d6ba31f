import Cambium
import CambiumCSV
import CambiumImport
import Foundation
import TestSupport
import Testing

/// Records from texts, in chunks of any length.
struct InputTests {
  /// Returns a closure that yields a text in chunks of `count` bytes.
  private func chunks(_ text: String, of count: Int) -> @Sendable () throws -> Data? {
    let rest = Locked(ArraySlice(text.utf8))
    return {
      rest.withLock { rest in
        let next = rest.prefix(count)
        rest = rest.dropFirst(count)
        return next.isEmpty ? nil : Data(next)
      }
    }
  }

  private func all<Record>(_ input: ImportInput<Record>) throws -> [Record] {
    let next = try input.makeReader()
    var records: [Record] = []
    while let record = try next() { records.append(record) }
    return records
  }

  private static let records = [
    TuneRecord(code: "a", title: "plain", disc: nil),
    TuneRecord(code: "b", title: "quo\"te, [brackets] {and} \\ slash\\", disc: 1),
    TuneRecord(code: "ü", title: "líne\nbreak ]\",", disc: 2),
    TuneRecord(code: "", title: " ", disc: -3),
  ]

  @Test(arguments: [1, 2, 3, 7, 10_000]) func jsonLinesInChunks(_ count: Int) throws {
    let lines = try Self.records.map { String(decoding: try JSONEncoder().encode($0), as: UTF8.self) }
    for text in [
      lines.joined(separator: "\n"), lines.joined(separator: "\r\n") + "\r\n",
      "\u{FEFF}\n\n" + lines.joined(separator: "\n \n") + "\n\n",
    ] {
      let found: [TuneRecord] = try all(.jsonLines(from: chunks(text, of: count)))
      #expect(found == Self.records)
    }
    #expect(try all(ImportInput<Int>.jsonLines(from: chunks("1\n2\n\n3", of: count))) == [1, 2, 3])
    #expect(try all(ImportInput<Int>.jsonLines(from: chunks("", of: count))) == [])
  }

  @Test(arguments: [1, 2, 3, 7, 10_000]) func jsonArraysInChunks(_ count: Int) throws {
    let encoder = JSONEncoder()
    let compact = String(decoding: try encoder.encode(Self.records), as: UTF8.self)
    encoder.outputFormatting = .prettyPrinted
    let pretty = String(decoding: try encoder.encode(Self.records), as: UTF8.self)
    for text in [compact, pretty, "\u{FEFF} \n" + pretty + "\n"] {
      let found: [TuneRecord] = try all(.jsonArray(from: chunks(text, of: count)))
      #expect(found == Self.records)
    }
    let nested: [[[Int]]] = try all(.jsonArray(from: chunks("[[[1,2],[3]], [] ,[[]]]", of: count)))
    #expect(nested == [[[1, 2], [3]], [], [[]]])
    #expect(try all(ImportInput<Int>.jsonArray(from: chunks("[ ]", of: count))) == [])
    #expect(try all(ImportInput<String>.jsonArray(from: chunks(#"["a","\"]"]"#, of: count))) == ["a", "\"]"])
  }

  @Test(arguments: [
    ("", ImportError.Code.notAnArray), ("{}", .notAnArray), ("[1] 2", .notAnArray), ("[1,2", .truncated),
    ("[1,", .truncated), ("[1,]", .malformedRecord), ("[,1]", .malformedRecord),
    ("[1,\"a\"]", .malformedRecord),
    ("[1 2]", .malformedRecord),
  ])
  func wrongArraysAreRefused(_ text: String, _ code: ImportError.Code) {
    for count in [1, 100] {
      let error = #expect(throws: ImportError.self) {
        try all(ImportInput<Int>.jsonArray(from: chunks(text, of: count)))
      }
      #expect(error?.code == code, "\(text)")
    }
  }

  @Test func anErrorNamesTheRecord() throws {
    let error = #expect(throws: ImportError.self) {
      try all(ImportInput<Int>.jsonLines(from: chunks("1\n\n2\nx\n", of: 4)))
    }
    #expect(error?.record == 3 && error?.code == .malformedRecord && error?.underlyingError != nil)
    let missing = URL(fileURLWithPath: "/nowhere/at/all.json")
    let other = #expect(throws: ImportError.self) { try all(ImportInput<Int>.jsonArray(at: missing)) }
    #expect(other?.code == .file)
  }

  // MARK: CSV

  private static let csv = """
    code,title,disc
    a,plain,
    b,"quote "" and, comma",1
    "ü","line
    break",2

     "c" ,5" wide,3
    """

  @Test(arguments: [1, 2, 3, 7, 10_000]) func csvInChunks(_ count: Int) throws {
    let text = Self.csv.replacing("5\" wide", with: "wide")
    for text in [text, "\u{FEFF}" + text + "\n", text.replacing("\n", with: "\r\n")] {
      let rows: [CSVRow] = try all(.csvRows(from: chunks(text, of: count)))
      let titles = [
        "plain", "quote \" and, comma", text.contains("\r") ? "line\r\nbreak" : "line\nbreak", "wide",
      ]
      #expect(rows.map { $0["title"] } == titles)
      #expect(rows.map { $0["code"] } == ["a", "b", "ü", "c"])
      #expect(rows[0].columns == ["code", "title", "disc"] && rows[0]["none"] == nil)
      let records: [TuneRecord] = try all(.csv(from: chunks(text, of: count)))
      #expect(records.map(\.disc) == [nil, 1, 2, 3] && records.map(\.title) == titles)
    }
    #expect(try all(ImportInput<CSVRow>.csvRows(from: chunks("", of: count))).isEmpty)
    #expect(try all(ImportInput<CSVRow>.csvRows(from: chunks("a,b\n", of: count))).isEmpty)
  }

  private struct Kinds: Codable, Equatable {
    enum Size: String, Codable { case small, large }
    var flag: Bool
    var byte: Int8
    var real: Double
    var id: UUID
    var day: Date
    var price: Decimal
    var page: URL?
    var size: Size?
    var name: String?
  }

  @Test func csvHasValuesOfManyKinds() throws {
    let values = [
      Kinds(
        flag: true,
        byte: -3,
        real: 0.1,
        id: UUID(),
        day: Date(timeIntervalSince1970: 1_700_000_000.5),
        price: Decimal(string: "12.30")!,
        page: nil,
        size: nil,
        name: nil
      ),
      Kinds(
        flag: false,
        byte: 7,
        real: -1e300,
        id: UUID(),
        day: Date(timeIntervalSince1970: 0),
        price: 0,
        page: URL(string: "https://example.org/?a=1,2"),
        size: .large,
        name: " a;\"b\"\n"
      ),
    ]
    for delimiter in [",", ";", "\t"] as [Character] {
      let format = ExportFormat<Kinds>.csv(delimiter: delimiter)
      let write = format.makeWriter()
      var text = Data()
      for (count, value) in values.enumerated() { text += try write(value, count) }
      let input = ImportInput<Kinds>.csv(
        delimiter: delimiter,
        from: chunks(String(decoding: text, as: UTF8.self), of: 5)
      )
      #expect(try all(input) == values)
    }
    let header = "flag,byte,real,id,day,price\n"
    for row in ["2,1,1,\(UUID()),2020-01-01T00:00:00Z,1", "1,300,1,\(UUID()),2020-01-01T00:00:00Z,1", "1,1"] {
      let error = #expect(throws: ImportError.self) {
        try all(ImportInput<Kinds>.csv(from: chunks(header + row, of: 9)))
      }
      #expect(error?.code == .malformedRecord && error?.record == 1)
    }
  }

  /// The row of the names is no record, and is read even if no record follows.
  @Test func wrongNamesOfColumnsAreRefused() {
    for text in ["na\"me\nx\n", "na\"me\n"] {
      let error = #expect(throws: ImportError.self) {
        try all(ImportInput<CSVRow>.csvRows(from: chunks(text, of: 3)))
      }
      #expect(error?.code == .malformedRecord && error?.record == nil)
    }
  }

  @Test func wrongCSVIsRefused() {
    for (text, code) in [
      ("a,b\n1,2,3\n", ImportError.Code.malformedRecord), ("a\n\"x", .truncated),
      ("a\n\"x\"y\n", .malformedRecord),
    ] {
      let error = #expect(throws: ImportError.self) {
        try all(ImportInput<CSVRow>.csvRows(from: chunks(text, of: 3)))
      }
      #expect(error?.code == code)
    }
    for delimiter in ["ü", "\"", "\n", "\r", "\r\n"] as [Character] {
      #expect(throws: ImportError.self) {
        try all(ImportInput<CSVRow>.csvRows(delimiter: delimiter, from: { nil }))
      }
      let write = ExportFormat<TuneRecord>.csv(delimiter: delimiter).makeWriter()
      #expect(throws: ImportError.self) { try write(Self.records[0], 0) }
    }
  }

  /// A combining mark hides no delimiter or quote, and line breaks of Unicode end no row.
  @Test(arguments: ["\u{301}", "\u{FE0F}", "\u{200D}", "\u{2028}", "\u{85}", "\u{B}", "\u{C}", "\u{FEFF}"])
  func csvOfOthersIsReadByScalars(_ piece: String) throws {
    let text = "a\(piece),b\n\(piece)1\(piece)2\(piece),\"\(piece)3\"\n4,\(piece)5\n"
    let rows = try all(ImportInput<CSVRow>.csvRows(from: chunks(text, of: 5)))
    let fields = [["\(piece)1\(piece)2\(piece)", "\(piece)3"], ["4", "\(piece)5"]]
    #expect(rows.map { $0.fields.map { Array($0.utf8) } } == fields.map { $0.map { Array($0.utf8) } })
    #expect(rows.first?.columns == ["a\(piece)", "b"])
  }

  private struct Price: Decodable {
    var price: Decimal
  }

  private struct Day: Codable {
    var day: Date
  }

  @Test func whatBeginsWithAValueIsNone() throws {
    for text in ["12abc", "1 2", "0x10", "1.2.3", "--4", "NaN", "1e400"] {
      #expect(throws: ImportError.self) {
        try all(ImportInput<Price>.csv(from: chunks("price\n\(text)\n", of: 9)))
      }
    }
    let prices: [Price] = try all(.csv(from: chunks("price\n12.30\n-.5\n+1e3\n", of: 9)))
    #expect(prices.map(\.price) == [12.3, -0.5, 1_000])
    for text in [
      "2020-01-01T00:00:00Zx", "2020-01-01T00:00:00", "2020-01-01", "2020-02-31T00:00:00Z",
    ] {
      #expect(throws: ImportError.self) {
        try all(ImportInput<Day>.csv(from: chunks("day\n\(text)\n", of: 9)))
      }
    }
    let text = "day\n1970-01-01T05:00:01+05:00\n1970-01-01T00:00:01.5Z\n"
    let days: [Day] = try all(.csv(from: chunks(text, of: 9)))
    #expect(days.map(\.day.timeIntervalSince1970) == [1, 1.5])
    let write = ExportFormat<Day>.csv().makeWriter()
    for seconds in [Double.nan, .infinity, 1e15] {
      #expect(throws: (any Error).self) {
        try write(Day(day: Date(timeIntervalSinceReferenceDate: seconds)), 0)
      }
    }
  }

  @Test func aRandomTextIsReadAsItWasWritten() throws {
    var random = SeededGenerator("aRandomTextIsReadAsItWasWritten")
    let pieces = ["a", "\"", ",", "\n", " ", "ß", "{", "]", "\\", "\r\n", "\u{2028}", "\u{301}", "\u{200D}"]
    for _ in 0..<60 {
      let records = (0..<Int.random(in: 0..<30, using: &random)).map { _ in
        TuneRecord(
          code: (0..<Int.random(in: 0..<5, using: &random)).map { _ in pieces.randomElement(using: &random)! }
            .joined(),
          title: (0..<Int.random(in: 0..<9, using: &random)).map { _ in pieces.randomElement(using: &random)!
          }
          .joined(),
          disc: Bool.random(using: &random) ? Int.random(in: -9...9, using: &random) : nil
        )
      }
      let size = Int.random(in: 1..<40, using: &random)
      for format in [
        ExportFormat<TuneRecord>.jsonLines(), .jsonArray(), .csv(columns: ["code", "title", "disc"]),
      ] {
        let write = format.makeWriter()
        var text = Data()
        for (count, record) in records.enumerated() { text += try write(record, count) }
        text += try format.end(records.count)
        let chunks = chunks(String(decoding: text, as: UTF8.self), of: size)
        let input: ImportInput<TuneRecord> =
          if text.first == UInt8(ascii: "[") {
            .jsonArray(from: chunks)
          } else if text.first == UInt8(ascii: "{") {
            .jsonLines(from: chunks)
          } else {
            .csv(from: chunks)
          }
        let read = try all(input)
        #expect(read.map { Array($0.code.utf8) } == records.map { Array($0.code.utf8) })
        #expect(read.map { Array($0.title.utf8) } == records.map { Array($0.title.utf8) })
        #expect(read.map(\.disc) == records.map(\.disc))
      }
    }
  }

  @Test(arguments: ["1,2\n3,4\n5,6,7\n8,9\n", "1,2\n3,4\n\"5\"x,6\n8,9\n", "1,2\n3,4\n\"5,6\n"])
  func theRowsBeforeAWrongOneAreRead(_ rows: String) throws {
    let next = try ImportInput<CSVRow>.csvRows(from: chunks("a,b\n" + rows, of: 100)).makeReader()
    #expect(try next()?.fields == ["1", "2"])
    #expect(try next()?.fields == ["3", "4"])
    let error = #expect(throws: ImportError.self) { try next() }
    #expect(error?.record == 3)
  }

  /// A quote without an end would include the rest of the file.
  @Test func aRecordHasALimit() throws {
    let long = String(repeating: "x", count: 100)
    for count in [1, 64, 10_000] {
      let rows = "a,b\n1,2\n3,\"\(long)\n\(long)\n"
      let csv = ImportInput<CSVRow>.csvRows(recordByteLimit: 50, from: chunks(rows, of: count))
      let lines = ImportInput<Int>.jsonLines(recordByteLimit: 50, from: chunks("1\n\(long)", of: count))
      let array = ImportInput<Int>.jsonArray(recordByteLimit: 50, from: chunks("[1,[\(long)", of: count))
      for error in [
        #expect(throws: ImportError.self) { try all(csv) },
        #expect(throws: ImportError.self) { try all(lines) },
        #expect(throws: ImportError.self) { try all(array) },
      ] {
        #expect(error?.code == .recordTooLong && error?.record == 2)
      }
      let exact = ImportInput<String>.jsonLines(
        recordByteLimit: 102,
        from: chunks("\"\(long)\"\n\"\(long)\"", of: count)
      )
      #expect(try all(exact) == [long, long])
    }
  }

  @Test func aLineOfSpacesIsNoRow() throws {
    for count in [1, 100] {
      let rows = try all(
        ImportInput<CSVRow>.csvRows(from: chunks("a,b\n  \n1, 2\n\t \n\n  3,4\n ", of: count))
      )
      #expect(rows.map(\.fields) == [["1", "2"], ["3", "4"]])
      let tabs = ImportInput<CSVRow>.csvRows(delimiter: "\t", from: chunks("a\tb\n\t\n \n1\t\n", of: count))
      #expect(try all(tabs).map(\.fields) == [["", ""], ["1", ""]])
    }
  }

  @Test func theRowsBeforeOneThatIsNotUTF8AreRead() throws {
    let rest = Locked([Data("a,b\n1,2\n".utf8) + [0xFF, 0x0A]])
    let next = try ImportInput<CSVRow>.csvRows { rest.withLock { $0.popLast() } }.makeReader()
    #expect(try next()?.fields == ["1", "2"])
    let error = #expect(throws: ImportError.self) { try next() }
    #expect(error?.record == 2)
  }
}
