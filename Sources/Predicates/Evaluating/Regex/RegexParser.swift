/// A parser of the structure of a pattern that the library has accepted: groups, alternatives, repetitions. Parts that
/// take one character, or none, are left to the library.
///
/// The parser refuses constructs that an automaton can't follow.
struct RegexParser<Unit: RegexUnit> {
  /// A group that is open, or the pattern.
  private struct Frame {
    var alternatives: [RegexNode<Unit>] = []
    var sequence: [RegexNode<Unit>] = []
    var options: RegexOptions
    /// True for a negative lookahead, false for a positive one; nil for a group that takes its content.
    var isNegative: Bool?
  }

  /// The greatest nesting depth. A pattern that is nested deeper is refused, so that recursion over it needs little
  /// stack.
  static var depthLimit: Int { 50 }

  private let pattern: [Character]
  private var place = 0
  /// True if the case of letters is ignored unless the pattern says otherwise.
  private let ignoresCase: Bool
  private var frame = Frame(options: RegexOptions())
  private var outer: [Frame] = []
  /// Literals in a row: neighbours may make one grapheme cluster. A repetition applies to the last one.
  private var run: [[Unicode.Scalar]] = []

  init(_ pattern: String, ignoresCase: Bool) {
    self.pattern = Array(pattern)
    self.ignoresCase = ignoresCase
  }

  /// Returns the pattern's parts.
  mutating func parse() throws(RegexRefusal) -> RegexNode<Unit> {
    while let character = next() { try read(character) }
    return endOfGroup()
  }

  private mutating func read(_ character: Character) throws(RegexRefusal) {
    switch character {
    case "(": try openGroup()
    case ")":
      var node = endOfGroup()
      if let isNegative = frame.isNegative { node = .lookahead(node, isNegative: isNegative) }
      guard let enclosing = outer.popLast() else { throw .unsupported(")") }
      frame = enclosing
      frame.sequence.append(node)
    case "|": endAlternative()
    case "[": add(.set(frame.options.prefix + (try set())))
    case ".": add(.set(frame.options.prefix + "."))
    case "^", "$": add(.assertion(frame.options.prefix + String(character)))
    case "*": try `repeat`(0, nil)
    case "+": try `repeat`(1, nil)
    case "?": try `repeat`(0, 1)
    case "{":
      if let (least, most) = try bounds() { try `repeat`(least, most) } else { run.append(["{"]) }
    case "\\": try escape()
    default: run.append(Array(character.unicodeScalars))
    }
  }

  // MARK: Characters

  private var peeked: Character? { place < pattern.count ? pattern[place] : nil }

  private mutating func next() -> Character? {
    defer { place += 1 }
    return peeked
  }

  private mutating func take(_ character: Character) -> Bool {
    guard peeked == character else { return false }
    place += 1
    return true
  }

  /// Returns the text before `end`, and skips `end`.
  private mutating func take(through end: Character) throws(RegexRefusal) -> [Character] {
    guard let last = pattern[min(place, pattern.count)...].firstIndex(of: end) else {
      throw .unsupported("\(end)")
    }
    defer { place = last + 1 }
    return Array(pattern[place..<last])
  }

  // MARK: Sequences

  private mutating func add(_ node: RegexNode<Unit>) {
    endRun()
    frame.sequence.append(node)
  }

  private mutating func endRun() {
    frame.sequence += literals(run.flatMap(\.self))
    run = []
  }

  private func literals(_ scalars: [Unicode.Scalar]) -> [RegexNode<Unit>] {
    let isFolded = frame.options.ignoresCase ?? ignoresCase
    return Unit.units(of: scalars).map { unit in
      guard isFolded else { return .literal(unit) }
      return .set(frame.options.prefix + unit.scalars.map { "\\u{\(String($0.value, radix: 16))}" }.joined())
    }
  }

  private mutating func endAlternative() {
    endRun()
    frame.alternatives.append(.sequence(frame.sequence))
    frame.sequence = []
  }

  private mutating func endOfGroup() -> RegexNode<Unit> {
    endAlternative()
    return frame.alternatives.count == 1 ? frame.alternatives[0] : .choice(frame.alternatives)
  }

  // MARK: Groups

