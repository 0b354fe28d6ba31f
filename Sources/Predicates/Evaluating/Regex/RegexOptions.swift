/// The options that `(?i)` and the like have set at the parser's position: on or off, by their letters.
struct RegexOptions {
  private var settings: [Character: Bool] = [:]

  /// Options that sets and assertions depend on.
  private static let meaningful: Set<Character> = ["i", "s", "m", "D", "S", "W", "P"]
  /// Options about groups and about the choice among several ways: they don't affect whether a whole text fits.
  private static let indifferent: Set<Character> = ["U", "n"]

  /// Applies letters as in `(?i-s)`; returns false if one is unknown.
  mutating func change(_ letters: some Sequence<Character>) -> Bool {
    var isOn = true
    for letter in letters {
      if letter == "-" {
        isOn = false
      } else if Self.meaningful.contains(letter) {
        settings[letter] = isOn
      } else if !Self.indifferent.contains(letter) {
        return false
      }
    }
    return true
  }

  /// True if the case of letters is ignored; nil if the pattern doesn't say.
  var ignoresCase: Bool? { settings["i"] }

  /// The prefix for a set or an assertion, so that it has the same meaning alone.
  var prefix: String {
    let on = settings.filter(\.value).keys.sorted()
    let off = settings.filter { !$0.value }.keys.sorted()
    return settings.isEmpty ? "" : "(?" + String(on) + (off.isEmpty ? "" : "-" + String(off)) + ")"
  }
}
