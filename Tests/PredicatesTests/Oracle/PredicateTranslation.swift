@testable import Predicates

/// Translates the oracle's predicates to resolved ones, without a resolver.
struct PredicateTranslation {
  let schema: Translation
  /// The entities of the fetched object and of the elements around, by their variables' numbers.
  private var entities = [0: PlainWorld.fetched]

  init(_ schema: Translation) { self.schema = schema }

  func path(_ path: [String]) -> ResolvedPath {
    let (variable, names) = PlainScene.parts(of: path)
    var result = ResolvedPath(
      scope: variable,
      hops: [],
      leaf: .objectID,
      isOptional: false,
      name: path.joined(separator: ".")
    )
    var entity = entities[variable].flatMap(schema.entitySchema(named:))
    for (place, name) in names.enumerated() {
      guard let property = entity?.storedProperty(named: name) else { break }
      result.isOptional = result.isOptional || property.isOptional
      if place == names.count - 1 {
        result.leaf = .slot(property.slot, property.kind)
        break
      }
      guard let next = property.destination.flatMap(schema.entitySchema(named:)) else { break }
      result.hops.append(.init(slot: property.slot, destination: next.id, isOptional: property.isOptional))
      entity = next
    }
    return result
  }

  func predicate(_ plain: PlainPredicate) -> ResolvedPredicate {
    switch plain {
    case .constant(let value): return .constant(value)
    case .compare(let names, let comparison, let literal, let folding):
      return .compare(
        path(names),
        self.comparison(comparison),
        schema.value(literal),
        Translation.options(folding)
      )
    case .comparePaths(let left, let comparison, let right):
      return .comparePaths(path(left), self.comparison(comparison), path(right), [])
    case .isMissing(let names): return .isNull(path(names))
    case .among(let names, let values, let includesMissing, let folding):
      let options = Translation.options(folding)
      return .among(path(names), values.map(schema.value), includesNull: includesMissing, options)
    case .within(let names, let lower, let upper):
      return .within(path(names), ValueRange(lower: lower.map(bound), upper: upper.map(bound)))
    case .calculated(let left, let comparison, let right, let folding):
      let options = Translation.options(folding)
      return .compareValues(expression(left), self.comparison(comparison), expression(right), options)
    case .quantified(let quantifier, let plain, let condition):
      let (collection, inner) = collection(plain)
      let resolved = inner.predicate(condition)
      switch quantifier {
      case .any: return .exists(in: collection, where: resolved)
      case .all: return .not(.exists(in: collection, where: .not(resolved)))
      case .none: return .not(.exists(in: collection, where: resolved))
      }
    case .not(let child): return .not(predicate(child))
    case .all(let children): return .and(children.map(predicate))
    case .any(let children): return .or(children.map(predicate))
    }
  }

  private func expression(_ plain: PlainExpression) -> ResolvedExpression {
    switch plain {
    case .literal(let value): .literal(schema.value(value))
    case .path(let names): .path(path(names))
    case .call(let function, let arguments): .function(self.function(function), arguments.map(expression))
    case .either(let condition, let first, let second):
      .conditional(predicate(condition), expression(first), expression(second))
    case .aggregate(let aggregate, let plain): .aggregate(self.aggregate(aggregate), collection(plain).0)
    }
  }

  /// Returns the collection, and the translation for conditions on its elements.
  private func collection(_ plain: PlainCollection) -> (ResolvedCollection, PredicateTranslation) {
    var inner = self
    let steps = plain.steps.map { step in
      let resolved = ResolvedCollection.Step(
        owner: inner.path(step.owner),
        elements: .objects(
          schema.resolved(step.relationship),
          schema.id(of: step.relationship.destination)
        ),
        name: step.relationship.name,
        scope: step.variable
      )
      inner.entities[step.variable] = step.relationship.destination
      return resolved
    }
    let collection = ResolvedCollection(
      steps: steps,
      condition: inner.predicate(plain.condition),
      value: plain.value.map(inner.path),
      isDistinct: plain.isDistinct,
      name: plain.steps.map(\.relationship.name).joined(separator: ".")
    )
    return (collection, inner)
  }

  private func bound(_ bound: (value: Plain, isIncluded: Bool)) -> ValueRange.Bound {
    ValueRange.Bound(schema.value(bound.value), isIncluded: bound.isIncluded)
  }

  private func comparison(_ plain: PlainOperator) -> ComparisonOperator {
    switch plain {
    case .equal: .equal
    case .notEqual: .notEqual
    case .less: .less
    case .lessOrEqual: .lessOrEqual
    case .greater: .greater
    case .greaterOrEqual: .greaterOrEqual
    case .beginsWith: .beginsWith
    case .endsWith: .endsWith
    case .contains: .contains
    case .like: .like
    case .matches: .matches
    }
  }

  private func function(_ plain: PlainFunction) -> PredicateFunction {
    switch plain {
    case .add: .add
    case .subtract: .subtract
    case .multiply: .multiply
    case .divide: .divide
    case .modulus: .modulus
    case .negate: .negate
    case .absolute: .absolute
    case .minimum: .minimum
    case .maximum: .maximum
    case .length: .length
    case .lowercase: .lowercase
    case .uppercase: .uppercase
    case .trim: .trim
    case .floor: .floor
    case .ceiling: .ceiling
    case .round: .round
    case .truncate: .truncate
    case .squareRoot: .squareRoot
    case .logarithm: .logarithm
    case .naturalLogarithm: .naturalLogarithm
    case .exponential: .exponential
    case .later: .add
    case .earlier, .elapsed: .subtract
    case .year: .year
    case .month: .month
    case .day: .day
    case .hour: .hour
    case .minute: .minute
    case .second: .second
    case .weekday: .weekday
    case .power: .power
    case .bitwiseAnd: .bitwiseAnd
    case .bitwiseOr: .bitwiseOr
    case .bitwiseXor: .bitwiseXor
    case .leftShift: .leftShift
    case .rightShift: .rightShift
    case .onesComplement: .onesComplement
    }
  }

  private func aggregate(_ plain: PlainAggregate) -> PredicateAggregate {
    switch plain {
    case .count: .count
    case .sum: .sum
    case .average: .average
    case .minimum: .minimum
    case .maximum: .maximum
    case .median: .median
    case .mode: .mode
    case .first: .element(0)
    case .second: .element(1)
    case .last: .last
    }
  }
}
