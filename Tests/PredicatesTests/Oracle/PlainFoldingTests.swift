import Testing

@testable import Predicates

/// The oracle's tables of letters cover all forms of its texts, so a different answer is a mistake of the engine.
struct PlainFoldingTests {
  private static let options: [(oracle: PlainFolding, engine: StringOptions)] = [
    (.none, []), (.c, .caseInsensitive), (.d, .diacriticInsensitive),
    (.cd, [.caseInsensitive, .diacriticInsensitive]), (.n, .normalized),
  ]

  /// Every pair of letters, each as it is, in capitals and in small letters: marks combine with the letter before them.
  private static func texts() -> [String] {
    let letters = PlainWorld.letters + [""]
    return letters.flatMap { first in letters.map { first + $0 } }
      .flatMap { [$0, $0.uppercased(), $0.lowercased()] }
  }

  @Test func allLettersAreKnownInCapitalsToo() {
    for text in Self.texts() {
      for (oracle, engine) in Self.options {
        #expect(
          oracle.fold(text).utf8.elementsEqual(StringFolding.fold(text, engine).utf8),
          "\(text.debugDescription)\(engine.formatText)"
        )
      }
    }
  }

  /// A “ß” in capitals is “SS”, which is “ss” again when folded.
  @Test func aLettersCapitalsFoldAsTheLetterDoes() {
    let text = PlainExpression.literal(.text("ßA"))
    let twice = PlainExpression.call(.add, [.call(.uppercase, [text]), text])
    let object = PlainObject(entity: PlainWorld.fetched, number: 1, values: [:])
    let scene = PlainScene(PlainWorld(attributes: [:], rows: [:]), object)
    #expect(!PlainPredicate.calculated(twice, .less, text, .c).holds(scene))
    #expect(PlainPredicate.calculated(twice, .beginsWith, text, .c).holds(scene))
    #expect(PlainPredicate.calculated(.call(.uppercase, [text]), .equal, text, .c).holds(scene))
  }
}
