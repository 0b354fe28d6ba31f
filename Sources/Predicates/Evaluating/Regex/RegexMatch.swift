/// One run of a program over a text: all ways at once, so that each step is taken at most once at each position. O(text × program).
struct RegexMatch<Unit: RegexUnit> {
  private let program: RegexProgram<Unit>
  private let text: String
  /// Steps at which the ways are, each once, that take the unit at hand; and those for the next one.
  private var current: [Int] = []
  private var following: [Int] = []
  /// For each step, the number of the position at which it was last reached.
  private var reachedAt: [Int]
  private var waiting: [Int] = []
  private var positionCount = 0
  private var hasEnded = false
  /// For each assertion, where it holds from the position at hand on; nil until it is asked.
  private var positions: [ArraySlice<String.Index>?]
  /// What was asked of each set.
  private var memories: [[Unit: Bool]]
  /// How many steps were taken: what the time is proportional to.
  private(set) var stepCount = 0

  init(_ program: RegexProgram<Unit>, _ text: String) {
    self.program = program
    self.text = text
    reachedAt = Array(repeating: 0, count: program.steps.count)
    positions = Array(repeating: nil, count: program.assertions.count)
    memories = Array(repeating: [:], count: program.sets.count)
  }

  /// Whether the whole text fits.
  mutating func run() -> Bool {
    let view = Unit.view(of: text)
    var index = view.startIndex
    begin()
    reach(0, at: index)
    while index < view.endIndex {
      swap(&current, &following)
      following.removeAll(keepingCapacity: true)
      if current.isEmpty { return false }
      let unit = view[index]
      view.formIndex(after: &index)
      begin()
      for step in current where takes(step, unit) { reach(step + 1, at: index) }
    }
    return hasEnded
  }

  private mutating func begin() {
    positionCount += 1
    hasEnded = false
  }

  private mutating func takes(_ step: Int, _ unit: Unit) -> Bool {
    stepCount += 1
    switch program.steps[step] {
    case .literal(let literal): return literal == unit
    case .set(let set): return program.sets[set].contains(unit, &memories[set])
    default: return false
    }
  }

  /// Follows every way from a step to the steps that take a unit.
  private mutating func reach(_ start: Int, at index: String.Index) {
    waiting.append(start)
    while let step = waiting.popLast() {
      guard reachedAt[step] < positionCount else { continue }
      reachedAt[step] = positionCount
      stepCount += 1
      switch program.steps[step] {
      case .literal, .set: following.append(step)
      case .jump(let target): waiting.append(target)
      case .fork(let first, let second):
        waiting.append(second)
        waiting.append(first)
      case .assertion(let assertion): if holds(assertion, at: index) { waiting.append(step + 1) }
      case .end: hasEnded = true
      }
    }
  }

  private mutating func holds(_ assertion: Int, at index: String.Index) -> Bool {
    var rest = positions[assertion] ?? program.assertions[assertion].positions(in: text)[...]
    rest = rest.drop { $0 < index }
    positions[assertion] = rest
    return rest.first == index
  }
}
