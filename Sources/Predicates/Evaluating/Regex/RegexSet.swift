import Synchronization

/// A part of a pattern that takes one unit: the library's `Regex` decides which unit.
///
/// A pattern of a single set or letter takes the library constant time. For ASCII, the library's answers are cached.
final class RegexSet<Unit: RegexUnit>: Sendable {
  private let regex: LibraryRegex
  /// The cached answers for the characters below 64, and for those from 64 to 127.
  private let low = ASCIIAnswers()
  private let high = ASCIIAnswers()

  init(_ source: String, ignoresCase: Bool) throws(RegexRefusal) {
    regex = try LibraryRegex(source, Unit.semantics, ignoresCase: ignoresCase)
  }

  /// Returns whether the set takes a unit. `memory` holds the earlier answers of this match.
  func contains(_ unit: Unit, _ memory: inout [Unit: Bool]) -> Bool {
    let text = unit.text
    if text.utf8.count == 1, let byte = text.utf8.first {
      return byte < 64
        ? low.answer(byte, asking: regex, text) : high.answer(byte - 64, asking: regex, text)
    }
    if let known = memory[unit] { return known }
    let answer = regex.fitsWhole(text)
    memory[unit] = answer
    return answer
  }
}

/// The library's answers for 64 characters.
private struct ASCIIAnswers: ~Copyable {
  private let isKnown = Atomic<UInt64>(0)
  private let isTaken = Atomic<UInt64>(0)

  func answer(_ number: UInt8, asking regex: LibraryRegex, _ text: String) -> Bool {
    let bit: UInt64 = 1 << UInt64(number)
    if isKnown.load(ordering: .acquiring) & bit != 0 { return isTaken.load(ordering: .relaxed) & bit != 0 }
    let answer = regex.fitsWhole(text)
    if answer { isTaken.bitwiseOr(bit, ordering: .relaxed) }
    isKnown.bitwiseOr(bit, ordering: .releasing)
    return answer
  }
}

/// A part of a pattern that holds at some positions of a text: the library's `Regex` decides at which positions.
struct RegexAssertion: Sendable {
  private let regex: LibraryRegex

  init(_ source: String, _ semantics: RegexSemanticLevel) throws(RegexRefusal) {
    regex = try LibraryRegex(source, semantics, ignoresCase: false)
  }

  /// Returns the positions, ascending, in one pass over the text: each match of an assertion is empty.
  func positions(in text: String) -> [String.Index] { regex.starts(in: text) }
}

/// A small pattern that is matched by the library.
// Safety: made from text alone, so it runs no foreign code; matching changes nothing but a program that is compiled
// when it is first needed, which the library stores atomically.
struct LibraryRegex: @unchecked Sendable {
  private let regex: Regex<AnyRegexOutput>

  init(_ source: String, _ semantics: RegexSemanticLevel, ignoresCase: Bool) throws(RegexRefusal) {
    do {
      let regex = try Regex(source).matchingSemantics(semantics)
      self.regex = ignoresCase ? regex.ignoresCase() : regex
    } catch {
      throw .unsupported(source)
    }
  }

  func fitsWhole(_ text: String) -> Bool {
    // Only foreign code inside a pattern throws while it matches.
    ((try? regex.wholeMatch(in: text)) ?? nil) != nil
  }

  func starts(in text: String) -> [String.Index] { text.matches(of: regex).map(\.range.lowerBound) }
}
