/// One run of a program over a text. It follows all ways at once, so each step is taken at most once at each
/// position. O(text × program).
struct RegexMatch<Unit: RegexUnit> {
  private let program: RegexProgram<Unit>
  private let text: String
  /// The current steps of the ways, each once, which take the current unit; and those for the next unit.
  private var current: [Int] = []
  private var following: [Int] = []
  /// For each step, the number of the position at which it was last reached.
  private var reachedAt: [Int]
  private var waiting: [Int] = []
  private var positionCount = 0
  private var hasEnded = false
  /// For each assertion and then for each lookahead, the positions at which it holds; nil until the positions are
  /// needed.
  private var positions: [RegexPositions?]
  /// The earlier answers of each set.
  private var memories: [[Unit: Bool]]
  /// The number of steps taken; the time is proportional to it.
  private(set) var stepCount = 0

  init(_ program: RegexProgram<Unit>, _ text: String) {
    self.program = program
    self.text = text
    reachedAt = Array(repeating: 0, count: program.steps.count)
    positions = Array(repeating: nil, count: program.assertions.count + program.lookaheads.count)
    memories = Array(repeating: [:], count: program.sets.count)
  }

  /// Returns whether the whole text fits.
  mutating func run() -> Bool {
    let view = Unit.view(of: text)
    var index = view.startIndex
    begin()
    reach(0, at: index)
    while index < view.endIndex {
      let unit = view[index]
      view.formIndex(after: &index)
      advance(over: unit, to: index)
      if following.isEmpty, !hasEnded { return false }
    }
    return hasEnded
  }

  /// Returns the positions, descending, at which a way ends that begins anywhere after the position and goes backwards.
  mutating func endsGoingBackwards() -> [String.Index] {
    let view = Unit.view(of: text)
    var index = view.endIndex
    var ends: [String.Index] = []
    begin()
    while true {
      reach(0, at: index)
      if hasEnded { ends.append(index) }
      guard index > view.startIndex else { return ends }
      view.formIndex(before: &index)
      advance(over: view[index], to: index)
    }
  }

  private mutating func begin() {
    positionCount += 1
    hasEnded = false
  }

  /// Lets every way take a unit.
  private mutating func advance(over unit: Unit, to index: String.Index) {
    swap(&current, &following)
    following.removeAll(keepingCapacity: true)
    begin()
    for step in current where takes(step, unit) { reach(step + 1, at: index) }
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
      case .assertion(let place): if holds(place, at: index) { waiting.append(step + 1) }
      case .lookahead(let place):
        let isFound = holds(program.assertions.count + place, at: index)
        if isFound != program.lookaheads[place].isNegative { waiting.append(step + 1) }
      case .end: hasEnded = true
      }
    }
  }

  private mutating func holds(_ place: Int, at index: String.Index) -> Bool {
    var known = positions[place] ?? RegexPositions(find(place))
    defer { positions[place] = known }
    positions[place] = nil
    return known.contains(index)
  }

  /// Returns the positions at which an assertion holds, or at which a text that a lookahead looks for begins.
  private mutating func find(_ place: Int) -> [String.Index] {
    let lookahead = place - program.assertions.count
    if lookahead < 0 { return program.assertions[place].positions(in: text) }
    var match = RegexMatch(program.lookaheads[lookahead].program, text)
    defer { stepCount += match.stepCount }
    return match.endsGoingBackwards().reversed()
  }
}

/// Ascending positions. Callers ask for them from left to right, or from right to left, so a query takes O(1) on
/// average.
private struct RegexPositions {
  private let all: [String.Index]
  private var place = 0

  init(_ all: [String.Index]) { self.all = all }

  mutating func contains(_ index: String.Index) -> Bool {
    while place < all.count, all[place] < index { place += 1 }
    while place > 0, all[place - 1] >= index { place -= 1 }
    return place < all.count && all[place] == index
  }
}
