/// A pattern as an automaton: each step takes a unit, continues at other steps, or tests the position.
///
/// A pattern that looks ahead has an automaton for each text that it looks for, read backwards: one run from the
/// text's end finds all positions at which such a text begins.
///
/// Source: K. Thompson, "Regular Expression Search Algorithm", 1968; R. Cox, "Regular Expression Matching Can Be
/// Simple And Fast", 2007.
struct RegexProgram<Unit: RegexUnit>: Sendable {
  enum Step: Sendable {
    case literal(Unit)
    /// A set, by its index in ``sets``.
    case set(Int)
    /// An assertion, by its index in ``assertions``.
    case assertion(Int)
    /// A lookahead, by its index in ``lookaheads``.
    case lookahead(Int)
    case jump(Int)
    case fork(Int, Int)
    case end
  }

  /// The limit of steps: repetitions with numbers are written out.
  static var stepLimit: Int { 5_000 }

  private(set) var steps: [Step] = []
  private(set) var sets: [RegexSet<Unit>] = []
  private(set) var assertions: [RegexAssertion] = []
  private(set) var lookaheads: [(program: RegexProgram, isNegative: Bool)] = []
  private var placeOfSet: [String: Int] = [:]
  private var placeOfAssertion: [String: Int] = [:]

  init(_ node: RegexNode<Unit>, ignoresCase: Bool) throws(RegexRefusal) {
    try add(node, ignoresCase)
    try add(.end)
  }

  /// The number of steps of the automaton and of its lookaheads.
  var length: Int { lookaheads.reduce(steps.count) { $0 + $1.program.length } }

  private mutating func add(_ step: Step) throws(RegexRefusal) {
    guard length < Self.stepLimit else {
      throw .tooComplex("with its repetitions written out it has more than \(Self.stepLimit) steps")
    }
    steps.append(step)
  }

  private mutating func add(_ node: RegexNode<Unit>, _ ignoresCase: Bool) throws(RegexRefusal) {
    switch node {
    case .literal(let unit): try add(.literal(unit))
    case .set(let source):
      if placeOfSet[source] == nil {
        placeOfSet[source] = sets.count
        sets.append(try RegexSet(source, ignoresCase: ignoresCase))
      }
      try add(.set(placeOfSet[source, default: 0]))
    case .assertion(let source):
      if placeOfAssertion[source] == nil {
        placeOfAssertion[source] = assertions.count
        assertions.append(try RegexAssertion(source, Unit.semantics))
      }
      try add(.assertion(placeOfAssertion[source, default: 0]))
    case .lookahead(let node, let isNegative):
      try add(.lookahead(lookaheads.count))
      lookaheads.append((try RegexProgram(node.reversed, ignoresCase: ignoresCase), isNegative))
    case .sequence(let nodes): for node in nodes { try add(node, ignoresCase) }
    case .choice(let nodes): try addChoice(nodes, ignoresCase)
    case .repetition(let node, let least, let most): try addRepetition(node, least, most, ignoresCase)
    }
  }

  private mutating func addChoice(_ nodes: [RegexNode<Unit>], _ ignoresCase: Bool) throws(RegexRefusal) {
    var jumps: [Int] = []
    for (index, node) in nodes.enumerated() {
      guard index < nodes.count - 1 else {
        try add(node, ignoresCase)
        break
      }
      let fork = steps.count
      try add(.fork(fork + 1, 0))
      try add(node, ignoresCase)
      jumps.append(steps.count)
      try add(.jump(0))
      steps[fork] = .fork(fork + 1, steps.count)
    }
    for jump in jumps { steps[jump] = .jump(steps.count) }
  }

  private mutating func addRepetition(
    _ node: RegexNode<Unit>,
    _ least: Int,
    _ most: Int?,
    _ ignoresCase: Bool
  ) throws(RegexRefusal) {
    for _ in 0..<least {
      let start = steps.count
      try add(node, ignoresCase)
      // A node that compiles to no steps matches the same however often it is repeated.
      if steps.count == start { return }
    }
    guard let most else {
      let fork = steps.count
      try add(.fork(fork + 1, 0))
      try add(node, ignoresCase)
      try add(.jump(fork))
      steps[fork] = .fork(fork + 1, steps.count)
      return
    }
    var forks: [Int] = []
    for _ in 0..<max(0, most - least) {
      forks.append(steps.count)
      try add(.fork(steps.count + 1, 0))
      try add(node, ignoresCase)
    }
    for fork in forks { steps[fork] = .fork(fork + 1, steps.count) }
  }
}
