/// A condition on objects of any type: ``Where`` without its type.
///
/// It isn't generic, so that code of an app's module passes it on without type metadata; the functions of `Where`
/// become part of that code.
@usableFromInline
package struct Condition: Sendable {
  let content: Result<PredicateTree, QueryError>
  /// The nesting depth of the tree, so that combining doesn't have to walk it.
  private let depth: Int

  /// The condition that matches everything.
  package static var everything: Condition { Condition(.success(.constant(true)), depth: 0) }

  init(_ tree: PredicateTree) { self.init(.success(tree), depth: tree.depth) }

  init(_ content: Result<PredicateTree, QueryError>) {
    self.init(content, depth: (try? content.get().depth) ?? 0)
  }

  private init(_ content: Result<PredicateTree, QueryError>, depth: Int) {
    // The first mistake stays the one that is thrown.
    let isTooDeep = depth > PredicateTree.maximumDepth && (try? content.get()) != nil
    self.content = isTooDeep ? .failure(.nestedTooDeeply) : content
    self.depth = depth
  }

  /// Makes a comparison of two plain operands: paths and values, no calculations.
  private init(flat comparison: PredicateTree) {
    content = .success(comparison)
    depth = 0
  }

  /// Makes a comparison, unless the left operand is a mistake.
  @usableFromInline
  package init(
    _ left: Result<PredicateOperand, QueryError>,
    _ comparison: ComparisonOperator,
    _ right: PredicateOperand,
    _ options: StringOptions
  ) {
    if case .success(let left) = left, left.isFlat, right.isFlat {
      self.init(flat: .comparison(left, comparison, right, options))
    } else {
      self.init(left.map { .comparison($0, comparison, right, options) })
    }
  }

  /// The condition as a tree.
  ///
  /// - Throws: the first mistake that was made while the condition was built.
  package var tree: PredicateTree { get throws(QueryError) { try content.get() } }

  /// True if the condition is the constant `true`, which every query begins with.
  package var isEverything: Bool { if case .success(.constant(true)) = content { true } else { false } }
}

// MARK: - Combining

extension Condition {
  package static func && (left: Condition, right: Condition) -> Condition {
    join(left, right, PredicateTree.all).bounded
  }

  static func || (left: Condition, right: Condition) -> Condition {
    join(left, right, PredicateTree.any).bounded
  }

  static func all(_ conditions: [Condition]) -> Condition { join(conditions, PredicateTree.all) }

  static func any(_ conditions: [Condition]) -> Condition { join(conditions, PredicateTree.any) }

  static prefix func ! (condition: Condition) -> Condition {
    Condition(condition.content.map(PredicateTree.not), depth: condition.depth + 1)
  }

  /// The greatest number of conditions that `&&` or `||` join in a row: each operator copies those before it.
  static let maximumJoinedCount = 4_096

  private static func join(
    _ left: Condition,
    _ right: Condition,
    _ join: (PredicateTree, PredicateTree) -> PredicateTree
  ) -> Condition {
    guard case .success(let first) = left.content else { return left }
    guard case .success(let second) = right.content else { return right }
    let content = Result<PredicateTree, QueryError>.success(join(first, second))
    return Condition(content, depth: max(left.depth(in: content), right.depth(in: content)))
  }

  private static func join(_ conditions: [Condition], _ join: ([PredicateTree]) -> PredicateTree) -> Condition
  {
    let tree = Result { () throws(QueryError) in
      var trees: [PredicateTree] = []
      for condition in conditions { trees.append(try condition.tree) }
      return join(trees)
    }
    return Condition(tree, depth: conditions.map { $0.depth(in: tree) }.max() ?? 0)
  }

  /// Returns the depth that the condition gives to the condition that it is joined in.
  ///
  /// A side of the same kind is taken apart, not nested. Counting it in full overestimates the depth only when the
  /// two kinds alternate, which is when conditions nest.
  private func depth(in other: Result<PredicateTree, QueryError>) -> Int {
    isJoined(like: other) ? depth : depth + 1
  }

  /// This condition; a mistake if it joins too many others.
  private var bounded: Condition {
    switch content {
    case .success(.and(let joined)), .success(.or(let joined)):
      joined.count > Self.maximumJoinedCount
        ? Condition(.failure(.tooManyJoined(Self.maximumJoinedCount))) : self
    default: self
    }
  }

  private func isJoined(like other: Result<PredicateTree, QueryError>) -> Bool {
    switch (content, other) {
    case (.success(.and), .success(.and)), (.success(.or), .success(.or)): true
    default: false
    }
  }
}

extension Condition: CustomStringConvertible {
  /// The condition as a format string, or the mistake that was made building it.
  @usableFromInline
  package var description: String {
    switch content {
    case .success(let tree): tree.description
    case .failure(let error): error.description
    }
  }
}
