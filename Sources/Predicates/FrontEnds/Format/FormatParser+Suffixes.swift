// Suffixes of a value that select a part of it: `.name`, `.@operator`, `[index]`.
extension FormatParser {
  /// Consumes the suffixes of the last value, and replaces the value.
  mutating func acceptSuffixes() throws(QueryError) {
    while true {
      switch token.kind {
      case .symbol(.dot):
        if case .collectionOperator(let name) = try peekedAfterDot() {
          try acceptCollectionOperator(name)
        } else {
          try acceptNames()
        }
      case .symbol(.openBracket):
        try acceptIndex()
      default:
        return
      }
    }
  }

  /// Reads all names after points, and returns them with their positions.
  mutating func suffixNames() throws(QueryError) -> (names: [String], offsets: [Int]) {
    var names: [String] = []
    var offsets: [Int] = []
    while token.kind == .symbol(.dot) {
      if case .collectionOperator = try peekedAfterDot() { break }
      try advance()
      switch token.kind {
      case .word(let name), .name(let name):
        names.append(name)
        offsets.append(token.start)
      case .placeholder(.keyPath):
        let place = location(token.start)
        let more: [String]
        do throws(QueryError) { more = try arguments.nextKeyPath() } catch { throw error.at(place) }
        names += more
        offsets += more.map { _ in place.offset }
      default:
        throw error(.syntax, "Expected the name of a property after the point.", at: token.start)
      }
      if isFollowedByParenthesis {
        throw error(.syntax, "A function stands before its arguments: name(value).", at: token.start)
      }
      try advance()
    }
    return (names, offsets)
  }

  private mutating func acceptNames() throws(QueryError) {
    let dot = token.start
    let (names, offsets) = try suffixNames()
    try replaceLast(at: dot) { operand in
      let location = operand.location
      operand.location = location.map {
        SourceLocation(text: $0.text, offset: $0.offset, nameOffsets: $0.nameOffsets + offsets)
      }
      switch operand.content {
      case .object: operand.content = .path(names)
      case .path(let first): operand.content = .path(first + names)
      case .variable(let name, let first): operand.content = .variable(name, first + names)
      case .collection(var collection):
        collection.element += names
        operand.content = .collection(collection)
      case .aggregate(.element(let index), var collection):
        collection.element += names
        operand.content = .aggregate(.element(index), collection)
      case .aggregate(.last, var collection):
        collection.element += names
        operand.content = .aggregate(.last, collection)
      default: return false
      }
      return true
    }
  }

  private mutating func acceptCollectionOperator(_ name: String) throws(QueryError) {
    try advance()
    let start = token.start
    try advance()
    let (names, offsets) = try suffixNames()
    let aggregate = FormatOperator.collectionOperators[name]
    let isDistinct = FormatOperator.unions[name]
    guard aggregate != nil || isDistinct != nil else {
      throw error(.syntax, "The collection operator @\(name) is not supported.", at: start)
    }
    try checkLength(adding: names.count, at: start)
    try replaceLast(at: start) { operand in
      guard var collection = operand.content.asCollection else { return false }
      collection.element += names
      collection.isDistinct = collection.isDistinct || isDistinct == true
      operand.content = aggregate.map { .aggregate($0, collection) } ?? .collection(collection)
      operand.location = operand.location.map {
        SourceLocation(text: $0.text, offset: $0.offset, nameOffsets: $0.nameOffsets + offsets)
      }
      return true
    }
  }

  /// Throws `tooComplex` where the last value and more names make a path that is too long. Each operator copies the
  /// names before it, so a chain of operators would take quadratic time.
  private func checkLength(adding count: Int, at offset: Int) throws(QueryError) {
    guard case .operand(let operand)? = level.nodes.last?.kind, let collection = operand.content.asCollection,
      collection.names.count + collection.element.count + count > PredicateTree.maximumDepth
    else { return }
    throw error(.tooComplex, "A path has at most \(PredicateTree.maximumDepth) names.", at: offset)
  }

  /// Consumes `[FIRST]`, `[LAST]`, `[SIZE]`, `[3]`. No element has an index below 0, as none has one beyond the last:
  /// `[-1]` is nil, and not an element counted from the end.
  private mutating func acceptIndex() throws(QueryError) {
    let start = token.start
    try advance()
    let isNegative = token.kind == .symbol(.minus)
    if isNegative { try advance() }
    let aggregate: PredicateAggregate
    switch (token.keyword, token.kind) {
    case (_, .number(let number)) where isNegative:
      guard case .value(.int(let index))? = number.negated else {
        throw error(.syntax, "Expected a whole number between the brackets.", at: token.start)
      }
      aggregate = .element(Int(index))
    case _ where isNegative:
      throw error(.syntax, "Expected a number after the sign.", at: token.start)
    case (.first, _): aggregate = .element(0)
    case (.last, _): aggregate = .last
    case (.size, _): aggregate = .count
    case (_, .number(.value(.int(let index)))): aggregate = .element(Int(index))
    default:
      throw error(.syntax, "Expected FIRST, LAST, SIZE or a number between the brackets.", at: token.start)
    }
    try advance()
    try expect(.closeBracket, "after the index")
    try replaceLast(at: start) { operand in
      guard let collection = operand.content.asCollection, !collection.isDistinct else { return false }
      operand.content = .aggregate(aggregate, collection)
      return true
    }
  }

  /// Changes the last value.
  private mutating func replaceLast(
    at offset: Int,
    _ change: (inout PredicateOperand) -> Bool
  ) throws(QueryError) {
    let last = popNode()
    guard case .operand(var operand) = last.kind, change(&operand) else {
      throw error(.syntax, "Only a path to several objects can be followed by this.", at: offset)
    }
    push(Node(kind: .operand(operand), start: last.start, depth: last.depth))
  }
}

extension PredicateOperand.Content {
  /// The collection that the operand is, or that the path leads to; nil for values.
  var asCollection: PredicateCollection? {
    switch self {
    case .path(let names): PredicateCollection(names: names)
    case .variable(let name, let names): PredicateCollection(variable: name, names: names)
    case .collection(let collection): collection
    default: nil
    }
  }
}
