import Predicates
import TestSupport

/// The object that a condition is about.
struct PlainSubject {
  var entity = PlainWorld.fetched
  /// The element's variable; nil for the fetched object.
  var variable: Int?
  /// How many collections are around the condition.
  var nesting = 0

  /// A path that starts here.
  func path(_ names: [String]) -> [String] { (variable.map { ["$\($0)"] } ?? []) + names }
}

/// A path that a predicate can name, and the kind and values that it leads to.
struct PlainPath {
  var names: [String]
  var kind: AttributeKind
  var pool: [Plain]
}

extension PlainWorld {
  func path(of subject: PlainSubject, using random: inout SeededGenerator) -> PlainPath {
    var entity = subject.entity
    var names: [String] = []
    func follow(_ random: inout SeededGenerator) {
      let link = random.pick(Self.links[entity] ?? [])
      names.append(link.name)
      entity = link.destination
    }
    switch random.number(in: 0...9) {
    case 0: follow(&random)
    case 1:
      follow(&random)
      follow(&random)
    case 2:
      follow(&random)
      if random.chance(1, in: 3) { follow(&random) }
      if random.chance(1, in: 3) { names.append("SELF") }
      return PlainPath(names: subject.path(names), kind: .reference, pool: links(to: entity))
    case 3 where random.chance(1, in: 3):
      return PlainPath(
        names: subject.path(["SELF"]),
        kind: .reference,
        pool: links(to: entity) + [.link(9_999)]
      )
    default: break
    }
    let attribute = random.pick(attributes[entity] ?? [])
    return PlainPath(
      names: subject.path(names + [attribute.name]),
      kind: attribute.kind,
      pool: attribute.pool
    )
  }

  private func links(to entity: String) -> [Plain] { (objects[entity] ?? []).map { .link($0.number) } }

  /// An attribute of the fetched entity itself.
  func ownPath(using random: inout SeededGenerator) -> PlainPath {
    let attribute = random.pick(attributes[Self.fetched] ?? [])
    return PlainPath(names: [attribute.name], kind: attribute.kind, pool: attribute.pool)
  }

  /// Returns a random path of the subject to a value of a suitable kind; nil if a few attempts find none.
  func path(
    of subject: PlainSubject,
    where isWanted: (AttributeKind) -> Bool,
    using random: inout SeededGenerator
  ) -> PlainPath? {
    for _ in 0..<12 {
      let path = path(of: subject, using: &random)
      if isWanted(path.kind) { return path }
    }
    return nil
  }

  /// A condition that one value of an attribute, or of the relationship, meets.
  func point(using random: inout SeededGenerator) -> PlainPredicate {
    if random.chance(1, in: 4) {
      return .compare(["place"], .equal, random.pick(links(to: Self.referred)), .none)
    }
    let path = ownPath(using: &random)
    return .compare(path.names, .equal, literal(path, &random), .none)
  }

  /// A condition on folded strings that a folded index serves.
  func foldedCondition(using random: inout SeededGenerator) -> PlainPredicate {
    let strings = (attributes[Self.fetched] ?? []).filter { $0.kind == .string }
    let attribute = random.pick(strings)
    let path = PlainPath(names: [attribute.name], kind: .string, pool: attribute.pool)
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
    let numbers = things.map(\.number) + [9_999]
    let chosen = (0..<random.number(in: 1...12)).map { _ in Plain.link(random.pick(numbers)) }
    return .among(["SELF"], chosen, includesMissing: false, .none)
  }

  /// A predicate of up to `depth` brackets in one another.
  func predicate(
    depth: Int,
    of subject: PlainSubject = PlainSubject(),
    using random: inout SeededGenerator
  ) -> PlainPredicate {
    if depth > 0, random.chance(3, in: 5) {
      let children = (0..<random.number(in: 2...3)).map { _ in
        predicate(depth: depth - 1, of: subject, using: &random)
      }
      switch random.number(in: 0...4) {
      case 0: return .not(children[0])
      case 1, 2: return .all(children)
      default: return .any(children)
      }
    }
    if random.chance(1, in: 60) { return .constant(random.chance(1, in: 2)) }
    switch random.number(in: 0...9) {
    case 0, 1: return calculated(of: subject, using: &random)
    case 2, 3: if subject.nesting < 2 { return quantified(of: subject, using: &random) }
    default: break
    }
    return condition(path(of: subject, using: &random), of: subject, using: &random)
  }

