/// A pattern of `MATCHES`: a regular expression in the syntax of Swift's `Regex`, which the whole string has to fit.
///
/// Without options a character of the pattern is a Unicode scalar. With `[c]` or `[n]` it is a grapheme cluster, so
/// that canonically equivalent texts are equal, and with `[c]` letters match whatever their case. `[d]` has no
/// meaning here.
///
/// The library decides which texts are patterns, which characters a set such as `\w` takes, and where an assertion
/// such as `\b` holds. An automaton matches the sequence of these parts. So matching takes time proportional to
/// text × pattern in all cases. Constructs that an automaton can't follow are refused: references to groups,
/// looking behind, atomic groups and possessive repetitions.
package struct RegexPattern: Sendable {
  /// The longest pattern, in UTF-8 bytes.
  static let maximumLength = 1_000
  /// The greatest number of `[` in a pattern: the library's parser recurses into nested sets without a limit of its
  /// own.
  static let maximumSetCount = 32

  enum Program: Sendable {
    case byScalars(RegexProgram<Unicode.Scalar>)
    case byCharacters(RegexProgram<Character>)
  }

  let program: Program

  /// Makes a pattern of a text.
  ///
  /// - Throws: `tooComplex` for a pattern beyond the limits, `syntax` for an invalid or unsupported pattern,
  ///   `typeMismatch` for `[d]`.
  package init(_ text: String, _ options: StringOptions) throws(QueryError) {
    try Self.check(text, options)
    do {
      _ = try Regex(text)
    } catch {
      throw QueryError(.syntax, "“\(text)” is no pattern for MATCHES: \(error)")
    }
    do throws(RegexRefusal) {
      program =
        options.isEmpty
        ? .byScalars(try Self.program(text, ignoresCase: false))
        : .byCharacters(try Self.program(text, ignoresCase: options.contains(.caseInsensitive)))
    } catch {
      throw QueryError(error.code, "“\(text)” is no pattern for MATCHES: \(error.reason)")
    }
  }

  private static func check(_ text: String, _ options: StringOptions) throws(QueryError) {
    guard !options.contains(.diacriticInsensitive) else {
      throw QueryError(
        .typeMismatch,
        "The option [d] is not supported after MATCHES: diacritics in a pattern can't be ignored."
      )
    }
    guard text.utf8.count <= maximumLength else {
      let message =
        "A pattern of MATCHES has \(maximumLength) bytes at most; this one has \(text.utf8.count)."
      throw QueryError(.tooComplex, message)
    }
    guard text.utf8.count(where: { $0 == UInt8(ascii: "[") }) <= maximumSetCount else {
      throw QueryError(.tooComplex, "A pattern of MATCHES has \(maximumSetCount) sets in […] at most.")
    }
    if !options.isEmpty, let reason = RegexTrap.find(in: text) {
      throw QueryError(.syntax, "“\(text)” is no pattern for MATCHES: \(reason)")
    }
  }

  private static func program<Unit>(
    _ text: String,
    ignoresCase: Bool
  ) throws(RegexRefusal) -> RegexProgram<Unit> {
    var parser = RegexParser<Unit>(text, ignoresCase: ignoresCase)
    return try RegexProgram(parser.parse(), ignoresCase: ignoresCase)
  }

  /// Returns whether the whole text fits. O(text × pattern), repetitions with numbers written out.
  package func matches(_ text: String) -> Bool { match(text).isFit }

  /// Returns whether the whole text fits, and the number of steps.
  func match(_ text: String) -> (isFit: Bool, stepCount: Int) {
    switch program {
    case .byScalars(let program): Self.run(program, text)
    case .byCharacters(let program): Self.run(program, text)
    }
  }

  private static func run<Unit>(
    _ program: RegexProgram<Unit>,
    _ text: String
  ) -> (isFit: Bool, stepCount: Int) {
    var match = RegexMatch(program, text)
    let isFit = match.run()
    return (isFit, match.stepCount)
  }
}

extension RegexRefusal {
  fileprivate var code: QueryError.Code {
    switch self {
    case .unsupported: .syntax
    case .tooComplex: .tooComplex
    }
  }
}