  private mutating func openGroup() throws(RegexRefusal) {
    guard take("?") else {
      if peeked == "*" { throw .unsupported("(*") }
      return try enter(frame.options)
    }
    switch peeked {
    case ":":
      place += 1
      try enter(frame.options)
    case "=", "!":
      let isNegative = next() == "!"
      try enter(frame.options)
      frame.isNegative = isNegative
    case "#": _ = try take(through: ")")
    case "<", "'", "P": try openNamedGroup()
    default: try changeOptions()
    }
  }

  private mutating func openNamedGroup() throws(RegexRefusal) {
    let start = place
    if take("P"), peeked != "<" {
      // Not a name, but the option of this letter, or a reference.
      place = start
      return try changeOptions()
    }
    let end: Character = next() == "'" ? "'" : ">"
    switch peeked {
    case "=", "!": throw .unsupported("(?<\(peeked ?? "=")", "a pattern can't look behind")
    default: _ = try take(through: end)
    }
    try enter(frame.options)
  }

  /// Changes the options: `(?i)` holds to the end of the group that it stands in, `(?i:…)` in its own.
  private mutating func changeOptions() throws(RegexRefusal) {
    let start = place
    while let letter = peeked, letter.isLetter || letter == "-" { place += 1 }
    let letters = pattern[start..<place]
    var options = frame.options
    let end = next()
    guard end == ")" || end == ":", !letters.isEmpty, options.change(letters) else {
      throw .group(String(letters), end)
    }
    if end == ":" { return try enter(options) }
    endRun()
    frame.options = options
  }

  private mutating func enter(_ options: RegexOptions) throws(RegexRefusal) {
    endRun()
    guard outer.count < Self.depthLimit else {
      throw .tooComplex("groups can be nested \(Self.depthLimit) deep at most")
    }
    outer.append(frame)
    frame = Frame(options: options)
  }

  // MARK: Repetitions

  private mutating func `repeat`(_ least: Int, _ most: Int?) throws(RegexRefusal) {
    if take("+") { throw .unsupported("a + after a repetition", "a repetition can't be possessive") }
    _ = take("?")
    let node: RegexNode<Unit>
    if let last = run.popLast() {
      endRun()
      node = .sequence(literals(last))
    } else {
      node = frame.sequence.popLast() ?? .sequence([])
    }
    frame.sequence.append(.repetition(node, least: least, most: most))
  }

  /// Reads `{2}`, `{2,}`, `{,2}` or `{2,3}`; nil where the brace stands for itself.
  private mutating func bounds() throws(RegexRefusal) -> (Int, Int?)? {
    guard let end = pattern[place...].firstIndex(of: "}") else { return nil }
    let parts = pattern[place..<end].split(separator: ",", omittingEmptySubsequences: false).map { part in
      String(part).trimming(while: \.isWhitespace)
    }
    guard parts.count <= 2, parts.contains(where: { !$0.isEmpty }),
      parts.allSatisfy({ $0.allSatisfy(\.isASCIIDigit) })
    else { return nil }
    place = end + 1
    let numbers = parts.map { Int($0) }
    guard numbers.count == 2 else { return numbers[0].map { ($0, $0) } }
    return (numbers[0] ?? 0, numbers[1])
  }

  // MARK: Sets

  /// Returns the set that begins at the bracket before, as it is written.
  private mutating func set() throws(RegexRefusal) -> String {
    let start = place - 1
    var depth = 1
    while depth > 0 {
      switch next() {
      case "[": depth += 1
      case "]": depth -= 1
      case "\\":
        if peeked == "Q" { throw .unsupported("\\Q in a set") }
        place += 1
      case nil: throw .unsupported("[")
      default: continue
      }
    }
    return String(pattern[start..<place])
  }

  // MARK: Escapes

  private mutating func escape() throws(RegexRefusal) {
    guard let letter = next() else { throw .unsupported("\\") }
    switch letter {
    case "d", "D", "w", "W", "s", "S", "h", "H", "v", "V": add(.set(frame.options.prefix + "\\\(letter)"))
    case "p", "P", "N":
      let start = place
      guard take("{") else { throw .unsupported("\\\(letter)") }
      _ = try take(through: "}")
      add(.set(frame.options.prefix + "\\\(letter)" + String(pattern[start..<place])))
    case "b", "B", "A", "z", "Z": add(.assertion(frame.options.prefix + "\\\(letter)"))
    // A whole text is matched from its start.
    case "G": add(.assertion("\\A"))
    case "R": add(newline)
    case "Q": quote()
    case "1"..."9", "g", "k":
      throw .unsupported("\\\(letter)", "a pattern can't refer to the text that a group has matched")
    default:
      if let scalars = try scalars(escapedBy: letter) {
        run.append(scalars)
      } else if letter.isLetter || letter.isNumber {
        throw .unsupported("\\\(letter)")
      } else {
        run.append(Array(letter.unicodeScalars))
      }
    }
  }

