/// What `(?i)` and its like have said where the parser is: which options are on or off, by their letters.
struct RegexOptions {
  private var settings: [Character: Bool] = [:]

  /// Options that sets and assertions depend on.
  private static let meaningful: Set<Character> = ["i", "s", "m", "D", "S", "W", "P"]
  /// Options about groups and about which of several ways is taken: to whether a whole text fits they make no difference.
  private static let indifferent: Set<Character> = ["U", "n"]

  /// Takes up letters as in `(?i-s)`; false if there is one that isn't known.
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

  /// Whether letters fit whatever their case, if anything was said of it.
  var ignoresCase: Bool? { settings["i"] }

  /// What is written before a set or an assertion, so that it means the same alone.
  var prefix: String {
    let on = settings.filter(\.value).keys.sorted()
    let off = settings.filter { !$0.value }.keys.sorted()
    return settings.isEmpty ? "" : "(?" + String(on) + (off.isEmpty ? "" : "-" + String(off)) + ")"
  }
}
