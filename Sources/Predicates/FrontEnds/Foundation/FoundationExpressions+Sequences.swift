import Foundation

extension PredicateExpressions.SequenceContains: FoundationExpression {
  func converted(by conversion: inout FoundationConversion) throws(QueryError) -> Converted {
    switch try conversion.converted(sequence) {
    case .list(let elements):
      return .condition(.membership(try conversion.operand(element), elements, []))
    case .range(let test):
      return .condition(test(try conversion.operand(element)))
    case .operand(let collection):
      return .condition(.comparison(collection, .contains, try conversion.operand(element), []))
    case .optionalOperand(let collection, let isPresent):
      let contains = PredicateTree.comparison(collection, .contains, try conversion.operand(element), [])
      return .condition(.all([isPresent, contains]))
    default: throw FoundationConversion.unsupported(Self.self)
    }
  }
}

extension PredicateExpressions.CollectionContainsCollection: FoundationExpression {
  func converted(by conversion: inout FoundationConversion) throws(QueryError) -> Converted {
    .condition(.comparison(try conversion.operand(base), .contains, try conversion.operand(other), []))
  }
}

extension PredicateExpressions.SequenceStartsWith: FoundationExpression {
  func converted(by conversion: inout FoundationConversion) throws(QueryError) -> Converted {
    .condition(.comparison(try conversion.operand(base), .beginsWith, try conversion.operand(prefix), []))
  }
}

extension PredicateExpressions.SequenceContainsWhere: FoundationExpression {
  func converted(by conversion: inout FoundationConversion) throws(QueryError) -> Converted {
    let collection = try conversion.filtered(sequence, variable.key, test)
    let count = PredicateOperand(.aggregate(.count, collection))
    return .condition(.comparison(count, .greater, .value(.int(0)), []))
  }
}

extension PredicateExpressions.SequenceAllSatisfy: FoundationExpression {
  func converted(by conversion: inout FoundationConversion) throws(QueryError) -> Converted {
    let collection = try conversion.filtered(sequence, variable.key, test, isNegated: true)
    let count = PredicateOperand(.aggregate(.count, collection))
    return .condition(.comparison(count, .equal, .value(.int(0)), []))
  }
}

extension PredicateExpressions.Filter: FoundationExpression {
  func converted(by conversion: inout FoundationConversion) throws(QueryError) -> Converted {
    .operand(PredicateOperand(.collection(try conversion.filtered(sequence, variable.key, filter))))
  }
}

extension PredicateExpressions.CollectionIndexSubscript: FoundationExpression {
  func converted(by conversion: inout FoundationConversion) throws(QueryError) -> Converted {
    guard case .operand(let operand) = try conversion.converted(index),
      case .value(.int(let place)) = operand.content
    else { throw FoundationConversion.unsupported(Self.self) }
    return .operand(PredicateOperand(.aggregate(.element(Int(place)), try conversion.collection(wrapped))))
  }
}
