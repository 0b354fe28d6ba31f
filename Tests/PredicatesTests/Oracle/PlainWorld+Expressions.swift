import Predicates
import TestSupport

// Conditions on what is calculated, and on elements.
extension PlainWorld {
  /// A comparison of what is calculated: with a literal that some object has as its value, a path, or what is calculated too.
  func calculated(of subject: PlainSubject, using random: inout SeededGenerator) -> PlainPredicate {
    let isText = random.chance(1, in: 4)
    let left = expression(isText: isText, depth: 2, of: subject, using: &random)
    let right: PlainExpression
    if subject.variable == nil, random.chance(2, in: 3) {
      right = .literal(left.value(PlainScene(self, random.pick(things))))
    } else {
      right = expression(isText: isText, depth: 1, of: subject, using: &random)
    }
    let folding = isText && random.chance(1, in: 3) ? random.pick(PlainFolding.allCases) : .none
    let operators = PlainOperator.comparisons + (isText ? PlainOperator.searches : [])
    return .calculated(left, random.pick(operators), right, folding)
  }

  /// A number or a text.
  private func expression(
    isText: Bool,
    depth: Int,
    of subject: PlainSubject,
    using random: inout SeededGenerator
  ) -> PlainExpression {
    func another(isText: Bool, _ random: inout SeededGenerator) -> PlainExpression {
      expression(isText: isText, depth: depth - 1, of: subject, using: &random)
    }
    switch random.number(in: 0...9) {
    case 0...3 where depth > 0: return call(isText: isText, &random, another)
    case 4 where depth > 0:
      let condition = predicate(depth: 0, of: subject, using: &random)
      return .either(condition, another(isText: isText, &random), another(isText: isText, &random))
    case 5, 6:
      if subject.nesting < 2 { return aggregate(isText: isText, of: subject, using: &random) }
    default: break
    }
    let path = path(of: subject, where: { isText ? $0 == .string : $0.isNumeric }, using: &random)
    if let path, random.chance(4, in: 5) { return .path(path.names) }
    return .literal(isText ? .text(Self.text(&random)) : .whole(Int128(random.pick([0, 1, 2, 3, -7, 100]))))
  }

  private func call(
    isText: Bool,
    _ random: inout SeededGenerator,
    _ another: (Bool, inout SeededGenerator) -> PlainExpression
  ) -> PlainExpression {
    if isText {
      return random.chance(1, in: 2)
        ? .call(.lowercase, [another(true, &random)])
        : .call(.add, [another(true, &random), another(true, &random)])
    }
    var function = random.pick(PlainFunction.usual)
    if function == .bitwiseAnd { function = random.pick(PlainFunction.bits) }
    switch function {
    case .length: return .call(.length, [another(true, &random)])
    case .negate, .absolute, .onesComplement: return .call(function, [another(false, &random)])
    case .minimum, .maximum:
      return .call(function, (0..<random.number(in: 1...3)).map { _ in another(false, &random) })
    default: return .call(function, [another(false, &random), another(false, &random)])
    }
  }

  private func aggregate(
    isText: Bool,
    of subject: PlainSubject,
    using random: inout SeededGenerator
  ) -> PlainExpression {
    var (collection, element) = collection(of: subject, using: &random)
    let value = path(of: element, where: { isText ? $0 == .string : $0.isNumeric }, using: &random)
    collection.isDistinct = random.chance(1, in: 3)
    guard let value, isText || random.chance(3, in: 4) else {
      if isText { return .literal(.text(Self.text(&random))) }
      return .aggregate(.count, collection)
    }
    collection.value = value.names
    if random.chance(1, in: 6) {
      // Places are those of elements, not of values that differ.
      let others = collection.isDistinct ? [.mode] : PlainAggregate.places + [.mode]
      return .aggregate(random.pick(isText ? others : others + [.median]), collection)
    }
    return .aggregate(random.pick(isText ? [.minimum, .maximum] : PlainAggregate.usual), collection)
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
      // One to-one relationship on the way to the first step, or none; what leads nowhere else has one.
      var names = ["SELF"]
      if steps.isEmpty, random.chance(1, in: 2),
        let link = (Self.links[element.entity] ?? []).randomElement(using: &random)
      {
        names = [link.name]
        element.entity = link.destination
      }
      let owner = element.path(names)
      let relationship = random.pick(Self.relationships.filter { $0.entity == element.entity })
      // Drawn from so many that no two in a predicate are alike.
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
