import Foundation
import TestSupport
import Testing

@testable import Predicates

struct ISO8601TextTests {
  @Test(arguments: [
    ("2001-01-01T00:00:00Z", 0.0), ("2001-01-01", 0), ("2013-01-01T10:00:00Z", 378_727_200),
    ("2013-01-01 10:00Z", 378_727_200), ("2013-01-01T11:00:00+01:00", 378_727_200),
    ("2013-01-01T05:00:00-0500", 378_727_200), ("2013-01-01t10:00:00.25z", 378_727_200.25),
    ("1970-01-01T00:00:00Z", -978_307_200), ("2000-02-29T23:59:59Z", -26_438_401),
    ("0001-01-01", -63_113_904_000), ("0000-01-01", -63_145_526_400), ("9999-12-31", 252_423_907_200),
  ])
  func textIsAnInstant(_ text: String, _ seconds: Double) {
    #expect(ISO8601Text.date(text)?.timeIntervalSinceReferenceDate == seconds)
  }

  @Test(arguments: [
    "", "2013", "2013-1-1", "2013-02-30", "1900-02-29", "2013-13-01", "2013-01-00", "2013-01-01T",
    "2013-01-01T10:00",
    "2013-01-01T10:00:00", "2013-01-01T24:00:00Z", "2013-01-01T10:60:00Z", "2013-01-01T10:00:00.Z",
    "2013-01-01T10:00:00Zx", "2013-01-01T10:00:00+1", "10:00:00", "yesterday", "２０１３-01-01",
  ])
  func otherTextIsNone(_ text: String) {
    #expect(ISO8601Text.date(text) == nil)
  }

  @Test func itAgreesWithFoundation() throws {
    var random = SeededGenerator()
    // After 1588: Foundation's formatter is Julian before October 1582, ISO 8601 is Gregorian throughout.
    let style = Date.ISO8601FormatStyle()
    for _ in 0..<2_000 {
      let date = Date(
        timeIntervalSinceReferenceDate: Double(random.number(in: -13_000_000_000...200_000_000_000))
      )
      #expect(ISO8601Text.date(date.formatted(style)) == date)
    }
  }

  @Test func anInstantIsReadBackFromItsText() throws {
    #expect(
      ISO8601Text.text(Date(timeIntervalSinceReferenceDate: 0x1p-20))
        == "2001-01-01T00:00:00.00000095367431640625Z"
    )
    var random = SeededGenerator()
    for scale in [1e-9, 1e-4, 1, 1e6, 2e11] {
      for _ in 0..<400 {
        let date = Date(timeIntervalSinceReferenceDate: Double.random(in: 0...scale, using: &random))
        let text = try #require(ISO8601Text.text(date))
        #expect(ISO8601Text.date(text) == date, "\(text)")
      }
    }
    #expect(ISO8601Text.text(Date(timeIntervalSinceReferenceDate: .nan)) == nil)
    #expect(ISO8601Text.text(Date(timeIntervalSinceReferenceDate: 1e20)) == nil)
  }
}
