import Foundation
import TestSupport
import Testing

@testable import Predicates

struct LikePatternTests {
  private func fits(_ text: String, _ pattern: String, _ options: StringOptions = []) -> Bool {
    ValueComparison.holds(.string(text), .like, .string(pattern), options)
  }

  @Test(arguments: [
    ("Carey", "Ca*", true), ("Carey", "*y", true), ("Carey", "C*r*y", true), ("Carey", "C?rey", true),
    ("Carey", "C?ey", false), ("Carey", "carey", false), ("Carey", "Carey", true), ("Carey", "Care", false),
    ("", "", true), ("", "*", true), ("", "?", false), ("a", "", false), ("a", "**", true),
    ("ab", "?", false),
    ("ab", "??", true), ("ab", "?*?", true), ("a", "?*?", false), ("aXbXc", "*X?", true), ("*", "\\*", true),
    ("x", "\\*", false), ("a?b", "a\\?b", true), ("axb", "a\\?b", false), ("a\\b", "a\\\\b", true),
    ("a\\", "a\\", true), ("ab", "\\a\\b", true), ("🎉", "?", true), ("é", "?", true),
    ("e\u{301}", "?", false),
    ("e\u{301}", "??", true), ("a\nb", "a*b", true), ("a\0b", "a?b", true), ("aab", "*ab", true),
    ("abab", "*ab", true), ("mississippi", "*iss*ip*", true), ("mississippi", "*iss*ix*", false),
  ])
  func wildcardsFit(_ text: String, _ pattern: String, _ isFit: Bool) {
    #expect(fits(text, pattern) == isFit)
  }

  @Test func optionsFoldTextAndPattern() {
    #expect(fits("CAREY", "ca*Y", .caseInsensitive) && fits("e\u{301}", "?", .caseInsensitive))
    #expect(
      fits("Straße", "STRASS?", .caseInsensitive)
        && fits("Ébène", "eb?ne", [.caseInsensitive, .diacriticInsensitive])
    )
    let (escapedMark, markThenRun) = ("e\\\u{301}", "a\\\u{301}*")
    #expect(fits("é", "e\u{301}", .normalized) && fits("é", escapedMark, .normalized))
    #expect(fits("ab", markThenRun, .diacriticInsensitive), "a mark that is stripped leaves no backslash")
    #expect(!fits("e\u{301}", "e*", .normalized), "the mark is part of its letter")
  }

  /// A long text against many runs: with backtracking into earlier runs it wouldn't end.
  @Test func manyRunsTakeNoLonger() {
    let pattern = String(repeating: "a*", count: 500) + "b"
    #expect(!fits(String(repeating: "a", count: 20_000), pattern))
  }

  @Test func randomPatternsAgreeWithANaiveMatcher() {
    func naive(_ text: ArraySlice<Unicode.Scalar>, _ pattern: ArraySlice<Unicode.Scalar>) -> Bool {
      guard let first = pattern.first else { return text.isEmpty }
      switch first {
      case "*": return (0...text.count).contains { naive(text.dropFirst($0), pattern.dropFirst()) }
      case "?": return !text.isEmpty && naive(text.dropFirst(), pattern.dropFirst())
      case "\\" where pattern.count > 1:
        return text.first == pattern.dropFirst().first && naive(text.dropFirst(), pattern.dropFirst(2))
      default: return text.first == first && naive(text.dropFirst(), pattern.dropFirst())
      }
    }
    var random = SeededGenerator()
    var matchCount = 0
    for _ in 0..<20_000 {
      func text(_ pieces: [String], _ longest: Int) -> String {
        (0..<random.number(in: 0...longest)).map { _ in random.pick(pieces) }.joined()
      }
      let subject = text(["a", "b", "é", "🎉", "*", "\\"], 7)
      let pattern = text(["a", "b", "é", "🎉", "*", "*", "?", "\\", "\\*"], 6)
      let expected = naive(Array(subject.unicodeScalars)[...], Array(pattern.unicodeScalars)[...])
      matchCount += expected ? 1 : 0
      #expect(fits(subject, pattern) == expected, "\(subject.debugDescription) \(pattern.debugDescription)")
    }
    #expect(matchCount > 500)
  }

  @Test func anyBytesAreMatchedWithoutATrap() {
    var random = SeededGenerator()
    for _ in 0..<2_000 {
      let pattern = LikePattern(random.pick(["?", "*?", "é*", "a?*b", "??*??"]), [])
      random.bytes(random.number(in: 0...9)).withUnsafeBytes { _ = pattern.matches($0) }
    }
  }
}

