import TestSupport
import Testing

@testable import Predicates

/// Patterns of `MATCHES` take time proportional to text × pattern, and have the meaning of the library's `Regex`.
struct RegexAutomatonTests {
  private static let attacks = [
    "(.*)*c", "(.*.*.*.*.*.*)x", "(a*)*b", "(a+)+b", "(a|aa)+b", "(a|a)*b", "(a|a?)+b", "(.*a){12}b",
    "(a?){40}a{40}b",
    "([a-z]+)*1", "(\\w+\\s?)+!", "(?:a*?)*?b", "((a*)*)*b", "(a*a*a*a*)*$b", "(\\b|a)*b",
    "(?=(a*)*b)a*", "((?=(.*.*.*)x)a)*b", "((?!b)a*)*b", "((?=(?=(a|a)*$)a*$)a)*b",
  ]

  /// Twice the text takes twice the steps. A letter takes at most two times the number of steps in the pattern.
  @Test(arguments: attacks)
  func stepsGrowWithTheText(_ pattern: String) throws {
    for options: StringOptions in [[], .caseInsensitive] {
      let regex = try RegexPattern(pattern, options)
      let counts = [250, 500, 1_000].map { length in
        let match = regex.match(String(repeating: "a", count: length))
        #expect(!match.isFit)
        return match.stepCount
      }
      // At the beginning of the text, fewer alternatives are active, so there are fewer steps.
      let slack = 40 * regex.programLength
      #expect(counts[1] <= 2 * counts[0] + slack && counts[2] <= 2 * counts[1] + slack, "\(counts)")
      #expect(counts[2] <= 1_001 * 2 * regex.programLength, "\(counts) by \(regex.programLength) steps")
    }
  }

  @Test func randomPatternsTakeTheTextsThatANaiveMatcherTakes() throws {
    var generator = SeededGenerator()
    var (fitCount, count) = (0, 0)
    while count < 10_000 {
      let ignoresCase = generator.chance(1, in: 3)
      let plain = PlainRegex.random(depth: 4, ignoresCase, using: &generator)
      guard plain.text.utf8.count <= 200 else { continue }
      let regex = try RegexPattern(plain.text, ignoresCase ? .caseInsensitive : [])
      for _ in 0..<6 {
        let text = (0..<generator.number(in: 0...6)).map { _ in generator.pick(PlainRegex.alphabet) }
        let isFit = plain.takes(text)
        fitCount += isFit ? 1 : 0
        count += 1
        let subject = String(text)
        #expect(regex.matches(subject) == isFit, "\(plain.text.debugDescription) \(subject.debugDescription)")
      }
    }
    #expect(fitCount > count / 20)
  }

