import Predicates
import TestSupport

extension PlainWorld {
  /// A path that a predicate can name, and what is found there.
  struct Path {
    var names: [String]
    var kind: AttributeKind
    var pool: [Plain]
  }

  func path(using random: inout SeededGenerator) -> Path {
    let places = attributes[Self.referred] ?? []
    switch random.number(in: 0...9) {
    case 0:
      let attribute = random.pick(places)
      return Path(names: ["place", attribute.name], kind: attribute.kind, pool: attribute.pool)
    case 1:
      let attribute = random.pick(places)
      return Path(names: ["place", "next", attribute.name], kind: attribute.kind, pool: attribute.pool)
    case 2:
      return Path(
        names: random.pick([["place"], ["place", "next"], ["place", "SELF"]]),
        kind: .reference,
        pool: (rows[Self.referred] ?? []).map { .link($0.number) }
      )
    case 3 where random.chance(1, in: 3):
      let numbers = (rows[Self.fetched] ?? []).map(\.number)
      return Path(names: ["SELF"], kind: .reference, pool: numbers.map { .link($0) } + [.link(9_999)])
    default: return ownPath(using: &random)
    }
  }

  /// An attribute of the fetched entity itself.
  func ownPath(using random: inout SeededGenerator) -> Path {
    let attribute = random.pick(attributes[Self.fetched] ?? [])
    return Path(names: [attribute.name], kind: attribute.kind, pool: attribute.pool)
  }

  /// A condition that one value of an attribute meets.
  func point(using random: inout SeededGenerator) -> PlainPredicate {
    let path = ownPath(using: &random)
    return .compare(path.names, .equal, literal(path, &random), .none)
  }

  /// A condition on folded strings that a folded index serves.
  func foldedCondition(using random: inout SeededGenerator) -> PlainPredicate {
    let strings = (attributes[Self.fetched] ?? []).filter { $0.kind == .string }
    let attribute = random.pick(strings)
    let path = Path(names: [attribute.name], kind: .string, pool: attribute.pool)
    let folding = random.pick(PlainFolding.allCases.filter { $0 != .none })
    let literals = (0..<3).map { _ in literal(path, &random) }
    switch random.number(in: 0...4) {
    case 0: return .among(path.names, literals, includesMissing: random.chance(1, in: 3), folding)
    case 1:
      let pattern = if case .text(let text) = literals[0] { text + "*" } else { "*" }
      return .compare(path.names, .like, .text(pattern), folding)
    default:
      let comparison = random.pick([.equal, .equal, .less, .greaterOrEqual, .beginsWith] as [PlainOperator])
      return .compare(path.names, comparison, literals[0], folding)
    }
  }

  /// A condition that names objects, some of which exist.
  func someObjects(using random: inout SeededGenerator) -> PlainPredicate {
    let numbers = (rows[Self.fetched] ?? []).map(\.number) + [9_999]
    let chosen = (0..<random.number(in: 1...12)).map { _ in Plain.link(random.pick(numbers)) }
    return .among(["SELF"], chosen, includesMissing: false, .none)
  }

  /// A predicate of up to `depth` brackets in one another.
  func predicate(depth: Int, using random: inout SeededGenerator) -> PlainPredicate {
    if depth > 0, random.chance(3, in: 5) {
      let children = (0..<random.number(in: 2...3)).map { _ in predicate(depth: depth - 1, using: &random) }
      switch random.number(in: 0...4) {
      case 0: return .not(children[0])
      case 1, 2: return .all(children)
      default: return .any(children)
      }
    }
    if random.chance(1, in: 60) { return .constant(random.chance(1, in: 2)) }
    let path = path(using: &random)
    switch random.number(in: 0...9) {
    case 0: return .isMissing(path.names)
    case 1 where path.names.count == 1 && path.kind.isNumeric:
      let others = (attributes[Self.fetched] ?? []).filter { $0.kind.isNumeric }
      return .comparePaths(path.names, random.pick(PlainOperator.comparisons), [random.pick(others).name])
    case 1 where path.kind == .string:
      return .comparePaths(
        path.names,
        random.pick(PlainOperator.allCases.filter { $0 != .like }),
        ["other string"]
      )
    case 2, 3: return membership(path, &random)
    case 4 where path.kind != .reference, 5 where path.kind != .reference: return range(path, &random)
    default: return comparison(path, &random)
    }
  }