  /// A condition on the value at a path.
  private func condition(
    _ path: PlainPath,
    of subject: PlainSubject,
    using random: inout SeededGenerator
  ) -> PlainPredicate {
    switch random.number(in: 0...9) {
    case 0: return .isMissing(path.names)
    case 1 where path.kind.isNumeric:
      // A path of an element is compared with another path of it, or with one of the fetched object.
      let other = random.chance(1, in: 2) ? subject : PlainSubject()
      guard let right = self.path(of: other, where: \.isNumeric, using: &random) else { break }
      return .comparePaths(path.names, random.pick(PlainOperator.comparisons), right.names)
    case 1 where path.kind == .string:
      guard let right = self.path(of: subject, where: { $0 == .string }, using: &random) else { break }
      let operators = PlainOperator.comparisons + PlainOperator.searches
      return .comparePaths(path.names, random.pick(operators), right.names)
    case 2, 3: return membership(path, &random)
    case 4 where path.kind != .reference, 5 where path.kind != .reference: return range(path, &random)
    default: break
    }
    return comparison(path, &random)
  }

  private func comparison(_ path: PlainPath, _ random: inout SeededGenerator) -> PlainPredicate {
    var operators = path.kind == .reference ? [.equal, .notEqual] : PlainOperator.comparisons
    let folding = self.folding(path, &random)
    if path.kind == .string { operators += PlainOperator.searches + PlainOperator.searches + [.like, .like] }
    if path.kind == .string, folding == .none { operators += [.matches, .matches, .matches] }
    let comparison = random.pick(operators)
    var literal = literal(path, &random)
    // A part of an existing value is found more often than a whole value.
    if PlainOperator.searches.contains(comparison), case .text(let text) = literal, random.chance(2, in: 3) {
      literal = .text(String(text.unicodeScalars.prefix(1)))
    }
    if comparison == .like, case .text(let text) = literal {
      literal = .text(Self.pattern(of: text, &random))
    }
    if comparison == .matches, case .text(let text) = literal {
      literal = .text(Self.regularExpression(of: text, &random))
    }
    return .compare(path.names, comparison, literal, folding)
  }

  private func folding(_ path: PlainPath, _ random: inout SeededGenerator) -> PlainFolding {
    path.kind == .string && random.chance(1, in: 2) ? random.pick(PlainFolding.allCases) : .none
  }

  /// The text with some of its scalars replaced by wildcards.
  private static func pattern(of text: String, _ random: inout SeededGenerator) -> String {
    var pattern = text.unicodeScalars.map { random.pick([String($0), String($0), "?", "*"]) }.joined()
    if random.chance(1, in: 2) { pattern += "*" }
    return pattern
  }

  /// Returns the text with some of its scalars replaced by patterns that match them, or that match others. Combining
  /// marks are always replaced.
  private static func regularExpression(of text: String, _ random: inout SeededGenerator) -> String {
    let letters = "aAbBéÉßσςΣ😀 ".unicodeScalars
    let elements = text.unicodeScalars.map { scalar in
      letters.contains(scalar)
        ? random.pick(["\(scalar)", "\(scalar)", "[\(scalar)b]", "[^a]", "."]) : "."
    }
    let pattern = elements.map { $0 + random.pick(["", "", "", "*", "+", "?"]) }.joined()
    switch random.number(in: 0...5) {
    case 0: return pattern + ".*"
    case 1: return pattern + "|" + String(random.pick(Array(letters))) + ".*"
    default: return pattern
    }
  }

  private func membership(_ path: PlainPath, _ random: inout SeededGenerator) -> PlainPredicate {
    let values = (0..<random.number(in: 1...4)).map { _ in literal(path, &random) }
    return .among(
      path.names,
      values,
      includesMissing: random.chance(1, in: 3),
      folding(path, &random)
    )
  }

  private func range(_ path: PlainPath, _ random: inout SeededGenerator) -> PlainPredicate {
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
  func literal(_ path: PlainPath, _ random: inout SeededGenerator) -> Plain {
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
        path: path(of: PlainSubject(), using: &random).names,
        isAscending: random.chance(1, in: 6) ? !direction : direction
      )
    }
  }
}
