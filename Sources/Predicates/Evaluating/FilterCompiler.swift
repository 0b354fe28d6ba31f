import Foundation

extension FilterProgram {
  /// Compiles a predicate on records of an entity.
  ///
  /// - Throws: the mistake in a regular expression.
  init(
    compiling predicate: ResolvedPredicate,
    for entity: EntitySchema,
    in schema: any SchemaProviding
  ) throws(QueryError) {
    try self.init(compiling: Normaliser.normalise(predicate), paths: RowPaths(entity, in: schema))
  }

  /// Compiles a predicate in normal form. `paths` may already contain paths that are read for other purposes.
  package init(compiling predicate: NormalPredicate, paths: RowPaths) throws(QueryError) {
    var compiler = FilterCompiler(paths: paths)
    let start = try compiler.compile(predicate, Outcome.accepted, Outcome.rejected)
    self = compiler.program
    self.start = start
  }
}

/// A compiler that lays out a program from its end: when it writes a test, both steps that can follow are
/// known.
struct FilterCompiler {
  /// The steps and constants that are laid out already.
  var program: FilterProgram

  init(paths: RowPaths) { program = FilterProgram(paths: paths) }

  /// Returns the step at which the predicate begins.
  mutating func compile(
    _ predicate: NormalPredicate,
    _ whenTrue: Int32,
    _ whenFalse: Int32
  ) throws(QueryError) -> Int32 {
    switch predicate {
    case .constant(let value): return value ? whenTrue : whenFalse
    case .values(let path, let set):
      let field = program.paths.field(for: path)
      return append(field, test(for: set), folding: set.folding, whenTrue, whenFalse)
    case .test(let test, let isNegated):
      return try isNegated ? compile(test, whenFalse, whenTrue) : compile(test, whenTrue, whenFalse)
    case .and(let children):
      let gathered = GatheredParts(children, isNegated: true)
      var next = whenTrue
      for child in Self.cheapestFirst(gathered.parts).reversed() {
        next = try compile(child, gathered, next, whenFalse)
      }
      return next
    case .or(let children):
      let gathered = GatheredParts(children, isNegated: false)
      var next = whenFalse
      for child in Self.cheapestFirst(gathered.parts).reversed() {
        next = try compile(child, gathered, whenTrue, next)
      }
      return next
    }
  }

  private mutating func compile(
    _ part: NormalPredicate,
    _ gathered: GatheredParts,
    _ whenTrue: Int32,
    _ whenFalse: Int32
  ) throws(QueryError) -> Int32 {
    guard let list = gathered.list(for: part) else { return try compile(part, whenTrue, whenFalse) }
    let code = try code(list.operand)
    program.literalSets.append(list.literals)
    let action = FilterProgram.Action.among(code, literals: program.literalSets.count - 1)
    return list.isNegated ? append(action, whenFalse, whenTrue) : append(action, whenTrue, whenFalse)
  }

  private mutating func compile(
    _ test: ResolvedPredicate,
    _ whenTrue: Int32,
    _ whenFalse: Int32
  ) throws(QueryError) -> Int32 {
    switch test {
    case .compare(let path, let comparison, .string(let text), let options):
      let field = program.paths.field(for: path)
      let (test, folding) = try self.test(comparison, text, options.folding)
      return append(field, test, folding: folding, whenTrue, whenFalse)
    case .comparePaths(let left, let comparison, let right, let options):
      let field = program.paths.field(for: left)
      program.fields.append(program.paths.field(for: right))
      let test = FilterProgram.Test.pair(comparison, field: program.fields.count - 1, options)
      return append(field, test, folding: [], whenTrue, whenFalse)
    case .compareValues(let left, let comparison, .literal(.string(let text)), let options)
    where comparison.takesPattern:
      let (test, folding) = try self.test(comparison, text, options.folding)
      return append(.calculated(try code(left), test, folding: folding), whenTrue, whenFalse)
    case .compareValues(let left, let comparison, let right, let options):
      let action = FilterProgram.Action.values(try code(left), comparison, try code(right), options)
      return append(action, whenTrue, whenFalse)
    case .exists(let collection):
      return append(.exists(loop: try loop(collection)), whenTrue, whenFalse)
    case .compare:
      // A string operator on another value than a string is false.
      return whenFalse
    case .constant, .isNull, .among, .within, .not, .and, .or:
      return try compile(Normaliser.normalise(test), whenTrue, whenFalse)
    }
  }

