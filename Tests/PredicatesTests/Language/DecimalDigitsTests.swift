import Predicates
import TestSupport
import Testing

struct DecimalDigitsTests {
  @Test(arguments: [
    ("0", "0.0"), ("-0", "-0.0"), ("0.000", "0.0"), ("00120", "120.0"), ("1.50", "1.5"), (".5", "0.5"),
    ("5.", "5.0"),
    ("12.5e-1", "1.25"), ("1e3", "1000.0"), ("0.0001", "0.0001"), ("-2.5E2", "-250.0"),
  ])
  func spellingsOfANumberAreOne(_ text: String, _ plain: String) throws {
    let digits = try #require(DecimalDigits(text))
    #expect(digits.description == plain)
    #expect(DecimalDigits(plain) == digits)
  }

  @Test(arguments: [
    "", "-", ".", "e5", "1e", "1e100000", "12e99999", "0.01e-99999", "1e-9223372036854775808",
    "1e9223372036854775808", "1.2.3", "0x1",
    "1 ",
    "nan", "+1",
  ])
  func otherTextIsNoNumber(_ text: String) {
    #expect(DecimalDigits(text) == nil)
  }

  @Test(arguments: ["12e99997", "0.12e99999", "-1e-99999", "0e99999", "0.0001e99999"])
  func whatIsReadableIsWrittenReadably(_ text: String) throws {
    let digits = try #require(DecimalDigits(text))
    #expect(DecimalDigits(digits.description) == digits)
  }

  @Test func aDoublesDigitsNameTheDouble() throws {
    var random = SeededGenerator()
    for _ in 0..<2_000 {
      let value = Double(bitPattern: random.next())
      guard value.isFinite else { continue }
      let digits = try #require(DecimalDigits(value))
      #expect(digits.nearestDouble == value)
      #expect(try #require(DecimalDigits(digits.description)) == digits)
    }
  }

  @Test func aFloatIsRoundedOnce() throws {
    // Just above the middle between 1 and the next Float; as a Double it is the middle, which would round
    // down to 1.
    let digits = try #require(DecimalDigits("1.0000000596046448"))
    #expect(digits.nearestFloat == Float(1).nextUp)
    #expect(Float(digits.nearestDouble) == 1)
  }
}
