/// A condition that is made ready to be tested on subjects, one after the other: its patterns are compiled, and its
/// lists are sets of values, also inside of conditions on elements.
package struct SubjectCondition: Sendable {
  indirect enum Test: Sendable {
    case constant(Bool)
    /// The path's value is one of the set; comparisons with literals become this.
    case values(ResolvedPath, ValueSet)
    /// The operand is a text that passes the test.
    case text(Operand, TextTest)
    /// The operand equals one of the literals.
    case among(Operand, LiteralSet)
    /// nil equals nil; else false with a nil, except `notEqual`.
    case compare(Operand, ComparisonOperator, Operand, StringOptions)
    /// There is an element that counts.
    case exists(Elements)
    case not(Test)
    case and([Test])
    case or([Test])
  }

  indirect enum Operand: Sendable {
    case literal(AttributeValue)
    case path(ResolvedPath)
    case function(PredicateFunction, [Operand])
    /// The first operand where the test holds, else the second.
    case conditional(Test, Operand, Operand)
    case aggregate(PredicateAggregate, Elements)
  }

  /// The elements of a collection that meet its condition.
  struct Elements: Sendable {
    let collection: ResolvedCollection
    /// The condition of the collection.
    let condition: Test
  }

  let test: Test

  /// Makes a predicate ready. O(length of the predicate and its patterns).
  package init(_ predicate: NormalPredicate) { test = Test(predicate) }

  /// Makes a predicate ready after normalising it.
  package init(_ predicate: ResolvedPredicate) { self.init(Normaliser.normalise(predicate)) }
}

extension SubjectCondition.Test {
  fileprivate init(_ predicate: NormalPredicate) {
    switch predicate {
    case .constant(let value): self = .constant(value)
    case .values(let path, let set): self = .values(path, set)
    case .test(let test, let isNegated): self = isNegated ? .not(Self(test)) : Self(test)
    case .and(let children): self = .and(Self.tests(of: GatheredParts(children, isNegated: true)))
    case .or(let children): self = .or(Self.tests(of: GatheredParts(children, isNegated: false)))
    }
  }

  private static func tests(of gathered: GatheredParts) -> [Self] {
    gathered.parts.map { part in
      guard let list = gathered.list(for: part) else { return Self(part) }
      let test = Self.among(SubjectCondition.Operand(list.operand), list.literals)
      return list.isNegated ? .not(test) : test
    }
  }

  private init(_ test: ResolvedPredicate) {
    switch test {
    case .compare(let path, let comparison, .string(let text), let options):
      self = .text(.path(path), SubjectCondition.TextTest(comparison, text, options))
    case .comparePaths(let left, let comparison, let right, let options):
      self = .compare(.path(left), comparison, .path(right), options)
    case .compareValues(let left, let comparison, .literal(.string(let text)), let options)
    where comparison.isStringOperator:
      self = .text(SubjectCondition.Operand(left), SubjectCondition.TextTest(comparison, text, options))
    case .compareValues(let left, let comparison, let right, let options):
      self = .compare(SubjectCondition.Operand(left), comparison, SubjectCondition.Operand(right), options)
    case .exists(let collection): self = .exists(SubjectCondition.Elements(collection))
    case .compare:
      // A string operator on another value than a string is false.
      self = .constant(false)
    case .constant, .isNull, .among, .within, .not, .and, .or:
      self.init(Normaliser.normalise(test))
    }
  }
}

extension SubjectCondition.Operand {
  fileprivate init(_ expression: ResolvedExpression) {
    switch expression {
    case .literal(let value): self = .literal(value)
    case .path(let path): self = .path(path)
    case .function(let function, let arguments): self = .function(function, arguments.map { Self($0) })
    case .conditional(let condition, let first, let second):
      let test = SubjectCondition.Test(Normaliser.normalise(condition))
      self = .conditional(test, Self(first), Self(second))
    case .aggregate(let aggregate, let collection):
      self = .aggregate(aggregate, SubjectCondition.Elements(collection))
    }
  }
}

extension SubjectCondition.Elements {
  fileprivate init(_ collection: ResolvedCollection) {
    self.init(
      collection: collection,
      condition: SubjectCondition.Test(Normaliser.normalise(collection.condition))
    )
  }
}

// MARK: - Texts

extension SubjectCondition {
  /// A test of a text that no set of values expresses.
  enum TextTest: Sendable {
    /// The folded text fits.
    case like(LikePattern, folding: StringOptions)
    /// The text fits. Nil for a pattern that can't be compiled; nothing fits it.
    case matches(RegexPattern?)
    /// The operator holds between the folded text and these bytes.
    case search(ComparisonOperator, [UInt8], folding: StringOptions)

    fileprivate init(_ comparison: ComparisonOperator, _ text: String, _ options: StringOptions) {
      let folding = options.folding
      switch comparison {
      case .like: self = .like(LikePattern(text, folding), folding: folding)
      // Resolving has refused texts that are no patterns.
      case .matches: self = .matches(try? RegexPattern(text, folding))
      default: self = .search(comparison, Array(StringFolding.fold(text, folding).utf8), folding: folding)
      }
    }

    func holds(_ text: String) -> Bool {
      switch self {
      case .like(let pattern, let folding):
        return Self.withBytes(of: text, folding) { pattern.matches($0) }
      case .matches(let pattern): return pattern?.matches(text) ?? false
      case .search(let comparison, let bytes, let folding):
        return Self.withBytes(of: text, folding) { text in
          bytes.withUnsafeBytes { ByteComparison.matches(text, comparison, $0) }
        }
      }
    }

    private static func withBytes(
      of text: String,
      _ folding: StringOptions,
      _ body: (UnsafeRawBufferPointer) -> Bool
    ) -> Bool {
      var folded = StringFolding.fold(text, folding)
      return folded.withUTF8 { body(UnsafeRawBufferPointer($0)) }
    }
  }
}
