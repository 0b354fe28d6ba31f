import Foundation
import Predicates
import TestSupport
import Testing

/// Values as strings. Decoding a string gives the value back to the last bit.
struct AttributeValueCodingTests {
  private static let id = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 255))

  private static let texts: [(AttributeValue, String)] = [
    (.null, "null"), (.bool(true), "bool:true"), (.bool(false), "bool:false"), (.int(-5), "int:-5"),
    (.int(.min), "int:-9223372036854775808"), (.uint(.max), "uint:18446744073709551615"),
    (.double(1), "double:3ff0000000000000"), (.double(-0.0), "double:8000000000000000"),
    (.double(0), "double:0000000000000000"), (.double(.infinity), "double:7ff0000000000000"),
    (.double(.nan), "double:7ff8000000000000"), (.decimal(Decimal(string: "-1.25")!), "decimal:-125e-2"),
    (.decimal(.nan), "decimal:nan"),
    (.date(Date(timeIntervalSinceReferenceDate: 1)), "date:3ff0000000000000"),
    (.uuid(id), "uuid:01020304-0506-0708-090A-0B0C0D0E0FFF"), (.string("Blue"), "string:Blue"),
    (.string(""), "string:"), (.data(Data([1, 2])), "data:AQI="), (.data(Data()), "data:"),
    (.reference(42), "reference:42"),
  ]

  @Test(arguments: texts) func aValueIsOneString(value: AttributeValue, text: String) throws {
    let coded = try JSONEncoder().encode([value])
    #expect(try JSONDecoder().decode([String].self, from: coded) == [text])
    let copy = try #require(try JSONDecoder().decode([AttributeValue].self, from: coded).first)
    #expect(copy == value)
  }

  @Test func everyBitComesBack() throws {
    let signalling = Double(nan: 0x1234, signaling: true)
    let doubles: [Double] = [
      -0.0, -.nan, signalling, -.infinity, .leastNonzeroMagnitude, .greatestFiniteMagnitude, 0.1,
    ]
    for double in doubles {
      guard case .double(let copy) = try copy(of: .double(double)) else { throw NoValue() }
      #expect(copy.bitPattern == double.bitPattern)
      guard case .date(let date) = try self.copy(of: .date(Date(timeIntervalSinceReferenceDate: double)))
      else {
        throw NoValue()
      }
      #expect(date.timeIntervalSinceReferenceDate.bitPattern == double.bitPattern)
    }
  }

  @Test func everyDecimalComesBack() throws {
    var generator = SeededGenerator()
    for _ in 0..<1_000 {
      let decimal = generator.decimal()
      #expect(try copy(of: .decimal(decimal)) == .decimal(decimal))
    }
  }

  /// Strings keep their scalars: also one that joins the colon before it in one character.
  @Test(arguments: ["a:b", "\u{301}e", "\u{0}\"\\\n", "e\u{301}", "\u{e9}", "🇫🇷"])
  func everyScalarComesBack(text: String) throws {
    #expect(try copy(of: .string(text)) == .string(text))
  }

  @Test(arguments: [
    "", "nil", "null:", "bool:yes", "bool", "int:", "int:9223372036854775808", "int:1.5", "uint:-1",
    "double:1.5", "double:+ff000000000000", "double:3ff", "decimal:1", "decimal:1e", "decimal:1e200",
    "decimal:--1e0",
    "uuid:1", "string", "data", "data:?", "text:a",
  ])
  func anyOtherTextIsRefused(text: String) throws {
    let coded = try JSONEncoder().encode([text])
    #expect(throws: DecodingError.self) { try JSONDecoder().decode([AttributeValue].self, from: coded) }
  }

  private struct NoValue: Error {}

  private func copy(of value: AttributeValue) throws -> AttributeValue? {
    try JSONDecoder().decode([AttributeValue].self, from: JSONEncoder().encode([value])).first
  }

  /// Foundation's description of a date that isn't finite ends the program, but messages contain descriptions of values.
  @Test func everyValueHasADescription() {
    let dates = [Double.nan, .infinity, -.infinity, 0].map {
      AttributeValue.date(Date(timeIntervalSinceReferenceDate: $0)).description
    }
    #expect(dates == ["date nan", "date inf", "date -inf", "2001-01-01 00:00:00 +0000"])
    let values: [AttributeValue] = [.null, .bool(true), .int(-3), .string("a"), .data(Data([1, 2]))]
    #expect(values.map(\.description) == ["nil", "true", "-3", "\"a\"", "2 bytes"])
    #expect("\(["a": AttributeValue.int(1)])" == "[\"a\": 1]")
  }
}
