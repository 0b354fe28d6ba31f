/// A condition on objects of one type, in any spelling: a closure, key paths and operators, a format string, or a
/// dictionary.
///
/// ```swift
/// let long = Where<Song> { $0.seconds > 180 && $0.album.year < 1980 }
/// let blue: Where<Song> = \.album?.title == "Blue"
/// let both = try long && (blue || Where(format: "title BEGINSWITH[c] %@", "car"))
/// ```
///
/// `&&`, `||` and `!` combine conditions whichever way they were spelled. A mistake that shows while a
/// condition is built in Swift, such as a key path that is not persistent, is kept and thrown by ``tree``.
public struct Where<Root>: Sendable {
  let content: Result<PredicateTree, QueryError>
  /// How deep the tree is nested, so that combining doesn't have to walk it.
  private let depth: Int

  /// The condition as a tree.
  ///
  /// - Throws: the first mistake that was made while the condition was built.
  public var tree: PredicateTree { get throws(QueryError) { try content.get() } }

  /// A condition from a tree.
  public init(_ tree: PredicateTree) {
    self.init(.success(tree), depth: tree.depth)
  }

  /// A condition from a closure, whose argument stands for the object: `{ $0.seconds > 180 && $0.album.year <
  /// 1980 }`.
  public init(_ condition: (ValueExpression<Root, Root>) -> Where<Root>) {
    self = condition(ValueExpression(.success(.object)))
  }

  /// Whether a Bool that a key path leads to is true: `\.isLate`.
  public init(_ keyPath: KeyPath<Root, Bool>) where Root: PredicateRoot {
    self = ValueExpression<Root, Bool>(keyPath) == true
  }

  /// Whether an optional Bool that a key path leads to is true: `\.origin?.isOpen`. Where it is missing it isn't.
  public init(_ keyPath: KeyPath<Root, Bool?>) where Root: PredicateRoot {
    self = ValueExpression<Root, Bool>(keyPath) == true
  }

  /// Matches everything, or nothing.
  public init(_ value: Bool) {
    self.init(.success(.constant(value)), depth: 0)
  }

  /// Makes a condition from a comparison of two plain operands: paths and values, no calculations.
  init(flat comparison: PredicateTree) {
    content = .success(comparison)
    depth = 0
  }

  /// Whether the condition is the constant `true`, which every query begins with.
  package var isEverything: Bool { if case .success(.constant(true)) = content { true } else { false } }

  init(_ content: Result<PredicateTree, QueryError>) {
    self.init(content, depth: (try? content.get().depth) ?? 0)
  }

  private init(_ content: Result<PredicateTree, QueryError>, depth: Int) {
    // The first mistake stays the one that is thrown.
    let isTooDeep = depth > PredicateTree.maximumDepth && (try? content.get()) != nil
    self.content = isTooDeep ? .failure(.nestedTooDeeply) : content
    self.depth = depth
  }
}

// MARK: - Combining

extension Where {
  /// Both. To join many, ``all(_:)`` takes time in proportion to them; ``maximumJoinedCount`` is the most that operators join.
  public static func && (left: Where, right: Where) -> Where {
    join(left, right, PredicateTree.all).bounded
  }

  /// One of the two, or both. To join many, ``any(_:)`` takes time in proportion to them; ``maximumJoinedCount`` is the most that
  /// operators join.
  public static func || (left: Where, right: Where) -> Where {
    join(left, right, PredicateTree.any).bounded
  }

  /// Every one of the conditions; of none, all objects. O(conditions).
  public static func all(_ conditions: some Sequence<Where>) -> Where {
    join(Array(conditions), PredicateTree.all)
  }

  /// At least one of the conditions; of none, no object. O(conditions). To ask whether one property is any of
  /// several values, `values.contains($0.property)` is one condition.
  public static func any(_ conditions: some Sequence<Where>) -> Where {
    join(Array(conditions), PredicateTree.any)
  }

  /// How many conditions `&&` or `||` join in a row: each operator copies those before it.
  public static var maximumJoinedCount: Int { 4_096 }

  /// The opposite: it holds exactly where the condition doesn't.
  public static prefix func ! (condition: Where) -> Where {
    Where(condition.content.map(PredicateTree.not), depth: condition.depth + 1)
  }

  private static func join(
    _ left: Where,
    _ right: Where,
    _ join: (PredicateTree, PredicateTree) -> PredicateTree
  ) -> Where {
    guard case .success(let first) = left.content else { return left }
    guard case .success(let second) = right.content else { return right }
    let content = Result<PredicateTree, QueryError>.success(join(first, second))
    return Where(content, depth: max(left.depth(in: content), right.depth(in: content)))
  }

  private static func join(_ conditions: [Where], _ join: ([PredicateTree]) -> PredicateTree) -> Where {
    let tree = Result { () throws(QueryError) in
      var trees: [PredicateTree] = []
      for condition in conditions { trees.append(try condition.tree) }
      return join(trees)
    }
    return Where(tree, depth: conditions.map { $0.depth(in: tree) }.max() ?? 0)
  }

  /// How deep the condition makes the one that it is joined in.
  ///
  /// A side of the same kind is taken apart, not nested; counting it in full errs on the safe side only when the two kinds alternate,
  /// which is when it nests.
  private func depth(in other: Result<PredicateTree, QueryError>) -> Int {
    isJoined(like: other) ? depth : depth + 1
  }

  /// The condition, or a mistake if it joins too many others.
  private var bounded: Where {
    switch content {
    case .success(.and(let joined)), .success(.or(let joined)):
      joined.count > Self.maximumJoinedCount ? Where(.failure(.tooManyJoined(Self.maximumJoinedCount))) : self
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

extension Where: CustomStringConvertible {
  /// The condition as a format string, or the mistake that was made building it.
  public var description: String {
    switch content {
    case .success(let tree): tree.description
    case .failure(let error): error.description
    }
  }
}
