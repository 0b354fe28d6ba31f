import Foundation

/// The folding of a string by `[c]`, `[d]` and `[n]` before it is compared.
///
/// | options | result |
/// |---|---|
/// | `[n]` | NFC(text) |
/// | `[c]` | NFC(fold(NFD(text))), by Unicode's full case folding |
/// | `[d]` | NFC(strip(NFD(text))), without nonspacing marks (general category Mn) |
/// | `[cd]` | NFC(fold(strip(NFD(text)))) |
///
/// So canonically equivalent strings fold to the same bytes whatever the options, and folding twice changes
/// nothing. The tables are those of the Unicode version that the running standard library knows: “Straße”,
/// “STRASSE” and “strasse” are equal by `[c]`, and so are “É” in one scalar and “é” in two; “Ångström” and
/// “Angstrom” are by `[d]`. A letter with a stroke (ø, ł) has no mark to strip. Nothing depends on a locale: the
/// Turkish dotless ı stays apart from i. (Cherokee letters fold to small ones here, to capital ones in Unicode's
/// table: the same letters are equal.)
package enum StringFolding {
  /// Returns the folded text. O(length). Text in ASCII is folded without a table.
  package static func fold(_ text: String, _ options: StringOptions) -> String {
    if options.isEmpty { return text }
    if text.utf8.allSatisfy({ $0 < 0x80 }) {
      return options.contains(.caseInsensitive) ? foldASCII(text) : text
    }
    if options == .normalized { return text.precomposedStringWithCanonicalMapping }
    var folded = String.UnicodeScalarView()
    folded.reserveCapacity(text.utf8.count)
    for scalar in text.decomposedStringWithCanonicalMapping.unicodeScalars {
      if options.contains(.diacriticInsensitive), scalar.properties.generalCategory == .nonspacingMark {
        continue
      }
      if options.contains(.caseInsensitive) {
        folded.append(contentsOf: fold(scalar))
      } else {
        folded.append(scalar)
      }
    }
    return String(folded).precomposedStringWithCanonicalMapping
  }

  private static func foldASCII(_ text: String) -> String {
    let upper = UInt8(ascii: "A")...UInt8(ascii: "Z")
    guard text.utf8.contains(where: upper.contains) else { return text }
    return String(unsafeUninitializedCapacity: text.utf8.count) { buffer in
      var count = 0
      for byte in text.utf8 {
        buffer[count] = upper.contains(byte) ? byte | 0x20 : byte
        count += 1
      }
      return count
    }
  }

  /// Returns Unicode's folding of one scalar. The standard library offers only the mappings that foldings are made
  /// from: small, capital and small again leads every letter of a set to one letter.
  private static func fold(_ scalar: Unicode.Scalar) -> String.UnicodeScalarView {
    // Its capital is I, but its folding is itself.
    if scalar == "\u{131}" { return String(scalar).unicodeScalars }
    var result = String.UnicodeScalarView()
    for small in scalar.properties.lowercaseMapping.unicodeScalars {
      for capital in small.properties.uppercaseMapping.unicodeScalars {
        result.append(contentsOf: capital.properties.lowercaseMapping.unicodeScalars)
      }
    }
    return result
  }
}
