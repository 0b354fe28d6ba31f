/// A query without its values: entity, predicate and sort keys. Limit and offset play no part in it, and neither do
/// lengths of lists.
///
/// Only queries that a template can represent have a shape: comparisons of paths with values and with each other,
/// lists and ranges of values, joined by AND, OR and NOT. Queries that ask for elements of collections, calculate,
/// or take a pattern have none.
struct QueryShape: Sendable {
  private let entity: EntityID
  /// The class of the objects; nil if the entity has one class.
  private let className: String?
  /// The predicate, in which each value is `null` and each list is empty: no value of a query stays in memory.
  private let predicate: PredicateTree
  private let sort: [NamedSort]

  /// The greatest number of conditions, brackets and sort keys of a shape: it bounds the size of a template.
  static let maximumPartCount = 64

  init(_ query: NamedQuery, _ entity: EntitySchema) {
    self.entity = entity.id
    className = Self.className(entity)
    predicate = query.predicate.withoutValues
    sort = query.sort
  }

  /// Returns a number that queries of one shape have in common; nil for a query without a shape. O(size of the tree),
  /// but for values.
  static func hash(of query: NamedQuery, _ entity: EntitySchema) -> UInt64? {
    var hash = ShapeHash()
    hash.add(UInt64(truncatingIfNeeded: entity.id.ordinal))
    if let name = className(entity) { hash.add([name]) }
    guard query.sort.count <= maximumPartCount, hash.add(query.predicate) else { return nil }
    for key in query.sort {
      hash.add(key.isAscending ? 1 : 2)
      hash.add(key.names)
    }
    return hash.value
  }

  /// Returns whether the query, which has a shape, has this shape.
  func fits(_ query: NamedQuery, _ entity: EntitySchema) -> Bool {
    self.entity == entity.id && className == Self.className(entity) && sort == query.sort
      && predicate.hasShape(of: query.predicate)
  }

  private static func className(_ entity: EntitySchema) -> String? {
    entity.classes.isEmpty ? nil : entity.name
  }
}

// MARK: - Hashing

/// A hash: FNV-1a by words. A predictable hash does no harm: of two shapes with one hash, one is kept.
private struct ShapeHash {
  private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325
  private var partCount = 0

  mutating func add(_ word: UInt64) { value = (value ^ word) &* 0x100_0000_01B3 }

  mutating func add(_ names: [String]) {
    for name in names {
      for byte in name.utf8 { add(UInt64(byte)) }
      add(0x100)
    }
  }

  /// Adds a tree; returns false for a tree without a shape.
  mutating func add(_ tree: PredicateTree) -> Bool {
    partCount += 1
    guard partCount <= QueryShape.maximumPartCount else { return false }
    switch tree {
    case .constant, .quantified: return false
    case .comparison(let left, let comparison, let right, let options):
      guard !comparison.takesPattern, !(left.isLiteral && right.isLiteral) else { return false }
      add(0x200 + comparison.code)
      add(UInt64(options.rawValue))
      return add(left) && add(right)
    case .membership(let operand, let elements, let options):
      guard !operand.isLiteral, elements.allSatisfy(\.isLiteral) else { return false }
      add(0x201)
      add(UInt64(options.rawValue))
      return add(operand)
    case .between(let operand, let lower, let upper):
      guard !operand.isLiteral, lower.isLiteral, upper.isLiteral else { return false }
      add(0x202)
      return add(operand)
    case .not(let child):
      add(0x203)
      return add(child)
    case .and(let children):
      add(0x204)
      return add(children)
    case .or(let children):
      add(0x205)
      return add(children)
    }
  }

  private mutating func add(_ children: [PredicateTree]) -> Bool {
    add(UInt64(children.count))
    for child in children where !add(child) { return false }
    return true
  }

  private mutating func add(_ operand: PredicateOperand) -> Bool {
    switch operand.content {
    case .path(let names): add(names)
    case .object: add(0x101)
    case .value, .digits, .reference: add(0x102)
    case .variable, .function, .conditional, .collection, .aggregate: return false
    }
    return true
  }
}

extension ComparisonOperator {
  /// A number that is different for each operator.
  fileprivate var code: UInt64 {
    switch self {
    case .equal: 0x10
    case .notEqual: 0x11
    case .less: 0x12
    case .lessOrEqual: 0x13
    case .greater: 0x14
    case .greaterOrEqual: 0x15
    case .beginsWith: 0x16
    case .endsWith: 0x17
    case .contains: 0x18
    case .like: 0x19
    case .matches: 0x1A
    }
  }
}

// MARK: - Comparing, and taking values out

extension PredicateTree {
  /// Returns whether the other tree differs in values alone.
  fileprivate func hasShape(of other: PredicateTree) -> Bool {
    switch (self, other) {
    case (.comparison(let a, let one, let b, let options), .comparison(let c, let two, let d, let others)):
      one.code == two.code && options == others && a.hasShape(of: c) && b.hasShape(of: d)
    case (.membership(let a, _, let options), .membership(let b, _, let others)):
      options == others && a.hasShape(of: b)
    case (.between(let a, _, _), .between(let b, _, _)): a.hasShape(of: b)
    case (.not(let a), .not(let b)): a.hasShape(of: b)
    case (.and(let first), .and(let second)), (.or(let first), .or(let second)):
      first.count == second.count && zip(first, second).allSatisfy { $0.hasShape(of: $1) }
    default: false
    }
  }

  fileprivate var withoutValues: PredicateTree {
    switch self {
    case .comparison(let left, let comparison, let right, let options):
      .comparison(left.withoutValue, comparison, right.withoutValue, options)
    case .membership(let operand, _, let options): .membership(operand.withoutValue, [], options)
    case .between(let operand, _, _): .between(operand.withoutValue, .value(.null), .value(.null))
    case .not(let child): .not(child.withoutValues)
    case .and(let children): .and(children.map(\.withoutValues))
    case .or(let children): .or(children.map(\.withoutValues))
    case .constant, .quantified: self
    }
  }
}

extension PredicateOperand {
  fileprivate func hasShape(of other: PredicateOperand) -> Bool {
    switch (content, other.content) {
    case (.path(let first), .path(let second)): first == second
    case (.object, .object): true
    default: isLiteral && other.isLiteral
    }
  }

  /// The operand without its value. The position in a text is removed, too, because it would keep the text.
  fileprivate var withoutValue: PredicateOperand {
    isLiteral ? .value(.null) : PredicateOperand(content)
  }
}
