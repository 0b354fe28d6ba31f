extension PredicateTree {
  /// The nesting depth of the tree, as ``maximumDepth`` counts.
  var depth: Int {
    // The form of most conditions.
    if case .comparison(let left, _, let right, _) = self, left.isFlat, right.isFlat { return 0 }
    return Nested.condition(self).depth
  }
}

extension PredicateOperand {
  /// The nesting depth of the operand, as ``PredicateTree/maximumDepth`` counts.
  var depth: Int { Nested.operand(self).depth }
}

/// The weight of a level, apart from the 1 of `NOT`, `AND` and `OR`: its share of the stack.
enum NestingWeight {
  static let calculation = 2
  static let elements = 8
}

/// A part of a tree, and its contents.
private enum Nested {
  case condition(PredicateTree)
  case operand(PredicateOperand)

  /// The nesting depth. It is computed without recursion, for which the measured tree may be too deep.
  var depth: Int {
    var deepest = 0
    var pending = [(part: self, depth: 0)]
    while let (part, depth) = pending.popLast() {
      deepest = max(deepest, depth)
      let level = depth + part.weight
      pending += part.parts.map { ($0, level) }
    }
    return deepest
  }

  /// The depth that the part adds to its contents.
  private var weight: Int {
    switch self {
    case .condition(let tree):
      switch tree {
      case .constant, .comparison, .membership, .between, .quantified: 0
      case .not, .and, .or: 1
      }
    case .operand(let operand):
      switch operand.content {
      case .path, .variable, .object, .value, .digits, .reference: 0
      case .function, .conditional: NestingWeight.calculation
      case .collection, .aggregate: NestingWeight.elements
      }
    }
  }

  private var parts: [Nested] {
    switch self {
    case .condition(let tree): Self.parts(of: tree)
    case .operand(let operand): Self.parts(of: operand.content)
    }
  }

  private static func parts(of tree: PredicateTree) -> [Nested] {
    switch tree {
    case .constant: []
    case .comparison(let left, _, let right, _): composed([left, right])
    case .membership(let operand, let elements, _): composed([operand] + elements)
    case .between(let operand, let lower, let upper): composed([operand, lower, upper])
    case .quantified(_, let child), .not(let child): [.condition(child)]
    case .and(let children), .or(let children): children.map(Nested.condition)
    }
  }

  private static func parts(of content: PredicateOperand.Content) -> [Nested] {
    switch content {
    case .path, .variable, .object, .value, .digits, .reference: []
    case .function(_, let arguments): arguments.map(Nested.operand)
    case .conditional(let condition, let first, let second):
      [.condition(condition), .operand(first), .operand(second)]
    case .collection(let collection), .aggregate(_, let collection):
      collection.filter.map { [.condition($0.condition)] } ?? []
    }
  }

  /// Returns the operands that contain others. Plain values and paths, which most operands are, contain none.
  private static func composed(_ operands: [PredicateOperand]) -> [Nested] {
    operands.filter { !$0.isFlat }.map(Nested.operand)
  }
}

extension PredicateOperand {
  /// True if the operand is a value or a path, which contain no other operands.
  var isFlat: Bool {
    switch content {
    case .path, .variable, .object, .value, .digits, .reference: true
    case .function, .conditional, .collection, .aggregate: false
    }
  }
}