  private mutating func append(
    _ field: RowField,
    _ test: FilterProgram.Test,
    folding: StringOptions,
    _ whenTrue: Int32,
    _ whenFalse: Int32
  ) -> Int32 {
    append(.field(field, test, folding: folding), whenTrue, whenFalse)
  }

  mutating func append(_ action: FilterProgram.Action, _ whenTrue: Int32, _ whenFalse: Int32) -> Int32 {
    program.steps.append(FilterProgram.Step(action: action, whenTrue: whenTrue, whenFalse: whenFalse))
    return Int32(program.steps.count - 1)
  }

  /// Returns the test of a string against a text that no set of values expresses, and the folding of the string
  /// for this test.
  private mutating func test(
    _ comparison: ComparisonOperator,
    _ text: String,
    _ folding: StringOptions
  ) throws(QueryError) -> (FilterProgram.Test, StringOptions) {
    switch comparison {
    case .like:
      program.patterns.append(LikePattern(text, folding))
      return (.like(pattern: program.patterns.count - 1), folding)
    case .matches:
      program.regexes.append(try RegexPattern(text, folding))
      return (.regex(program.regexes.count - 1), [])
    default:
      let constant = constant(Array(StringFolding.fold(text, folding).utf8))
      return (.search(comparison, constant: constant), folding)
    }
  }

  private mutating func constant(_ bytes: [UInt8]) -> Int {
    program.constants.append(bytes)
    return program.constants.count - 1
  }
}

// MARK: - Sets

extension FilterCompiler {
  private mutating func test(for set: ValueSet) -> FilterProgram.Test {
    if set == .null(set.kind) { return .isNull }
    if let ranges = FilterWord.ranges(of: set) {
      if ranges.count == 1 { return .word(ranges[0], orNull: set.includesNull) }
      program.words += ranges
      return .words(first: program.words.count - ranges.count, count: ranges.count, orNull: set.includesNull)
    }
    if let point = set.point, let bytes = point.comparedBytes { return .equals(constant: constant(bytes)) }
    let boundaries = set.boundaries
    let cuts = boundaries.compactMap { cut -> FilterProgram.ByteSet.Cut? in
      switch cut {
      case .before(let value): value.comparedBytes.map { .init(bytes: $0, isAfter: false) }
      case .after(let value): value.comparedBytes.map { .init(bytes: $0, isAfter: true) }
      case .lowest, .highest: nil
      }
    }
    // The cuts around nil come before every byte string: an odd number of them puts the first string inside.
    let leading = boundaries.prefix { $0 <= .afterNull }.count
    program.byteSets.append(FilterProgram.ByteSet(cuts: cuts, beginsInside: leading % 2 == 1))
    return .bytes(set: program.byteSets.count - 1, orNull: set.includesNull)
  }

  /// Sorts tests of the current record before those that follow relationships, and numbers before strings.
  private static func cheapestFirst(_ children: [NormalPredicate]) -> [NormalPredicate] {
    children.enumerated()
      .map { (cost: cost(of: $0.element), place: $0.offset, child: $0.element) }
      .sorted { ($0.cost, $0.place) < ($1.cost, $1.place) }
      .map(\.child)
  }

  private static func cost(of predicate: NormalPredicate) -> Int {
    switch predicate {
    case .constant: 0
    case .values(let path, let set):
      20 * path.hops.count + (set.kind.fixedByteCount != nil ? 1 : set.folding.isEmpty ? 2 : 6)
    case .test(.compare(let path, .matches, _, _), _): 20 * path.hops.count + 100
    case .test(.compare(let path, _, _, let options), _): 20 * path.hops.count + (options.isEmpty ? 4 : 8)
    case .test(let test, _):
      { () -> Int in
        var cost = 8
        test.forEachPath { cost += 20 * $0.hops.count }
        test.forEachCollection { cost += 200 * $0.steps.count }
        return cost
      }()
    case .and(let children), .or(let children): children.reduce(0) { $0 + cost(of: $1) }
    }
  }
}

extension AttributeValue {
  /// The bytes by which strings, data, UUIDs and decimals compare; nil for other values.
  fileprivate var comparedBytes: [UInt8]? {
    switch self {
    case .string(let text): Array(text.utf8)
    case .data(let data): Array(data)
    case .uuid(let uuid): withUnsafeBytes(of: uuid.uuid) { Array($0) }
    case .decimal(let decimal): DecimalKey.withBytes(of: decimal) { Array($0) }
    default: nil
    }
  }
}
