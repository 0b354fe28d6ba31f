// Calculations for a row: values on a stack, and loops over the elements of collections.
extension FilterProgram {
  /// One step of a calculation.
  enum Instruction: Sendable {
    case push(AttributeValue)
    case load(RowField)
    /// Pops `count` values from the stack and pushes the function's value.
    case call(PredicateFunction, count: Int)
    case aggregate(AggregateStep, loop: Int)
    /// Continues if the steps accept the row, else skips `skip` instructions.
    case branch(step: Int32, skip: Int)
    case skip(Int)
  }

  /// A loop over the elements of a collection, with their condition.
  struct Loop: Sendable {
    /// A step from one object to the elements of a to-many relationship, or from a list to its elements.
    struct Level: Sendable {
      /// The object's ID or a reference to it; or the list.
      let owner: RowField
      /// The relationship; nil for a list.
      let relationship: Int?
      /// The index of an element's record among the row's records.
      let place: Int
    }

    let levels: [Level]
    /// The step at which the condition on the last level's element begins.
    let condition: Int32
    let value: RowField
    let isDistinct: Bool
    /// The only level, if the loop neither tests nor reads its objects.
    var counted: (owner: RowField, relationship: Int)? {
      guard levels.count == 1, condition == Outcome.accepted, value.isObjectID else { return nil }
      return levels[0].relationship.map { (levels[0].owner, $0) }
    }
  }

  /// Returns the value that the instructions calculate.
  func value(of range: Range<Int>, _ row: inout RowReader) throws -> AttributeValue {
    if range.count == 1, case .load(let field) = instructions[range.lowerBound] {
      return try row.value(of: field)
    }
    let depth = row.stack.count
    defer { row.stack.removeLast(row.stack.count - depth) }
    var position = range.lowerBound
    while position < range.upperBound {
      switch instructions[position] {
      case .push(let value): row.stack.append(value)
      case .load(let field): row.stack.append(try row.value(of: field))
      case .call(let function, let count):
        let value = function.value(of: row.stack[(row.stack.count - count)...])
        row.stack.removeLast(count)
        row.stack.append(value)
      case .aggregate(let step, let loop):
        row.stack.append(try value(of: step, loops[loop], &row))
      case .branch(let step, let skip):
        if try !holds(from: step, &row) { position += skip }
      case .skip(let count): position += count
      }
      position += 1
    }
    return row.stack.last ?? .null
  }

  func exists(_ loop: Loop, _ row: inout RowReader) throws -> Bool {
    if let counted = loop.counted {
      return try row.elementCount(of: counted.owner, in: counted.relationship) > 0
    }
    return try !forEachElement(loop, from: 0, &row) { _ in false }
  }

  private func value(
    of step: AggregateStep,
    _ loop: Loop,
    _ row: inout RowReader
  ) throws -> AttributeValue {
    if step.aggregate == .count, let counted = loop.counted {
      return .int(Int64(try row.elementCount(of: counted.owner, in: counted.relationship)))
    }
    var accumulator = Accumulator()
    var known: Set<AttributeValue> = []
    _ = try forEachElement(loop, from: 0, &row) { row in
      if loop.isDistinct, try !known.insert(row.value(of: loop.value)).inserted { return true }
      try step.add(&row, to: &accumulator)
      return !accumulator.isComplete(step.aggregate)
    }
    return step.value(of: accumulator)
  }

  /// Calls `body` for each element that counts, until `body` returns false. Returns false if `body` did.
  private func forEachElement(
    _ loop: Loop,
    from level: Int,
    _ row: inout RowReader,
    _ body: (inout RowReader) throws -> Bool
  ) throws -> Bool {
    let (owner, relationship, place) = (
      loop.levels[level].owner, loop.levels[level].relationship, loop.levels[level].place
    )
    return try row.forEachElement(of: owner, in: relationship, at: place) { row in
      if level + 1 < loop.levels.count { return try forEachElement(loop, from: level + 1, &row, body) }
      return try !holds(from: loop.condition, &row) || body(&row)
    }
  }
}