struct RegexPatternTests {
  private func fits(_ text: String, _ pattern: String, _ options: StringOptions = []) throws -> Bool {
    let isFit = try RegexPattern(pattern, options).matches(text)
    #expect(ValueComparison.holds(.string(text), .matches, .string(pattern), options) == isFit)
    return isFit
  }

  @Test(arguments: [
    ("N123", "N[0-9]+", true), ("xN123", "N[0-9]+", false), ("N123x", "N[0-9]+", false), ("", "", true),
    ("", "a*", true),
    ("abc", "a.c", true), ("a\nc", "a.c", false), ("é", ".", true), ("e\u{301}", ".", false),
    ("e\u{301}", "..", true),
    ("é", "e\u{301}", false), ("A", "a", false), ("A", "(?i)a", true),
  ])
  func theWholeStringHasToFit(_ text: String, _ pattern: String, _ isFit: Bool) throws {
    #expect(try fits(text, pattern) == isFit)
  }

  @Test func optionsMatchByGraphemeClusters() throws {
    #expect(try fits("É", "e\u{301}", .caseInsensitive) && fits("CAFE\u{301}", "café", .caseInsensitive))
    #expect(try fits("e\u{301}", "é", .normalized) && fits("e\u{301}", ".", .normalized))
    #expect(try !fits("É", "é", .normalized))
  }

  @Test func aPatternTooLongIsRefused() throws {
    let longest = String(repeating: "a", count: RegexPattern.maximumLength)
    #expect(try fits(longest, longest))
    #expect(
      performing { () throws(QueryError) in _ = try RegexPattern(longest + "a", []) }?.code == .tooComplex
    )
  }

  /// The library's `Regex` takes each of these, and traps when it matches by grapheme clusters.
  @Test(arguments: [
    #"[a-c\u{301}]"#, #"[a-c\u{ 301 }]"#, #"[^x!-\]\u0301]"#, #"[a-c\U00000301]"#, #"[a-c\o{1401}]"#,
    #"[!-\060\u{301}]"#, #"[\t-\r\n]"#, #"[\t-\x0D\x{0A}]"#, "[a-\\u{1100}\u{1161}]", #"[a-\u{600}b]"#,
    #"[\u{1F1E6}-\u{1F1FF}\u{1F1E6}]"#,
    #"[a-\u{1F468}\u{200D}]"#,
  ])
  func aRangeThatIsJoinedByWhatFollowsItIsRefused(_ pattern: String) throws {
    for options: StringOptions in [.caseInsensitive, .normalized] {
      #expect(performing { () throws(QueryError) in _ = try RegexPattern(pattern, options) }?.code == .syntax)
    }
    _ = try fits("b", pattern)
  }

  @Test func setsThatDoNoHarmAreTaken() throws {
    #expect(
      try fits("É1", #"[a-z\u{e9}é\d]+"#, .caseInsensitive)
        && fits("a\u{301}", #"[^\u{300}-\u{36F}]"#, .normalized)
    )
    #expect(try fits("-b", #"[a-c-]+"#, .caseInsensitive) && fits("\n", #"[\r\n\t-\u{B}]"#, .normalized))
    #expect(try fits("{0}", #"[{]0\}"#) && fits("", "a{0}"))
  }

  @Test(arguments: ["(", "[", "{", "(?:", "(?=", "(?>", "((a)|", "[a&&[", "(?i)", "a|", "*", "\\"])
  func nestingAsDeepAsTheLengthAllowsIsNoCrash(_ opening: String) async {
    let text = String(repeating: opening, count: RegexPattern.maximumLength / opening.utf8.count)
    await onASmallStack {
      for pattern in [text, text.prefix(text.count / 2) + String(repeating: ")", count: 400)] {
        _ = try? RegexPattern(String(pattern), []).matches("a")
      }
    }
  }
}
