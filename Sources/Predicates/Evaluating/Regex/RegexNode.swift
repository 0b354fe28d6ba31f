/// A pattern of `MATCHES` in parts. Sets and assertions are kept as text in the library's syntax, with the options
/// that hold at their position.
indirect enum RegexNode<Unit: RegexUnit> {
  case literal(Unit)
  /// A node that takes one unit: `.`, `\w`, `[a-z]`, a letter in any case.
  case set(String)
  /// A node that takes nothing, and holds at some positions of a text: `^`, `\b`.
  case assertion(String)
  /// A node that takes nothing, and holds where a text that fits begins, or doesn't: `(?=a)`, `(?!a)`.
  case lookahead(RegexNode, isNegative: Bool)
  case sequence([RegexNode])
  case choice([RegexNode])
  /// A repetition, at least `least` times, and at most `most` times, or without a limit if `most` is nil. Greedy and
  /// lazy repetitions fit the same whole texts.
  case repetition(RegexNode, least: Int, most: Int?)
}

extension RegexNode {
  /// The node for the same texts, read backwards. A node that takes nothing holds at the same positions.
  var reversed: RegexNode {
    switch self {
    case .literal, .set, .assertion, .lookahead: self
    case .sequence(let nodes): .sequence(nodes.reversed().map(\.reversed))
    case .choice(let nodes): .choice(nodes.map(\.reversed))
    case .repetition(let node, let least, let most): .repetition(node.reversed, least: least, most: most)
    }
  }
}
