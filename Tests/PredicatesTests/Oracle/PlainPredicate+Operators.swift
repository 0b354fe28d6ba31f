// The parts of predicates, for the table of coverage.
extension PlainPredicate {
  var operators: Set<String> {
    switch self {
    case .constant: ["constant"]
    case .compare(let path, let comparison, _, let folding):
      Set(Self.names(comparison.word, comparison.foldedName, folding) + Self.throughRelationship(path))
    case .comparePaths: ["between attributes"]
    case .isMissing: ["== nil"]
    case .among(let path, _, let includesMissing, let folding):
      Set(
        Self.names(includesMissing ? "in with nil" : "in", "folded in", folding)
          + Self.throughRelationship(path)
      )
    case .within(_, let lower, let upper): [lower != nil && upper != nil ? "between" : "half-open"]
    case .calculated(let left, _, let right, _):
      left.operators.union(right.operators).union(["calculated"])
    case .quantified(let quantifier, let collection, let condition):
      collection.operators.union(condition.operators).union([quantifier.rawValue])
    case .not(let child): child.operators.union(["not"])
    case .all(let children): children.reduce(into: ["and"]) { $0.formUnion($1.operators) }
    case .any(let children): children.reduce(into: ["or"]) { $0.formUnion($1.operators) }
    }
  }

  private static func names(_ plain: String, _ folded: String, _ folding: PlainFolding) -> [String] {
    folding == .none ? [plain] : [folded, folding.rawValue]
  }

  private static func throughRelationship(_ path: [String]) -> [String] {
    PlainScene.parts(of: path).names.count > 1 ? ["through a relationship"] : []
  }
}

extension PlainExpression {
  fileprivate var operators: Set<String> {
    switch self {
    case .literal, .path: []
    case .call(let function, let arguments):
      arguments.reduce(into: [function.word]) { $0.formUnion($1.operators) }
    case .either(let condition, let first, let second):
      condition.operators.union(first.operators).union(second.operators).union(["TERNARY"])
    case .aggregate(let aggregate, let collection):
      collection.operators.union(
        collection.isDistinct ? [aggregate.word, "distinct"] : [aggregate.word]
      )
    }
  }
}

extension PlainCollection {
  fileprivate var operators: Set<String> {
    var words: Set = [steps.count > 1 ? "elements of elements" : "elements"]
    if case .constant = condition { return words }
    words.formUnion(condition.operators)
    return words.union(["SUBQUERY"])
  }
}
