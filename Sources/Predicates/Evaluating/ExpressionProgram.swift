/// Expressions compiled for records: each is calculated from the bytes of the row that a reader has begun.
package struct ExpressionProgram: Sendable {
  /// The values and records that the expressions read.
  package var paths: RowPaths { program.paths }
  private let program: FilterProgram
  /// The instructions of each expression.
  private let codes: [Range<Int>]

  /// Compiles expressions over records of an entity.
  ///
  /// - Throws: the mistake in a regular expression in a condition.
  package init(
    compiling expressions: [ResolvedExpression],
    for entity: EntitySchema,
    in schema: any SchemaProviding
  ) throws(QueryError) {
    var compiler = FilterCompiler(paths: RowPaths(entity, in: schema))
    var codes: [Range<Int>] = []
    for expression in expressions { codes.append(try compiler.code(expression)) }
    self.codes = codes
    program = compiler.program
  }

  /// Returns the value of an expression for the row that the reader has begun. The reader must have the program's
  /// ``paths``.
  ///
  /// - Parameter index: the index of the expression.
  /// - Throws: ``DamagedRecord``, or what the reader's source throws.
  package func value(at index: Int, _ row: inout RowReader) throws -> AttributeValue {
    try program.value(of: codes[index], &row)
  }
}
