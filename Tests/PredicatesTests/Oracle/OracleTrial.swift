import TestSupport

@testable import Predicates

/// Queries on generated worlds, answered in every way that the engine has. Throws at the first wrong answer.
struct OracleTrial {
  private static let queryCount = 40
  private var random: SeededGenerator
  private(set) var coverage = OracleCoverage()

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  /// A query, and its predicate in the engine's words.
  private struct Question {
    var plain: PlainQuery
    var predicate: ResolvedPredicate
    var operators: Set<String>
  }

  mutating func run(worldCount: Int) throws {
    for _ in 0..<worldCount { try runWorld() }
  }

  private mutating func runWorld() throws {
    let world = PlainWorld(using: &random)
    // Predicates are the same under all indexes.
    let translation = Translation(world, indexes: [])
    let store = ArrayStore(world, translation)
    let questions = try (0..<Self.queryCount).map { _ in
      let query = PlainQuery(world, &random)
      coverage.note(query, in: world)
      let question = Question(
        plain: query,
        predicate: translation.predicate(query.predicate),
        operators: query.predicate.operators
      )
      try checkEvaluators(question, world, translation, store)
      return question
    }
    for indexing in PlainIndexing.allCases {
      let translation = Translation(world, indexes: indexing.indexes(world, &random))
      let store = ArrayStore(world, translation)
      for (place, question) in questions.enumerated() {
        try check(question, world, store)
        if place % 8 == 0 { try checkCount(question, store) }
      }
    }
  }

  // MARK: Without plans

  /// The program over records and the evaluator in memory.
  private func checkEvaluators(
    _ question: Question,
    _ world: PlainWorld,
    _ translation: Translation,
    _ store: ArrayStore
  ) throws {
    let program = try FilterProgram(compiling: question.predicate, for: translation.fetched, in: translation)
    let accepted = try store.matches(of: program, among: world.things.map(\.objectNumber))
    try expect(accepted.map(\.rawValue), question.plain.matches, question, "the program")
    let condition = SubjectCondition(question.predicate)
    let evaluated = world.things.filter { object in
      condition.matches(SceneSubject(world: world, translation: translation, object: object))
    }
    try expect(evaluated.map(\.number), question.plain.matches, question, "the evaluator")
  }

  // MARK: Plans

  /// Returns a planner that takes samples, as it does in large stores, in every other query.
  private func planner(for question: Question, _ store: ArrayStore) -> QueryPlanner {
    let samplingCost = question.operators.count % 2 == 0 ? 0 : QueryPlanner.usualSamplingCost
    return QueryPlanner(schema: store.translation, counting: store, samplingCost: samplingCost)
  }

  /// Checks one case: the answer of the query, and that of the negated predicate, which has all other objects.
  private mutating func check(_ question: Question, _ world: PlainWorld, _ store: ArrayStore) throws {
    let translation = store.translation
    let planner = planner(for: question, store)
    let plan = try planner.plan(
      ResolvedQuery(
        entity: translation.fetched,
        predicate: question.predicate,
        sort: question.plain.sort.map { ResolvedSort(translation.path($0.path), ascending: $0.isAscending) },
        limit: question.plain.limit,
        offset: question.plain.offset
      )
    )
    try expect(store.run(plan), question.plain.answer, question, "\(plan.explanation)")
    let rest = try planner.plan(
      ResolvedQuery(entity: translation.fetched, predicate: .not(question.predicate))
    )
    let others = world.things.map(\.number).filter { !question.plain.matches.contains($0) }
    try expect(store.run(rest), others, question, "negated: \(rest.explanation)")
    coverage.note(plan, question.operators)
  }

  /// Checks that the plan for a count gives the count, exactly or after its filter.
  private func checkCount(_ question: Question, _ store: ArrayStore) throws {
    let query = ResolvedQuery(entity: store.translation.fetched, predicate: question.predicate)
    let plan = try planner(for: question, store).plan(query, for: .count)
    let count = plan.isCountExact ? plan.access.rowCount : try store.run(plan).count
    if count != question.plain.matches.count {
      throw OracleMismatch("\(count) counted, not \(question.plain.matches.count): \(question.plain)")
    }
  }

  private func expect(
    _ answer: [UInt64],
    _ expected: [UInt64],
    _ question: Question,
    _ road: @autoclosure () -> String
  ) throws {
    if answer == expected { return }
    throw OracleMismatch("\(answer), not \(expected): \(road())\n\(question.predicate)\n\(question.plain)")
  }
}
