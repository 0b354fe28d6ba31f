/// A condition as a dictionary of key paths and the values that are required there.
///
/// ```swift
/// let condition: Where<Song> = ["title": "Carey", "seconds": 180..., "year": [1971, 1974], "album.title": nil]
/// let more = condition.or(["album": blue])
/// ```
///
/// All entries have to hold. A value asks for an equal one, an array or a set for one of its elements, a range of
/// any kind for a value within it, an object or an ID for that object, and nil for a missing value. nil among the
/// elements of an array asks for a missing value, too. A key leads through to-one relationships to an attribute or
/// a relationship; `SELF` is the object itself. Keys and values are checked against the schema when the condition
/// is used: an unknown name and a value of another type are mistakes that name the key path.
extension Where: ExpressibleByDictionaryLiteral {
  /// Makes a condition of the entries, in the order in which they are written.
  public init(dictionaryLiteral conditions: (String, (any PredicateArgument)?)...) {
    self.init(pairs: conditions)
  }

  /// Makes a condition of a dictionary that is made at run time; conditions are in the order of their keys.
  public init(_ conditions: [String: (any PredicateArgument)?]) {
    self.init(
      pairs: conditions.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }.map {
        ($0.key, $0.value)
      }
    )
  }

  private init(pairs: [(String, (any PredicateArgument)?)]) {
    let tree = Result { () throws(QueryError) in
      var conditions: [PredicateTree] = []
      for (keyPath, value) in pairs { conditions.append(try PredicateTree(keyPath, value)) }
      return PredicateTree.all(conditions)
    }
    self.init(tree)
  }
}

extension Where {
  /// Returns the condition that both conditions hold: `&&` for chains, and for dictionaries.
  public func and(_ other: Where) -> Where { self && other }

  /// Returns the condition that this condition or the other holds: `||` for chains, and for dictionaries.
  public func or(_ other: Where) -> Where { self || other }
}

extension PredicateTree {
  /// Makes the condition of one entry of a dictionary.
  fileprivate init(_ keyPath: String, _ value: (any PredicateArgument)?) throws(QueryError) {
    guard let names = KeyPathText.names(in: keyPath) else {
      let message = "A key consists of names with points between them; “\(keyPath)” is no key path."
      throw QueryError(.keyPath, message, keyPath: keyPath)
    }
    let operand: PredicateOperand = names.isEmpty ? .object : .path(names)
    switch value?._predicateArgument ?? .value(.null) {
    case .range(let range): self = range.tree(for: operand)
    case .list(let elements):
      var operands: [PredicateOperand] = []
      operands.reserveCapacity(elements.count)
      for element in elements { operands.append(try Self.operand(element, keyPath)) }
      self = .membership(operand, operands, [])
    case let single: self = .comparison(operand, .equal, try Self.operand(single, keyPath), [])
    }
  }

  private static func operand(
    _ argument: FormatArgument,
    _ keyPath: String
  ) throws(QueryError) -> PredicateOperand {
    switch argument {
    case .value(let value): return .value(value)
    case .object(let object): return .reference(object)
    case .objectWithoutID:
      var error = QueryError.objectWithoutID
      error.keyPath = keyPath
      throw error
    case .list, .range:
      throw QueryError(
        .arguments,
        "\(keyPath): a list has values and objects, no lists or ranges.",
        keyPath: keyPath
      )
    }
  }
}
