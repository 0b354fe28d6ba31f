import Foundation

// MARK: - Paths and optionals

extension PredicateExpressions.KeyPath: FoundationExpression {
  func converted(by conversion: inout FoundationConversion) throws(QueryError) -> Converted {
    let root = try conversion.converted(root)
    if case .optionalOperand(let object, let isPresent) = root {
      return .optionalOperand(try value(of: object), isPresent: isPresent)
    }
    guard let operand = FoundationConversion.operand(of: root) else {
      throw FoundationConversion.unsupported(Self.self)
    }
    return .operand(try value(of: operand))
  }

  private func value(of operand: PredicateOperand) throws(QueryError) -> PredicateOperand {
    if let common = try common(operand) { return common }
    // An enum is stored as its raw value.
    if let type = Root.Output.self as? any AttributeType.Type, type.isStoredValue(keyPath) { return operand }
    return try path(from: operand)
  }

  /// Returns the operand at the end of the key path that begins at `operand`.
  private func path(from operand: PredicateOperand) throws(QueryError) -> PredicateOperand {
    guard let type = Root.Output.self as? any PredicateRoot.Type else {
      throw QueryError(.keyPath, "\(keyPath) is not a persistent property.", keyPath: "\(keyPath)")
    }
    let names = try type.predicatePath(of: keyPath)
    var path = operand
    switch operand.content {
    case .object: path.content = .path(names)
    case .path(let first): path.content = .path(first + names)
    case .variable(let name, let first): path.content = .variable(name, first + names)
    case .aggregate(let aggregate, var collection):
      collection.element += names
      path.content = .aggregate(aggregate, collection)
    default: throw FoundationConversion.unsupported(Self.self)
    }
    return path
  }

  /// Returns `count`, `isEmpty`, `first` and `last` of a string or of a relationship.
  private func common(_ operand: PredicateOperand) throws(QueryError) -> PredicateOperand? {
    guard let kind else { return nil }
    let isText = Root.Output.self == String.self || Root.Output.self == Substring.self
    if isText {
      let length = PredicateOperand(.function(.length, [operand]))
      switch kind {
      case .collectionCount: return length
      case .collectionIsEmpty:
        return FoundationConversion.truth(of: .comparison(operand, .equal, .value(.string("")), []))
      default: throw FoundationConversion.unsupported(Self.self)
      }
    }
    guard let collection = operand.content.asCollection else { return nil }
    switch kind {
    case .collectionCount: return PredicateOperand(.aggregate(.count, collection))
    case .collectionIsEmpty:
      let count = PredicateOperand(.aggregate(.count, collection))
      return FoundationConversion.truth(of: .comparison(count, .equal, .value(.int(0)), []))
    case .collectionFirst: return PredicateOperand(.aggregate(.element(0), collection))
    case .bidirectionalCollectionLast: return PredicateOperand(.aggregate(.last, collection))
    @unknown default: return nil
    }
  }
}

extension AttributeType {
  /// Returns whether a key path is the raw value as which a value is stored, or the value itself.
  ///
  /// A key path of a concrete type isn't equal to that of the protocol's `rawValue`. So a key path to a value of the
  /// raw value's type is applied to a few values for which the result shows the difference.
  fileprivate static func isStoredValue(_ keyPath: AnyKeyPath) -> Bool {
    if keyPath == \Self.self { return true }
    guard let stored = storedType, stored == type(of: keyPath).valueType else { return false }
    let samples = Self.samples
    return !samples.isEmpty
      && samples.allSatisfy { sample in
        guard let value = sample[keyPath: keyPath] as? any AttributeType else { return false }
        return value._attributeValue == sample._attributeValue
      }
  }

  /// The type of the raw value, or of a URL's text; nil for a type whose values are stored as they are.
  private static var storedType: Any.Type? {
    self == URL.self ? String.self : (self as? any RawRepresentable.Type)?.rawType
  }

  /// The cases of an enum that lists its cases; of another type, those of a few values that the type accepts.
  private static var samples: [Self] {
    if let type = self as? any CaseIterable.Type { return type.cases() }
    let numbers = [0, 1, 2, 3, 5, 8, 90, -91].map(AttributeValue.int)
    let texts = [" aZ\u{E9}9 ", "https://Example.com/aZ?b#c"].map(AttributeValue.string)
    let others: [AttributeValue] = [
      .double(-91.25), .decimal(-91.25), .date(Date(timeIntervalSinceReferenceDate: -91.25)),
    ]
    return (numbers + texts + others).compactMap { Self(_attributeValue: $0) }
      + [tracerValue].compactMap(\.self)
  }
}

extension RawRepresentable {
  fileprivate static var rawType: Any.Type { RawValue.self }
}

extension CaseIterable {
  fileprivate static func cases<Value>() -> [Value] { allCases.compactMap { $0 as? Value } }
}

extension PredicateExpressions.NilLiteral: FoundationExpression {
  func converted(by conversion: inout FoundationConversion) -> Converted { .operand(.value(.null)) }
}

