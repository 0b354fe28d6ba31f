import Predicates
import TestSupport

// Conditions on calculated values, and on elements.
extension PlainWorld {
  /// The kind of an expression's value.
  enum Kind {
    case number, text, moment

    func takes(_ kind: AttributeKind) -> Bool {
      switch self {
      case .number: kind.isNumeric
      case .text: kind == .string
      case .moment: kind == .date
      }
    }
  }

  /// Returns a comparison of a calculated value: with a literal that is the calculated value of some object, a path,
  /// or another calculated value.
  func calculated(of subject: PlainSubject, using random: inout SeededGenerator) -> PlainPredicate {
    let kind = random.pick([.number, .number, .number, .number, .text, .text, .moment] as [Kind])
    let left = expression(kind, depth: 2, of: subject, using: &random)
    let right: PlainExpression
    if subject.variable == nil, random.chance(2, in: 3) {
      right = .literal(left.value(PlainScene(self, random.pick(things))))
    } else {
      right = expression(kind, depth: 1, of: subject, using: &random)
    }
    let folding = kind == .text && random.chance(1, in: 3) ? random.pick(PlainFolding.allCases) : .none
    let operators = PlainOperator.comparisons + (kind == .text ? PlainOperator.searches : [])
    return .calculated(left, random.pick(operators), right, folding)
  }

  private func expression(
    _ kind: Kind,
    depth: Int,
    of subject: PlainSubject,
    using random: inout SeededGenerator
  ) -> PlainExpression {
    func another(_ kind: Kind, _ random: inout SeededGenerator) -> PlainExpression {
      expression(kind, depth: depth - 1, of: subject, using: &random)
    }
    switch random.number(in: 0...9) {
    case 0...3 where depth > 0: return call(kind, &random, another)
    case 4 where depth > 0:
      let condition = predicate(depth: 0, of: subject, using: &random)
      return .either(condition, another(kind, &random), another(kind, &random))
    case 5, 6:
      if subject.nesting < 2 { return aggregate(kind, of: subject, using: &random) }
    default: break
    }
    let path = path(of: subject, where: kind.takes, using: &random)
    if let path, random.chance(4, in: 5) { return .path(path.names) }
    return literal(kind, &random)
  }

  private func literal(_ kind: Kind, _ random: inout SeededGenerator) -> PlainExpression {
    switch kind {
    case .number: .literal(.whole(Int128(random.pick([0, 1, 2, 3, -7, 100]))))
    case .text: .literal(.text(Self.text(&random)))
    case .moment: .literal(Self.value(.date, &random))
    }
  }

  private func call(
    _ kind: Kind,
    _ random: inout SeededGenerator,
    _ another: (Kind, inout SeededGenerator) -> PlainExpression
  ) -> PlainExpression {
    if kind == .moment {
      return .call(random.pick([.later, .earlier]), [another(.moment, &random), another(.number, &random)])
    }
    if kind == .text {
      return random.chance(1, in: 2)
        ? .call(random.pick(PlainFunction.ofTexts), [another(.text, &random)])
        : .call(.add, [another(.text, &random), another(.text, &random)])
    }
    let function = random.pick(random.pick(PlainFunction.ofNumbers))
    switch (function, function.word) {
    case (.length, _): return .call(.length, [another(.text, &random)])
    case (.elapsed, _): return .call(.elapsed, [another(.moment, &random), another(.moment, &random)])
    case (_, "part of a date"): return .call(function, [another(.moment, &random)])
    case (.negate, _), (.absolute, _), (.onesComplement, _), (_, "rounding"), (_, "root or logarithm"):
      return .call(function, [another(.number, &random)])
    case (.minimum, _), (.maximum, _):
      return .call(function, (0..<random.number(in: 1...3)).map { _ in another(.number, &random) })
    default: return .call(function, [another(.number, &random), another(.number, &random)])
    }
  }

  private func aggregate(
    _ kind: Kind,
    of subject: PlainSubject,
    using random: inout SeededGenerator
  ) -> PlainExpression {
    var (collection, element) = collection(of: subject, using: &random)
    let value = path(of: element, where: kind.takes, using: &random)
    collection.isDistinct = random.chance(1, in: 3)
    guard let value, kind != .number || random.chance(3, in: 4) else {
      return kind == .number ? .aggregate(.count, collection) : literal(kind, &random)
    }
    collection.value = value.names
    collection.kind = value.kind
    if random.chance(1, in: 6) {
      // Positions count elements, not distinct values.
      let others = collection.isDistinct ? [.mode] : PlainAggregate.places + [.mode]
      return .aggregate(random.pick(kind == .number ? others + [.median] : others), collection)
    }
    return .aggregate(random.pick(kind == .number ? PlainAggregate.usual : [.minimum, .maximum]), collection)
  }

  /// ANY, ALL or NONE of a collection's elements.
  func quantified(of subject: PlainSubject, using random: inout SeededGenerator) -> PlainPredicate {
    let (collection, element) = collection(of: subject, using: &random)
    let condition = predicate(depth: random.pick([0, 0, 0, 1]), of: element, using: &random)
    return .quantified(random.pick(PlainQuantifier.allCases), collection, condition)
  }

  /// Objects at the end of one or two to-many relationships, at times only some of them.
  private func collection(
    of subject: PlainSubject,
    using random: inout SeededGenerator
  ) -> (PlainCollection, element: PlainSubject) {
    var element = subject
    element.nesting += 1
    var steps: [PlainCollection.Step] = []
    repeat {
      // The first step begins at the object, or behind one to-one relationship.
      var names = ["SELF"]
      if steps.isEmpty, random.chance(1, in: 2),
        let link = (Self.links[element.entity] ?? []).randomElement(using: &random)
      {
        names = [link.name]
        element.entity = link.destination
      }
      let owner = element.path(names)
      let relationship = random.pick(Self.relationships.filter { $0.entity == element.entity })
      // The range is so large that no two variables in a predicate are equal.
      let variable = random.number(in: 1...1_000_000_000)
      steps.append(PlainCollection.Step(owner: owner, relationship: relationship, variable: variable))
      element.variable = variable
      element.entity = relationship.destination
    } while steps.count < 2 && random.chance(1, in: 4)
    var collection = PlainCollection(steps: steps)
    if element.nesting < 2, random.chance(1, in: 3) {
      collection.condition = predicate(depth: random.pick([0, 0, 1]), of: element, using: &random)
    }
    return (collection, element)
  }
}