  private func comparison(_ path: Path, _ random: inout SeededGenerator) -> PlainPredicate {
    var operators = path.kind == .reference ? [.equal, .notEqual] : PlainOperator.comparisons
    let folding = self.folding(path, &random)
    if path.kind == .string { operators += PlainOperator.searches + PlainOperator.searches + [.like, .like] }
    let comparison = random.pick(operators)
    var literal = literal(path, &random)
    // A piece of a value that exists finds more than a whole one.
    if PlainOperator.searches.contains(comparison), case .text(let text) = literal, random.chance(2, in: 3) {
      literal = .text(String(text.unicodeScalars.prefix(1)))
    }
    if comparison == .like, case .text(let text) = literal {
      literal = .text(Self.pattern(of: text, &random))
    }
    return .compare(path.names, comparison, literal, folding)
  }

  private func folding(_ path: Path, _ random: inout SeededGenerator) -> PlainFolding {
    path.kind == .string && random.chance(1, in: 2) ? random.pick(PlainFolding.allCases) : .none
  }

  /// The text with some of its scalars replaced by wildcards.
  private static func pattern(of text: String, _ random: inout SeededGenerator) -> String {
    var pattern = text.unicodeScalars.map { random.pick([String($0), String($0), "?", "*"]) }.joined()
    if random.chance(1, in: 2) { pattern += "*" }
    return pattern
  }

  private func membership(_ path: Path, _ random: inout SeededGenerator) -> PlainPredicate {
    let values = (0..<random.number(in: 1...4)).map { _ in literal(path, &random) }
    return .among(
      path.names,
      values,
      includesMissing: random.chance(1, in: 3),
      folding(path, &random)
    )
  }

  private func range(_ path: Path, _ random: inout SeededGenerator) -> PlainPredicate {
    var bounds = [literal(path, &random), literal(path, &random)]
    if Plain.precedes(bounds[1], bounds[0]), random.chance(9, in: 10) { bounds.swapAt(0, 1) }
    let sides = random.number(in: 0...5)
    return .within(
      path.names,
      lower: sides == 0 ? nil : (bounds[0], isIncluded: random.chance(1, in: 2)),
      upper: sides == 1 ? nil : (bounds[1], isIncluded: random.chance(1, in: 2))
    )
  }

  /// A value that rows have, or any other.
  private func literal(_ path: Path, _ random: inout SeededGenerator) -> Plain {
    let known = path.pool.filter { !$0.isMissing }
    if known.isEmpty || (path.kind != .reference && random.chance(1, in: 6)) {
      return Self.value(path.kind, &random)
    }
    return random.pick(known)
  }

  func sort(using random: inout SeededGenerator) -> [PlainSort] {
    let direction = random.chance(1, in: 2)
    return (0..<random.number(in: 0...2)).map { _ in
      PlainSort(
        path: path(using: &random).names,
        isAscending: random.chance(1, in: 6) ? !direction : direction
      )
    }
  }

  /// The numbers of the matching objects, in order.
  func answer(_ predicate: PlainPredicate, _ sort: [PlainSort], limit: Int?, offset: Int) -> [UInt64] {
    let matches = (rows[Self.fetched] ?? []).filter { row in
      predicate.holds { value($0, of: row.number, row.values) }
    }
    let isIDAscending = sort.last?.isAscending ?? true
    let sorted = matches.sorted { a, b in
      for key in sort {
        let (left, right) = (value(key.path, of: a.number, a.values), value(key.path, of: b.number, b.values))
        if Plain.precedes(left, right) { return key.isAscending }
        if Plain.precedes(right, left) { return !key.isAscending }
      }
      return isIDAscending ? a.number < b.number : a.number > b.number
    }
    let rest = sorted.dropFirst(offset)
    return (limit.map { rest.prefix($0) } ?? rest).map(\.number)
  }
}
