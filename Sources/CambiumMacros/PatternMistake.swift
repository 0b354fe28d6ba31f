/// A mistake in a regular expression in any syntax: a group or a set that isn't closed, a backslash at the end, a
/// repetition of nothing.
struct PatternMistake {
  let text: String

  init?(_ pattern: String) {
    guard let text = Self.mistake(in: Array(pattern)) else { return nil }
    self.text = text
  }

  private static func mistake(in pattern: [Character]) -> String? {
    var (depth, setStart, isRepeatable, position) = (0, nil as Int?, false, 0)
    while position < pattern.count {
      let character = pattern[position]
      if character == "\\" {
        if position + 1 == pattern.count { return "it ends with a backslash" }
        position += 1
        isRepeatable = true
      } else if let start = setStart {
        // A closing bracket at the start of a set is one of its characters.
        let first = pattern[start + 1] == "^" ? start + 2 : start + 1
        if character == "]", position > first { (setStart, isRepeatable) = (nil, true) }
      } else {
        switch character {
        case "[": setStart = position
        case "(":
          depth += 1
          isRepeatable = false
          if position + 1 < pattern.count, pattern[position + 1] == "?" { position += 1 }
        case ")":
          if depth == 0 { return "')' closes no group" }
          depth -= 1
          isRepeatable = true
        case "|": isRepeatable = false
        case "*", "+", "?":
          if !isRepeatable { return "'\(character)' repeats nothing" }
        default: isRepeatable = true
        }
      }
      position += 1
    }
    if setStart != nil { return "'[' is not closed" }
    return depth > 0 ? "'(' is not closed" : nil
  }
}
