import Foundation

/// What `[c]` does to a string before it is compared: Unicode's full case folding, and canonical composition
/// so that canonically equivalent strings fold to the same bytes.
///
/// The result is NFC(fold(NFD(text))), with the folding of the Unicode version that the running standard
/// library knows: “Straße”, “STRASSE” and “strasse” are equal, and so are “É” in one scalar and “é” in two.
/// Nothing depends on a locale: the Turkish dotless ı stays apart from i. (Cherokee letters fold to small
/// ones here, to capital ones in Unicode's table: the same letters are equal.)
package enum CaseFolding {
  /// O(length). Text in ASCII is folded without a table.
  package static func fold(_ text: String) -> String {
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return foldASCII(text) }
    var folded = ""
    folded.reserveCapacity(text.utf8.count)
    for scalar in text.decomposedStringWithCanonicalMapping.unicodeScalars {
      folded.unicodeScalars.append(contentsOf: fold(scalar))
    }
    return folded.precomposedStringWithCanonicalMapping
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

  /// Unicode's folding of one scalar. The standard library offers only the mappings that foldings are made
  /// from: small, capital and small again leads every letter of a set to the same place.
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
