/// A pattern of `MATCHES`: a regular expression in the syntax of Swift's `Regex`, which the whole string has to fit.
///
/// Without options a character of the pattern is a Unicode scalar. With `[c]` or `[n]` it is a grapheme cluster, so that
/// canonically equivalent texts are equal, and with `[c]` letters match whatever their case. `[d]` has no meaning here.
///
/// A pattern is code: some take time exponential in the length of the text. Only its length is limited, and how many sets
/// it has.
package struct RegexPattern {
  /// The longest pattern, in UTF-8 bytes.
  package static let maximumLength = 1_000
  /// How many `[` a pattern may have: the library's parser recurses into nested sets without a limit of its own.
  package static let maximumSetCount = 32

  private let pattern: Pattern

  // Safety: made from text alone, so it runs no foreign code; matching changes nothing but a program that is compiled
  // when it is first needed, which the library stores atomically.
  private struct Pattern: @unchecked Sendable {
    let regex: Regex<AnyRegexOutput>
  }

  /// - Throws: `tooComplex` for a pattern beyond the limits, `syntax` for what is no pattern, `typeMismatch` for `[d]`.
  package init(_ text: String, _ options: StringOptions) throws(QueryError) {
    guard !options.contains(.diacriticInsensitive) else {
      throw QueryError(
        .typeMismatch,
        "The option [d] is not supported after MATCHES: a pattern has no marks to leave out."
      )
    }
    guard text.utf8.count <= Self.maximumLength else {
      let message =
        "A pattern of MATCHES has \(Self.maximumLength) bytes at most; this one has \(text.utf8.count)."
      throw QueryError(.tooComplex, message)
    }
    guard text.utf8.count(where: { $0 == UInt8(ascii: "[") }) <= Self.maximumSetCount else {
      throw QueryError(.tooComplex, "A pattern of MATCHES has \(Self.maximumSetCount) sets in […] at most.")
    }
    if let reason = RegexTrap.find(in: text, isByCharacters: !options.isEmpty) {
      throw QueryError(.syntax, "“\(text)” is no pattern for MATCHES: \(reason)")
    }
    do {
      let regex = try Regex(text)
      pattern = Pattern(
        regex: options.isEmpty
          ? regex.matchingSemantics(.unicodeScalar)
          : regex.matchingSemantics(.graphemeCluster).ignoresCase(options.contains(.caseInsensitive))
      )
    } catch {
      throw QueryError(.syntax, "“\(text)” is no pattern for MATCHES: \(error)")
    }
  }

  /// Whether the whole text fits.
  package func matches(_ text: String) -> Bool {
    // Only foreign code inside a pattern throws while it matches.
    ((try? pattern.regex.wholeMatch(in: text)) ?? nil) != nil
  }
}

extension RegexPattern: Sendable {}
