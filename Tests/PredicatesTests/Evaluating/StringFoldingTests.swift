import TestSupport
import Testing

@testable import Predicates

/// The results of folding strings with each option.
struct StringFoldingTests {
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

  /// Every byte, at every place of a few words of eight bytes.
  @Test func bytesFoldWhereverTheyAre() {
    for length in 1...18 {
      for place in 0..<length {
        for byte in UInt8(0)..<0x80 {
          var bytes = [UInt8](repeating: UInt8(ascii: "Q"), count: length)
          bytes[place] = byte
          let small = bytes.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 + 32 : $0 }
          let folded = bytes.withUnsafeBytes { FoldedBytes.withFolded($0, .caseInsensitive) { Array($0) } }
          #expect(folded == small)
        }
        var text = [UInt8](repeating: UInt8(ascii: "Q"), count: length)
        text.replaceSubrange(place...place, with: "É".utf8)
        let expected = Array(
          StringFolding.fold(String(decoding: text, as: UTF8.self), [.diacriticInsensitive]).utf8
        )
        let folded = text.withUnsafeBytes { FoldedBytes.withFolded($0, .diacriticInsensitive) { Array($0) } }
        #expect(folded == expected && expected[place] == UInt8(ascii: "E"))
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

  private static func age(_ value: UInt32) -> Unicode.Version? { Unicode.Scalar(value)?.properties.age }

  @Test func theTablesAreKnownByTheirNewestScalar() {
    let newest = UnicodeTables.version(step: 1, age: Self.age)
    #expect(UnicodeTables.version(age: Self.age) == newest)
    #expect(StringFolding.tables == "1/\(newest.major).\(newest.minor)")
  }

  /// The tables of each version, made from the newest ones by leaving out later scalars. A new version would be
  /// noticed as every other version since 2014 is.
  @Test func eachVersionOfUnicodeIsNoticedByTheStartsOfColumns() {
    var counts: [String: (version: Unicode.Version, scalars: Int)] = [:]
    for value in 0..<UInt32(UnicodeTables.scalarCount) {
      guard let age = Self.age(value), age >= (7, 0) else { continue }
      counts["\(age)", default: (age, 0)].scalars += 1
    }
    #expect(counts.count >= 12)
    for (version, scalars) in counts.values {
      let found = UnicodeTables.version { value in Self.age(value).flatMap { $0 <= version ? $0 : nil } }
      // 12.1 brought one scalar, the sign of a Japanese era, which isn't folded.
      #expect(found == version || scalars == 1, "\(version)")
    }
  }

  /// 12.1, the one version whose scalar starts no column, changed no folding.
  @Test func theScalarOfTheVersionThatIsNotNoticedFoldsToItself() {
    let text = "\u{32FF}"
    for options in Self.all { #expect(StringFolding.fold(text, options) == text) }
  }
}
