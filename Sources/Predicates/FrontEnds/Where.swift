/// A condition on objects of one type, in any spelling: a closure, key paths and operators, a format string, or a
/// dictionary.
///
/// ```swift
/// let long = Where<Song> { $0.seconds > 180 && $0.album.year < 1980 }
/// let blue: Where<Song> = \.album?.title == "Blue"
/// let both = try long && (blue || Where(format: "title BEGINSWITH[c] %@", "car"))
/// ```
///
/// `&&`, `||` and `!` combine conditions of any spelling. A mistake that is found while a condition is built in
/// Swift, such as a key path that is not persistent, is kept and thrown by ``tree``.
public struct Where<Root>: Sendable {
  @usableFromInline package let condition: Condition

  @inlinable package init(_ condition: Condition) { self.condition = condition }

  init(_ content: Result<PredicateTree, QueryError>) { condition = Condition(content) }

  /// The condition as a tree.
  ///
  /// - Throws: the first mistake that was made while the condition was built.
  public var tree: PredicateTree { get throws(QueryError) { try condition.tree } }

  /// Makes a condition from a tree.
  public init(_ tree: PredicateTree) { condition = Condition(tree) }

  /// Makes a condition from a closure, whose argument stands for the object:
  /// `{ $0.seconds > 180 && $0.album.year < 1980 }`.
  @inlinable
  public init(_ condition: (ValueExpression<Root, Root>) -> Where<Root>) {
    self = condition(ValueExpression<Root, Root>.object)
  }

  /// Makes the condition that the Bool of a key path is true: `\.isLate`.
  public init(_ keyPath: KeyPath<Root, Bool>) where Root: PredicateRoot {
    self = ValueExpression<Root, Bool>(keyPath) == true
  }

  /// Makes the condition that the optional Bool of a key path is true: `\.origin?.isOpen`. False where it is missing.
  public init(_ keyPath: KeyPath<Root, Bool?>) where Root: PredicateRoot {
    self = ValueExpression<Root, Bool>(keyPath) == true
  }

  /// Makes the condition that matches everything, or nothing.
  public init(_ value: Bool) { condition = Condition(.constant(value)) }
}

// MARK: - Combining

extension Where {
  /// Returns the condition that both hold. To join many, ``all(_:)`` takes time in proportion to them;
  /// ``maximumJoinedCount`` is the most that operators join.
  public static func && (left: Where, right: Where) -> Where { Where(left.condition && right.condition) }

  /// Returns the condition that one of the two holds, or both. To join many, ``any(_:)`` takes time in proportion to
  /// them; ``maximumJoinedCount`` is the most that operators join.
  public static func || (left: Where, right: Where) -> Where { Where(left.condition || right.condition) }

  /// Returns the condition that every one of the conditions holds; of none, it matches all objects. O(conditions).
  public static func all(_ conditions: some Sequence<Where>) -> Where {
    Where(Condition.all(conditions.map { $0.condition }))
  }

  /// Returns the condition that at least one of the conditions holds; of none, it matches no object. O(conditions). To
  /// ask whether one property is any of several values, `values.contains($0.property)` is one condition.
  public static func any(_ conditions: some Sequence<Where>) -> Where {
    Where(Condition.any(conditions.map { $0.condition }))
  }

  /// The greatest number of conditions that `&&` or `||` join in a row: each operator copies those before it.
  public static var maximumJoinedCount: Int { Condition.maximumJoinedCount }

  /// Returns the opposite, which holds exactly where the condition doesn't.
  public static prefix func ! (condition: Where) -> Where { Where(!condition.condition) }
}

extension Where: CustomStringConvertible {
  /// The condition as a format string, or the mistake that was made building it.
  public var description: String { condition.description }
}