extension PredicateExpressions.OptionalFlatMap: FoundationExpression {
  func converted(by conversion: inout FoundationConversion) throws(QueryError) -> Converted {
    let wrapped = try conversion.converted(wrapped)
    if case .optionalOperand(let operand, let isPresent) = wrapped {
      return try converted(from: operand, where: isPresent, &conversion)
    }
    guard let operand = FoundationConversion.operand(of: wrapped) else {
      throw FoundationConversion.unsupported(Self.self)
    }
    let isHere = PredicateTree.comparison(operand, .notEqual, .value(.null), [])
    conversion.variables[variable.key] = .operand(operand)
    switch try conversion.converted(transform) {
    case .condition(let tree): return .optionalCondition(tree, isPresent: isHere)
    case .optionalCondition(let tree, let isPresent):
      return .optionalCondition(tree, isPresent: .all([isHere, isPresent]))
    case .operand(let value) where value.isNil(where: operand): return .operand(value)
    case .operand(let value):
      if case .conditional(let tree, .value(.bool(true)), .value(.bool(false))) = value.content {
        return .optionalCondition(tree, isPresent: isHere)
      }
      return .operand(PredicateOperand(.conditional(isHere, value, .value(.null))))
    case .optionalOperand(let value, let isPresent):
      return .optionalOperand(value, isPresent: .all([isHere, isPresent]))
    case let other: return other
    }
  }

  /// Returns the transformation of a value that is nil where the condition doesn't hold, and may be nil elsewhere.
  private func converted(
    from operand: PredicateOperand,
    where isPresent: PredicateTree,
    _ conversion: inout FoundationConversion
  ) throws(QueryError) -> Converted {
    conversion.variables[variable.key] = .operand(operand)
    let transformed = try conversion.converted(transform)
    if case .operand(let value) = transformed, value.isNil(where: operand) {
      return .optionalOperand(value, isPresent: isPresent)
    }
    let isThere = PredicateTree.comparison(operand, .notEqual, .value(.null), [])
    return try transformed.present(
      where: operand.content == .object ? isPresent : .all([isPresent, isThere])
    )
  }
}

extension PredicateAggregate {
  /// True if the aggregate is the value of one element. It is nil if the collection has no such element.
  fileprivate var isOneElement: Bool {
    switch self {
    case .element, .last: true
    default: false
    }
  }
}

extension PredicateCollection {
  /// Returns whether the collection is `other`, or a property of the elements of `other`.
  fileprivate func goesOn(from other: PredicateCollection) -> Bool {
    var other = other
    guard element.starts(with: other.element) else { return false }
    other.element = element
    return self == other
  }
}

extension PredicateFunction {
  /// True if the function gives nil if one of its arguments is nil.
  fileprivate var isNilOfNil: Bool { ![.minimum, .maximum, .sum, .average].contains(self) }
}

extension PredicateOperand {
  /// Returns whether the operand is nil for every object for which `optional` is nil. A path that continues the
  /// optional's path is nil there; a count and a constant are not.
  fileprivate func isNil(where optional: PredicateOperand) -> Bool {
    switch (content, optional.content) {
    case (.path(let names), .path(let first)): names.starts(with: first)
    case (.path, .object): true
    case (.variable(let name, let names), .variable(let other, let first)):
      name == other && names.starts(with: first)
    case (.aggregate(let aggregate, let collection), .aggregate(let other, let first)):
      aggregate == other && aggregate.isOneElement && collection.goesOn(from: first)
    // Without an owner there is no element.
    case (.aggregate(let aggregate, let collection), .path(let owner)):
      aggregate.isOneElement && collection.variable == nil && collection.names.starts(with: owner)
    case (.aggregate(let aggregate, let collection), .variable(let name, let owner)):
      aggregate.isOneElement && collection.variable == name && collection.names.starts(with: owner)
    case (.function(let function, let arguments), _):
      function.isNilOfNil && arguments.contains { $0.isNil(where: optional) }
    default: self == optional
    }
  }
}

extension PredicateExpressions.NilCoalesce: FoundationExpression {
  func converted(by conversion: inout FoundationConversion) throws(QueryError) -> Converted {
    switch try conversion.converted(lhs) {
    case .optionalCondition(let tree, let isPresent):
      let other = try conversion.condition(rhs)
      return .condition(.any([.all([isPresent, tree]), .all([.not(isPresent), other])]))
    case .operand(let operand):
      return .operand(operand.replacingNil(with: try conversion.operand(rhs)))
    case .optionalOperand(let operand, let isPresent):
      let isThere = PredicateTree.all([isPresent, .comparison(operand, .notEqual, .value(.null), [])])
      return .operand(PredicateOperand(.conditional(isThere, operand, try conversion.operand(rhs))))
    case let other: return other
    }
  }
}

extension PredicateExpressions.ForcedUnwrap: FoundationExpression {
  func converted(by conversion: inout FoundationConversion) throws(QueryError) -> Converted {
    try conversion.converted(inner)
  }
}

// MARK: - Arithmetic

extension PredicateExpressions.Arithmetic: FoundationExpression {
  func converted(by conversion: inout FoundationConversion) throws(QueryError) -> Converted {
    let function: PredicateFunction =
      switch op {
      case .add: .add
      case .subtract: .subtract
      case .multiply: .multiply
      @unknown default: throw FoundationConversion.unsupported(Self.self)
      }
    return try conversion.call(function, lhs, rhs)
  }
}

extension PredicateExpressions.IntDivision: FoundationExpression {
  func converted(by conversion: inout FoundationConversion) throws(QueryError) -> Converted {
    try conversion.call(.divide, lhs, rhs)
  }
}

extension PredicateExpressions.FloatDivision: FoundationExpression {
  func converted(by conversion: inout FoundationConversion) throws(QueryError) -> Converted {
    try conversion.call(.divide, lhs, rhs)
  }
}

extension PredicateExpressions.IntRemainder: FoundationExpression {
  func converted(by conversion: inout FoundationConversion) throws(QueryError) -> Converted {
    try conversion.call(.modulus, lhs, rhs)
  }
}

extension PredicateExpressions.UnaryMinus: FoundationExpression {
  func converted(by conversion: inout FoundationConversion) throws(QueryError) -> Converted {
    try conversion.call(.negate, wrapped)
  }
}
