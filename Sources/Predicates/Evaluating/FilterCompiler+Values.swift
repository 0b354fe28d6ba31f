extension FilterCompiler {
  /// Returns the instructions that calculate an expression's value.
  mutating func code(_ expression: ResolvedExpression) throws(QueryError) -> Range<Int> {
    var code: [FilterProgram.Instruction] = []
    try write(expression, to: &code)
    // Loops and conditions inside have been laid out already, so these instructions are contiguous.
    program.instructions += code
    return program.instructions.count - code.count..<program.instructions.count
  }

  private mutating func write(
    _ expression: ResolvedExpression,
    to code: inout [FilterProgram.Instruction]
  ) throws(QueryError) {
    switch expression {
    case .literal(let value): code.append(.push(value))
    case .path(let path): code.append(.load(program.paths.field(for: path)))
    case .function(let function, let arguments):
      for argument in arguments { try write(argument, to: &code) }
      code.append(.call(function, count: arguments.count))
    case .aggregate(let aggregate, let collection):
      let loop = try loop(collection)
      let field = collection.countsElements(aggregate) ? nil : program.loops[loop].value
      code.append(.aggregate(AggregateStep(aggregate, of: field), loop: loop))
    case .conditional(let condition, let first, let second):
      let step = try compile(
        Normaliser.normalise(condition),
        FilterProgram.Outcome.accepted,
        FilterProgram.Outcome.rejected
      )
      var one: [FilterProgram.Instruction] = []
      var two: [FilterProgram.Instruction] = []
      try write(first, to: &one)
      try write(second, to: &two)
      code.append(.branch(step: step, skip: one.count + 1))
      code += one
      code.append(.skip(two.count))
      code += two
    }
  }

  /// Returns the loop over a collection's elements.
  mutating func loop(_ collection: ResolvedCollection) throws(QueryError) -> Int {
    var levels: [FilterProgram.Loop.Level] = []
    for step in collection.steps {
      let owner = program.paths.field(for: step.owner)
      let (place, relationship) = program.paths.addElements(of: step)
      levels.append(.init(owner: owner, relationship: relationship, place: place))
    }
    let condition = try compile(
      Normaliser.normalise(collection.condition),
      FilterProgram.Outcome.accepted,
      FilterProgram.Outcome.rejected
    )
    let element = RowField.objectID(at: levels[levels.count - 1].place)
    let value = collection.value.map { program.paths.field(for: $0) } ?? element
    program.loops.append(
      FilterProgram.Loop(
        levels: levels,
        condition: condition,
        value: value,
        isDistinct: collection.isDistinct
      )
    )
    return program.loops.count - 1
  }
}
