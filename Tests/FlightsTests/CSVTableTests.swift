import Foundation
import TestSupport
import Testing

@testable import FlightsExample

@Suite("Reading CSV")
struct CSVTableTests {
  private struct Pair: CSVRecord, Equatable {
    static let columns = ["a", "b"]
    var a: String?
    var b: String?

    init(_ a: String?, _ b: String?) {
      self.a = a
      self.b = b
    }

    init(_ fields: inout CSVFields) throws {
      a = try fields.optionalString()
      b = try fields.optionalString()
    }
  }

  private struct Numbers: CSVRecord, Equatable {
    static let columns = ["int", "double", "date"]
    var int: Int?
    var double: Double?
    var date: Date?

    init(_ fields: inout CSVFields) throws {
      int = try fields.optionalInt()
      double = try fields.optionalDouble()
      date = try fields.optionalDate()
    }
  }

  private func rows<Record: CSVRecord>(_ text: String, of type: Record.Type = Record.self) throws -> [Record]
  {
    let folder = try TemporaryFolder()
    try Data(text.utf8).write(to: URL(fileURLWithPath: folder.file("table.csv")))
    return try CSVTable<Record>(path: folder.file("table.csv")).rest()
  }

  @Test func columnsAreFoundByName() throws {
    #expect(try rows("b,x,a\n1,2,3\n") == [Pair("3", "1")])
  }

  @Test func theLastLineNeedsNoLineBreak() throws {
    #expect(try rows("a,b\n1,2") == [Pair("1", "2")])
    #expect(try rows("a,b\n1,") == [Pair("1", nil)])
  }

  @Test func eitherLineEndingEndsALine() throws {
    #expect(try rows("a,b\r\n1,\"2\"\r\n\r\n3,4\n") == [Pair("1", "2"), Pair("3", "4")])
  }

  @Test func quotesHoldCommasLineBreaksAndQuotes() throws {
    #expect(try rows("a,b\n\"1,5\",\"say \"\"yes\"\"\nor no\"\n") == [Pair("1,5", "say \"yes\"\nor no")])
  }

  @Test func onlyABareNAIsMissing() throws {
    #expect(try rows("a,b\nNA,\"NA\"\n,\"\"\n") == [Pair(nil, "NA"), Pair(nil, "")])
  }

  @Test func numbersAndDatesAreRead() throws {
    let row = try #require(
      try rows("int,double,date\n-42,2.5e1,2013-03-01T10:59:58Z\n", of: Numbers.self).first
    )
    #expect(row.int == -42 && row.double == 25)
    #expect(row.date == Date(timeIntervalSince1970: 1_362_135_598))
  }

  @Test(arguments: ["1.5,2,NA", "4x,2,NA", "1,two,NA", "1,2,2013-13-01T00:00:00Z", "1,2,yesterday", "1,2"])
  func aWrongValueIsNamedWithItsLine(line: String) throws {
    let error = #expect(throws: DataError.self) {
      try rows("int,double,date\n1,2,NA\n\(line)\n", of: Numbers.self)
    }
    #expect(error?.line == 3)
  }

  @Test func aMissingColumnAndAnUnendedQuoteAreErrors() throws {
    #expect(throws: DataError.self) { try rows("a\n1\n", of: Pair.self) }
    #expect(throws: DataError.self) { try rows("a,b\n1,\"2\n", of: Pair.self) }
    #expect(throws: DataError.self) { try rows("", of: Pair.self) }
  }

  @Test func aTruncatedGzipFileIsAnError() throws {
    let folder = try TemporaryFolder()
    let whole = try Data(contentsOf: URL(fileURLWithPath: Sample.folder + "/planes.csv.gz"))
    try whole.prefix(whole.count / 2).write(to: URL(fileURLWithPath: folder.file("planes.csv.gz")))
    #expect(throws: DataError.self) { try FlightsFolder(path: folder.path).planes().rest() }
  }

  @Test func datesAgreeWithFoundation() throws {
    // From 1614 on: Foundation's calendar is Julian before the reform.
    for day in stride(from: -130_000, to: 200_000, by: 97) {
      let date = Date(timeIntervalSince1970: Double(day) * 86_400 + 3_723)
      let text = date.formatted(.iso8601)
      #expect(Date(utc: Array(text.utf8)[...]) == date, "\(text)")
    }
  }

  @Test(arguments: ["2013-02-29", "2012-02-30", "1900-02-29", "2013-04-31", "2013-13-01", "2013-01-00"])
  func aDayThatNoMonthHasIsNoDate(day: String) {
    #expect(Date(utc: Array("\(day)T10:00:00Z".utf8)[...]) == nil)
  }
}