  /// `\R`: carriage return and line feed are one newline, and never taken apart.
  private var newline: RegexNode<Unit> {
    guard Unit.semantics == .unicodeScalar else { return .set("\\R") }
    let pair = RegexNode.sequence(literals(["\r", "\n"]))
    let single = "[\\n\\u{B}\\u{C}\\u{85}\\u{2028}\\u{2029}]"
    return .choice([pair, .sequence([.set("\\r"), .assertion("(?!\\n)")]), .set(single)])
  }

  /// Reads the text up to `\E`, for itself.
  private mutating func quote() {
    while let character = next() {
      if character == "\\", take("E") { return }
      run.append(Array(character.unicodeScalars))
    }
  }

  /// Returns the scalars that an escape stands for; nil for an escape that stands for no scalar.
  private mutating func scalars(escapedBy letter: Character) throws(RegexRefusal) -> [Unicode.Scalar]? {
    switch letter {
    case "n": ["\n"]
    case "r": ["\r"]
    case "t": ["\t"]
    case "f": ["\u{C}"]
    case "a": ["\u{7}"]
    case "e": ["\u{1B}"]
    case "0": [try scalar(take(3, \.isOctalDigit), radix: 8)]
    case "x": try numbers(2, radix: 16)
    case "u": try numbers(4, radix: 16)
    case "U": try numbers(8, radix: 16)
    case "o": try numbers(0, radix: 8)
    default: nil
    }
  }

  /// Reads at most `count` digits, or any numbers between braces.
  private mutating func numbers(_ count: Int, radix: Int) throws(RegexRefusal) -> [Unicode.Scalar] {
    guard take("{") else { return [try scalar(take(count, \.isHexDigit), radix: radix)] }
    var scalars: [Unicode.Scalar] = []
    for digits in try take(through: "}").split(whereSeparator: \.isWhitespace) {
      scalars.append(try scalar(digits, radix: radix))
    }
    return scalars
  }

  private mutating func take(_ count: Int, _ isDigit: (Character) -> Bool) -> ArraySlice<Character> {
    let digits = pattern[place...].prefix(count).prefix(while: isDigit)
    place = digits.endIndex
    return digits
  }

  private func scalar(_ digits: ArraySlice<Character>, radix: Int) throws(RegexRefusal) -> Unicode.Scalar {
    guard
      let scalar = (digits.isEmpty ? 0 : UInt32(String(digits), radix: radix)).flatMap(Unicode.Scalar.init)
    else {
      throw .unsupported("\\" + String(digits))
    }
    return scalar
  }
}

/// The reason for which a pattern that the library would accept is refused.
enum RegexRefusal: Error {
  case unsupported(String, String? = nil)
  case tooComplex(String)

  /// Returns the refusal of a group that begins with `(?`, by the letters that follow and the character after them.
  static func group(_ letters: String, _ end: Character?) -> RegexRefusal {
    let start = "(?" + letters + (end.map { String($0) } ?? "")
    switch end {
    case "=" where letters == "P", ">" where letters == "P":
      return .unsupported(start, "a pattern can't refer to the text that a group has matched")
    case ">": return .unsupported(start, "a group can't be atomic")
    default: return .unsupported(start)
    }
  }

  /// The rest of a sentence that begins with the pattern.
  var reason: String {
    switch self {
    case .unsupported(let part, let why?): "\(part) is not supported after MATCHES: \(why)."
    case .unsupported(let part, nil): "\(part) is not supported after MATCHES."
    case .tooComplex(let why): "\(why)."
    }
  }
}

extension Character {
  fileprivate var isASCIIDigit: Bool { "0"..."9" ~= self }
  fileprivate var isOctalDigit: Bool { "0"..."7" ~= self }
}

extension String {
  fileprivate func trimming(while isLeftOut: (Character) -> Bool) -> String {
    String(drop(while: isLeftOut).reversed().drop(while: isLeftOut).reversed())
  }
}