  /// Pattern, text, and whether it fits: by scalars, and by grapheme clusters.
  private static let meanings: [(String, String, Bool, Bool)] = [
    (#"\R"#, "\r\n", true, true), (#"\R\n"#, "\r\n", false, false), (#"\R+"#, "\r\r\n\n\u{2028}", true, true),
    ("..", "\r\n", false, false), (#"\r\n"#, "\r\n", true, true), (#"\s\s"#, "\r\n", true, false),
    (#".*\bfoo\b.*"#, "a foo b", true, true), (#".*\bfoo\b.*"#, "a foot", false, false),
    (#"\bcan't\b"#, "can't", true, true), (#"a\Bb"#, "ab", true, true), (#"a\bb"#, "ab", false, false),
    (#"a$"#, "a\n", false, false), (#"a\Z\n"#, "a\n", true, true), (#"(?m)a$\n^b"#, "a\nb", true, true),
    (#"a^b"#, "ab", false, false), (#"\Ga\z"#, "a", true, true), (#"a\u{301}"#, "á", false, true),
    ("e\u{301}+", "e\u{301}e\u{301}", true, true), (#"e\u{301}+"#, "e\u{301}\u{301}", true, false),
    (#"a(?#note)\u{301}"#, "á", false, true), (#"\u{61 62}+"#, "abab", true, true),
    (#"\x41\0102\u0043\U00000044\o{105}\N{LATIN CAPITAL LETTER F}"#, "ABCDEF", true, true),
    (#"\Qa.*\E.*"#, "a.*b", true, true), (#"\Qa.*\E.*"#, "aab", false, false), (#"a{,2}"#, "aa", true, true),
    (#"a{ 1, 2 }"#, "aaa", false, false), ("a{2", "a{2", true, true), ("a{}", "a{}", true, true),
    ("a{1,2,3}", "a{1,2,3}", true, true), ("|a", "", true, true), ("(a|)(b|)", "b", true, true),
    ("a(?i)b|c", "C", true, true), ("(?:a(?i)b)c", "aBC", false, false), ("(?i)a(?-i)b", "AB", false, false),
    ("(?i:é)", "É", true, true), ("(?s:.)", "\n", true, true), (#"(?D)\d"#, "٣", false, false),
    (#"\d+"#, "1٣", true, true), (#"[[:alpha:]]+"#, "aé", true, true), (#"[a-z&&[^b]]+"#, "ac", true, true),
    (#"[a-z&&[^b]]+"#, "ab", false, false), (#"[\w--\d]+"#, "a1", false, false),
    (#"\p{Lu}\P{Lu}"#, "Aa", true, true),
    ("(?<name>a)(?P<other>b)", "ab", true, true), (#"(a){3,}?"#, "aaaa", true, true),
    (#"(a|b){0}"#, "", true, true),
    ("[é]", "e\u{301}", false, true), ("[^a]", "\u{1F468}\u{200D}\u{1F469}", false, true),
    ("]}", "]}", true, true),
    (#"(?=.*[A-Z])(?=.*\d).{4,}"#, "abC1", true, true), (#"(?=.*[A-Z])(?=.*\d).{4,}"#, "abc1", false, false),
    (#"(?!foo|bar).*"#, "bar", false, false), (#"(?!foo|bar).*"#, "ba", true, true),
    ("(?:a(?!b).?)+", "aaac", true, true), ("(?:a(?!b).?)+", "aab", false, false),
    ("a(?=b)", "ab", false, false),
    ("(?i:(?=A))a", "a", true, true), ("(?=a(?!c))a.", "ab", true, true),
    ("(?=a(?!c))a.", "ac", false, false),
  ]

  @Test(arguments: meanings.indices)
  func patternsMeanWhatTheyMeanToTheLibrary(_ place: Int) throws {
    let (pattern, text, byScalars, byCharacters) = Self.meanings[place]
    let regex = try Regex(pattern)
    #expect(try RegexPattern(pattern, []).matches(text) == byScalars)
    #expect((try regex.matchingSemantics(.unicodeScalar).wholeMatch(in: text) != nil) == byScalars)
    #expect(try RegexPattern(pattern, .normalized).matches(text) == byCharacters)
    #expect((try regex.matchingSemantics(.graphemeCluster).wholeMatch(in: text) != nil) == byCharacters)
  }

  @Test(arguments: [
    (#"(a)\1"#, "refer"), (#"(?<n>a)\k<n>"#, "refer"), (#"(?<n>a)(?P=n)"#, "refer"),
    ("(?<=a)b", "look"), ("(?<!a)b", "look"), ("(?>a*)a", "atomic"),
    ("a*+a", "possessive"), ("a{2}+", "possessive"), ("(?x) a b", "(?x) is not supported"),
    (#"\X"#, "\\X is not supported"), (#"\y"#, "\\y is not supported"), ("(?^)a", "(?^ is not supported"),
    (#"[\Q]\E]"#, "\\Q in a set is not supported"),
  ])
  func whatAnAutomatonCannotFollowIsRefused(_ pattern: String, _ reason: String) {
    for options: StringOptions in [[], .normalized] {
      let error = performing { () throws(QueryError) in _ = try RegexPattern(pattern, options) }
      #expect(
        error?.code == .syntax && error?.message.contains(reason) == true,
        "\(String(describing: error))"
      )
    }
  }

  @Test(arguments: [
    "a{5000}", "(a{100}){100}", "((((a{9}){9}){9}){9}){9}", "a{60000}",
    String(repeating: "(", count: 51) + String(repeating: ")", count: 51),
  ])
  func whatIsTooLongWrittenOutIsRefused(_ pattern: String) {
    let error = performing { () throws(QueryError) in _ = try RegexPattern(pattern, []) }
    #expect(error?.code == .tooComplex)
  }

  @Test func repetitionsOfNothingTakeNoTime() throws {
    #expect(try RegexPattern("(?:(?:){60000}){60000}", []).matches(""))
    #expect(try RegexPattern("(?:(?:)*)*a", []).matches("a"))
    #expect(try RegexPattern("a{4999}", []).matches(String(repeating: "a", count: 4_999)))
  }
}

/// A pattern and its matches, found by trying every alternative from every position.
private indirect enum PlainRegex: Sendable {
  case unit(String, Set<Unicode.Scalar>)
  case assertion(String, @Sendable ([Unicode.Scalar], Int) -> Bool)
  case lookahead(PlainRegex, isNegative: Bool)
  case sequence([PlainRegex])
  case choice([PlainRegex])
  case repetition(PlainRegex, ClosedRange<Int>, String)

  static let alphabet: [Unicode.Scalar] = ["a", "b", "A", "1", " ", "\n", "é"]
  private static let longest = 10

  /// As a pattern.
  var text: String {
    switch self {
    case .unit(let text, _), .assertion(let text, _): text
    case .lookahead(let part, let isNegative): (isNegative ? "(?!" : "(?=") + part.text + ")"
    case .sequence(let parts): parts.map(\.text).joined()
    case .choice(let parts): "(" + parts.map(\.text).joined(separator: "|") + ")"
    case .repetition(let part, _, let quantifier): "(?:" + part.text + ")" + quantifier
    }
  }

  func takes(_ text: [Unicode.Scalar]) -> Bool { ends(of: text, from: [0]).contains(text.count) }

  private func ends(of text: [Unicode.Scalar], from starts: Set<Int>) -> Set<Int> {
    switch self {
    case .unit(_, let taken):
      Set(starts.filter { $0 < text.count && taken.contains(text[$0]) }.map { $0 + 1 })
    case .assertion(_, let holds): starts.filter { holds(text, $0) }
    case .lookahead(let part, let isNegative):
      starts.filter { part.ends(of: text, from: [$0]).isEmpty == isNegative }
    case .sequence(let parts): parts.reduce(starts) { $1.ends(of: text, from: $0) }
    case .choice(let parts): parts.reduce(into: []) { $0.formUnion($1.ends(of: text, from: starts)) }
    case .repetition(let part, let counts, _): repeated(part, counts, text, starts)
    }
  }

  private func repeated(
    _ part: PlainRegex,
    _ counts: ClosedRange<Int>,
    _ text: [Unicode.Scalar],
    _ starts: Set<Int>
  ) -> Set<Int> {
    var ends: Set<Int> = []
    var reached = starts
    for count in 0...counts.upperBound {
      if count >= counts.lowerBound { ends.formUnion(reached) }
      reached = part.ends(of: text, from: reached)
    }
    return ends
  }

  static func random(depth: Int, _ ignoresCase: Bool, using generator: inout SeededGenerator) -> PlainRegex {
    func part(_ generator: inout SeededGenerator) -> PlainRegex {
      random(depth: depth - 1, ignoresCase, using: &generator)
    }
    switch depth == 0 ? 0 : generator.number(in: 0...8) {
    case 1, 2: return .sequence((0..<generator.number(in: 0...3)).map { _ in part(&generator) })
    case 3: return .choice((0..<generator.number(in: 1...3)).map { _ in part(&generator) })
    case 4, 5:
      let (counts, quantifier) = generator.pick(quantifiers)
      return .repetition(part(&generator), counts, quantifier + generator.pick(["", "?"]))
    case 6: return generator.pick(assertions)
    case 8: return .lookahead(part(&generator), isNegative: generator.chance(1, in: 2))
    default: return generator.pick(units(ignoresCase))
    }
  }

  private static let quantifiers: [(ClosedRange<Int>, String)] = [
    (0...longest, "*"), (1...longest, "+"), (0...1, "?"), (2...2, "{2}"), (0...2, "{,2}"), (1...3, "{1,3}"),
    (2...longest, "{2,}"), (0...0, "{0}"),
  ]

  private static let assertions: [PlainRegex] = [
    .assertion("^") { $1 == 0 }, .assertion("\\A") { $1 == 0 }, .assertion("$") { $1 == $0.count },
    .assertion("\\z") { $1 == $0.count }, .assertion("(?m:^)") { $1 == 0 || $0[$1 - 1] == "\n" },
    .assertion("(?m:$)") { $1 == $0.count || $0[$1] == "\n" },
  ]

  private static func units(_ ignoresCase: Bool) -> [PlainRegex] {
    let all = Set(alphabet)
    let capital: Set<Unicode.Scalar> = ignoresCase ? ["A"] : []
    return [
      .unit("a", capital.union(["a"])), .unit("a", capital.union(["a"])), .unit("b", ["b"]),
      .unit("é", ["é"]),
      .unit("\\u{e9}", ["é"]), .unit("(?i:a)", ["a", "A"]), .unit("(?-i:a)", ["a"]),
      .unit(".", all.subtracting(["\n"])), .unit("(?s:.)", all), .unit("[ab]", capital.union(["a", "b"])),
      .unit("[^a]", all.subtracting(capital).subtracting(["a"])), .unit("\\d", ["1"]),
      .unit("\\s", [" ", "\n"]), .unit("\\S", all.subtracting([" ", "\n"])), .unit("\\R", ["\n"]),
      .unit("\\w", all.subtracting([" ", "\n"])),
    ]
  }
}

extension String {
  fileprivate init(_ scalars: [Unicode.Scalar]) { self.init(String.UnicodeScalarView(scalars)) }
}

extension RegexPattern {
  /// The number of steps of the automaton and of its lookaheads.
  fileprivate var programLength: Int {
    switch program {
    case .byScalars(let program): program.length
    case .byCharacters(let program): program.length
    }
  }
}
