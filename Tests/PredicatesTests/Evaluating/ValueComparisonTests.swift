import Foundation
import TestSupport
import Testing

@testable import Predicates

struct ValueComparisonTests {
  private func holds(_ a: AttributeValue, _ comparison: ComparisonOperator, _ b: AttributeValue) -> Bool {
    ValueComparison.holds(a, comparison, b)
  }

  @Test func nilEqualsNilAndIsInNoOrder() {
    #expect(holds(.null, .equal, .null) && !holds(.null, .notEqual, .null))
    #expect(!holds(.null, .equal, .int(0)) && holds(.null, .notEqual, .int(0)))
    for comparison in ComparisonOperator.allCases where comparison.isOrdering || comparison.isStringOperator {
      #expect(!holds(.null, comparison, .null) && !holds(.int(1), comparison, .null))
      #expect(!holds(.null, comparison, .string("")) && !holds(.string(""), comparison, .null))
    }
  }

  @Test func naNEqualsNothing() {
    let nan = AttributeValue.double(.nan)
    #expect(!holds(nan, .equal, nan) && holds(nan, .notEqual, nan))
    for comparison in ComparisonOperator.allCases where comparison.isOrdering {
      #expect(
        !holds(nan, comparison, nan) && !holds(nan, comparison, .int(1)) && !holds(.int(1), comparison, nan)
      )
    }
    let range = ValueRange(lower: nil, upper: nil)
    #expect(!ValueComparison.contains(range, nan) && !ValueComparison.contains(range, .null))
    #expect(ValueComparison.contains(range, .double(.infinity)))
  }

  @Test(arguments: [
    (AttributeValue.int(9_007_199_254_740_993), AttributeValue.double(9_007_199_254_740_992), 1),
    (.int(.max), .double(9_223_372_036_854_775_808), -1),
    (.int(.min), .double(-9_223_372_036_854_775_808), 0),
    (.uint(.max), .double(18_446_744_073_709_551_616), -1),
    (.uint(1 << 63), .double(9_223_372_036_854_775_808), 0),
    (.int(-1), .uint(.max), -1), (.int(0), .double(-0.0), 0), (.int(3), .double(3.5), -1),
    (.int(-3), .double(-3.5), 1),
    (.int(.max), .double(.infinity), -1), (.int(.min), .double(-.infinity), 1), (.double(0.1), .int(0), 1),
  ])
  func numbersCompareExactlyAcrossTypes(_ a: AttributeValue, _ b: AttributeValue, _ sign: Int) {
    #expect(ValueComparison.order(a, b)?.signum() == sign)
    #expect(ValueComparison.order(b, a)?.signum() == -sign)
  }

  @Test func stringsCompareByTheirBytes() {
    #expect(!holds(.string("é"), .equal, .string("e\u{301}")))
    #expect(holds(.string("Z"), .less, .string("a")) && holds(.string("z"), .less, .string("é")))
    #expect(holds(.string("\u{FFFF}"), .less, .string("🎉")))
    #expect(holds(.string("a"), .less, .string("aa")) && holds(.string(""), .less, .string("\0")))
  }

  @Test(arguments: [
    ("banana", "ana", true), ("banana", "", true), ("", "", true), ("", "a", false), ("aab", "ab", true),
    ("ab", "abc", false), ("aaaaab", "aab", true), ("banana", "nab", false), ("🎉é", "é", true),
    ("xa", "a", true),
  ])
  func containsFindsParts(_ text: String, _ part: String, _ isFound: Bool) {
    #expect(ValueComparison.holds(.string(text), .contains, .string(part)) == isFound)
  }

  @Test func prefixesAndSuffixesAreBytes() {
    #expect(
      holds(.string("éa"), .beginsWith, .string("é")) && !holds(.string("é"), .beginsWith, .string("e"))
    )
    #expect(
      holds(.string("abc"), .endsWith, .string("bc")) && !holds(.string("bc"), .endsWith, .string("abc"))
    )
    #expect(holds(.string("e\u{301}"), .beginsWith, .string("e")))
  }

  @Test func sortingIsTotal() {
    let ordered: [AttributeValue] = [
      .null, .double(-.infinity), .double(-1), .int(0), .double(0.5), .int(1), .uint(.max),
      .double(.infinity),
      .double(.nan),
    ]
    for (i, a) in ordered.enumerated() {
      for (j, b) in ordered.enumerated() {
        #expect(ValueComparison.sortOrder(a, b).signum() == (i - j).signum(), "\(a) \(b)")
      }
    }
    #expect(ValueComparison.sortOrder(.double(-0.0), .double(0)) == 0)
    let never = Date(timeIntervalSinceReferenceDate: .nan)
    #expect(ValueComparison.precedes(.date(.distantFuture), .date(never)))
    #expect(ValueComparison.precedes(.null, .date(.distantPast)))
  }

  @Test func sortingIsAntisymmetricAndTransitive() {
    var random = SeededGenerator()
    let values = (0..<120).map { _ in RandomValues.value(&random) }
    for a in values {
      for b in values {
        #expect(ValueComparison.sortOrder(a, b).signum() == -ValueComparison.sortOrder(b, a).signum())
      }
    }
    let sorted = values.sorted(by: ValueComparison.precedes)
    for (i, a) in sorted.enumerated() {
      for b in sorted[i...] { #expect(ValueComparison.sortOrder(a, b) <= 0, "\(a) \(b)") }
    }
  }
}
