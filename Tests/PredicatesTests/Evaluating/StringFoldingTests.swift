import TestSupport
import Testing

@testable import Predicates

/// What the options make of strings.
@Suite struct StringFoldingTests {
  private static let all: [StringOptions] = [
    .caseInsensitive, .diacriticInsensitive, .normalized, [.caseInsensitive, .diacriticInsensitive],
  ]

  private func areEqual(_ a: String, _ b: String, _ options: StringOptions) -> Bool {
    ValueComparison.holds(.string(a), .equal, .string(b), options)
  }

  @Test(arguments: [
    ("CAREY", "carey", true), ("Straße", "STRASSE", true), ("É", "e\u{301}", true), ("ΣΑΣ", "σας", true),
    ("ſ", "S", true), ("\u{212A}", "k", true), ("ẞ", "ss", true), ("ﬁ", "FI", true), ("İ", "i\u{307}", true),
    ("ı", "I", false), ("é", "e", false), ("Ω", "\u{2126}", true), ("a", "b", false), ("ǆ", "ǅ", true),
  ])
  func caseFoldingIsUnicodes(_ a: String, _ b: String, _ isEqual: Bool) {
    #expect(areEqual(a, b, .caseInsensitive) == isEqual)
  }

  @Test(arguments: [
    ("Ångström", "Angstrom", true), ("é", "e", true), ("e\u{301}\u{323}", "ẹ", true), ("ñ", "N", false),
    ("e\u{301}", "é", true), ("\u{301}", "", true), ("ø", "o", false), ("ł", "l", false),
    ("Straße", "Strasse", false),
    ("\u{FB1D}", "\u{5D9}", true), ("각", "\u{1100}\u{1161}\u{11A8}", true), ("ς", "σ", false),
    ("İ", "I", true),
  ])
  func marksAreStripped(_ a: String, _ b: String, _ isEqual: Bool) {
    #expect(areEqual(a, b, .diacriticInsensitive) == isEqual)
  }

  @Test(arguments: [
    ("é", "e\u{301}", true), ("é", "e", false), ("é", "É", false), ("\u{212B}", "Å", true),
    ("ﬁ", "fi", false),
    ("q\u{307}\u{323}", "q\u{323}\u{307}", true), ("가", "\u{1100}\u{1161}", true),
  ])
  func normalisationIsCanonical(_ a: String, _ b: String, _ isEqual: Bool) {
    #expect(areEqual(a, b, .normalized) == isEqual)
  }

  @Test func bothFoldingsTogetherDoBoth() {
    let both: StringOptions = [.caseInsensitive, .diacriticInsensitive]
    #expect(areEqual("ÉCOLE", "ecole", both) && areEqual("İstanbul", "istanbul", both))
    #expect(
      !areEqual("ÉCOLE", "ecole", .caseInsensitive) && !areEqual("ÉCOLE", "ecole", .diacriticInsensitive)
    )
  }

  @Test func theOtherOptionsImplyNormalisation() {
    for options in Self.all {
      #expect(areEqual("a\u{30A}", "å", options))
      #expect(options.union(.normalized).folding == options)
    }
  }

  @Test func foldingTwiceChangesNothing() {
    var random = SeededGenerator()
    for _ in 0..<20_000 {
      guard let scalar = Unicode.Scalar(UInt32(random.number(in: 0...0x2FFFF))) else { continue }
      for options in Self.all {
        let folded = StringFolding.fold(String(scalar) + "x", options)
        let again = StringFolding.fold(folded, options)
        #expect(
          again.utf8.elementsEqual(folded.utf8),
          "\(String(scalar.value, radix: 16))\(options.formatText)"
        )
      }
    }
  }

  @Test func bytesFoldAsStringsDo() {
    var random = SeededGenerator()
    for _ in 0..<2_000 {
      var text = RandomValues.text(&random)
      for options in Self.all + [[]] {
        let folded = Array(StringFolding.fold(text, options).utf8)
        let bytes = text.withUTF8 {
          FoldedBytes.withFolded(UnsafeRawBufferPointer($0), options) { Array($0) }
        }
        #expect(bytes == folded, "\(text.debugDescription)\(options.formatText)")
      }
    }
  }

  @Test func aSearchFoldsBothSides() {
    let both: StringOptions = [.caseInsensitive, .diacriticInsensitive]
    func holds(_ a: String, _ comparison: ComparisonOperator, _ b: String, _ options: StringOptions) -> Bool {
      ValueComparison.holds(.string(a), comparison, .string(b), options)
    }
    #expect(holds("Hauptstraße 5", .contains, "STRASS", .caseInsensitive))
    #expect(holds("Écho", .beginsWith, "é", .caseInsensitive))
    #expect(!holds("écho", .beginsWith, "e", .caseInsensitive) && holds("écho", .beginsWith, "E", both))
    #expect(holds("CAFÉ", .endsWith, "fe", both) && !holds("CAFÉ", .endsWith, "fe", .diacriticInsensitive))
    #expect(holds("b", .greater, "A", .caseInsensitive) && holds("é", .less, "f", .diacriticInsensitive))
    #expect(holds("cafe\u{301}s", .contains, "é", .normalized) && !holds("cafe\u{301}s", .contains, "é", []))
  }
}
