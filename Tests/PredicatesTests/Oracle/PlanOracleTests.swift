import TestSupport
import Testing

@testable import Predicates

/// Plans against a naive evaluator that shares no code with the engine, on generated schemas, rows and queries.
@Suite struct PlanOracleTests {
  /// How the entity is indexed.
  enum Indexing: CaseIterable {
    case none, each, compound, folded

    func indexes(_ world: PlainWorld, _ random: inout SeededGenerator) -> [PlainIndex] {
      let attributes = world.attributes[PlainWorld.fetched] ?? []
      let names = attributes.map(\.name) + ["place"]
      func compound(_ count: Int) -> [PlainIndex] {
        (0..<count).map { _ in
          let columns = Array(names.shuffled(using: &random).prefix(random.number(in: 2...3)))
          return PlainIndex(columns: columns, folding: random.pick(PlainFolding.allCases))
        }
      }
      switch self {
      case .none: return []
      case .each: return names.map { PlainIndex(columns: [$0]) }
      case .compound: return compound(6)
      case .folded:
        let strings = attributes.filter { $0.kind == .string }.map(\.name)
        return compound(4)
          + strings.flatMap { name in
            PlainFolding.allCases.map { PlainIndex(columns: [name], folding: $0) }
          } + names.filter { !strings.contains($0) }.map { PlainIndex(columns: [$0]) }
      }
    }
  }

  @Test func plansAnswerAsTheOracleDoes() throws {
    var random = SeededGenerator()
    var coverage = Coverage()
    // Some combinations are rare: more worlds are made until each was met.
    var worldCount = 0
    while worldCount < 24 || (!coverage.isComplete && worldCount < 400) {
      worldCount += 1
      let world = PlainWorld(using: &random)
      let queries = (0..<50).map { _ in Query(world, &random) }
      for query in queries { coverage.note(query, of: world) }
      for indexing in Indexing.allCases {
        let translation = Translation(world, indexes: indexing.indexes(world, &random))
        let store = ArrayStore(world, translation)
        let planner = QueryPlanner(schema: translation, counting: store)
        for query in queries {
          let plan = try planner.plan(query.resolved(translation))
          coverage.note(plan, query.predicate)
          let answer = try store.run(plan)
          try #require(answer == query.answer, "\(plan.explanation)\n\(query.predicate)\n\(query.sort)")
          try counts(query, planner, store, translation)
        }
      }
    }
    coverage.check()
  }

  /// A plan for a count has the count, exactly or after its filter.
  private func counts(
    _ query: Query,
    _ planner: QueryPlanner,
    _ store: ArrayStore,
    _ translation: Translation
  ) throws {
    let resolved = ResolvedQuery(
      entity: translation.fetched,
      predicate: translation.predicate(query.predicate)
    )
    let plan = try planner.plan(resolved, for: .count)
    let count = plan.isCountExact ? plan.access.rowCount : try store.run(plan).count
    #expect(count == query.matchCount)
  }

  @Test func aPredicateAndItsNegationPartitionTheEntity() throws {
    var random = SeededGenerator()
    for _ in 0..<20 {
      let world = PlainWorld(using: &random)
      for indexing in Indexing.allCases {
        let translation = Translation(world, indexes: indexing.indexes(world, &random))
        let store = ArrayStore(world, translation)
        let planner = QueryPlanner(schema: translation, counting: store)
        for _ in 0..<15 {
          let predicate = translation.predicate(world.predicate(depth: 2, using: &random))
          func answer(_ predicate: ResolvedPredicate) throws -> [UInt64] {
            try store.run(planner.plan(ResolvedQuery(entity: translation.fetched, predicate: predicate)))
          }
          let (matching, others) = (try answer(predicate), try answer(.not(predicate)))
          #expect(Set(matching).isDisjoint(with: others))
          #expect(matching.count + others.count == store.count(of: PlainWorld.fetched))
        }
      }
    }
  }

  /// The normaliser keeps the meaning: the program of the normal form and the evaluator of the tree as it came.
  @Test func theNormalFormMeansWhatThePredicateMeant() throws {
    var random = SeededGenerator()
    for _ in 0..<30 {
      let world = PlainWorld(using: &random)
      let translation = Translation(world, indexes: [])
      let store = ArrayStore(world, translation)
      for _ in 0..<40 {
        let plain = world.predicate(depth: 3, using: &random)
        let resolved = translation.predicate(plain)
        let program = try FilterProgram(compiling: resolved, for: translation.fetched, in: translation)
        store.places = program.paths.places
        var reader = RowReader(program.paths, source: store)
        for row in world.rows[PlainWorld.fetched] ?? [] {
          let record = try #require(store.record(row.number, of: PlainWorld.fetched))
          try reader.begin(row.number, record)
          let subject = PlainSubject(
            world: world,
            translation: translation,
            number: row.number,
            values: row.values
          )
          #expect(try program.matches(&reader) == resolved.matches(subject), "\(plain)")
        }
      }
    }
  }

  /// A row for the evaluator in memory.
  private struct PlainSubject: PredicateSubject {
    let world: PlainWorld
    let translation: Translation
    let number: UInt64
    let values: [String: Plain]

    func value(at path: ResolvedPath) -> AttributeValue {
      translation.value(world.value(path.name.split(separator: ".").map(String.init), of: number, values))
    }

    func elements(_ relationship: String, of owner: ResolvedPath) -> [PlainSubject] { [] }
  }
}

/// A query of the oracle's, and its answer.
struct Query {
  var predicate: PlainPredicate
  var sort: [PlainSort]
  var limit: Int?
  var offset: Int
  var answer: [UInt64]
  var matchCount: Int

  init(_ world: PlainWorld, _ random: inout SeededGenerator) {
    predicate = world.predicate(depth: random.pick([0, 1, 2, 2, 3]), using: &random)
    sort = world.sort(using: &random)
    limit = random.chance(1, in: 2) ? random.number(in: 0...12) : nil
    // Half of the queries are bent so that each access path is worth its while for every kind of condition.
    switch random.number(in: 0...7) {
    case 0: predicate = .all([world.someObjects(using: &random), predicate])
    case 1: predicate = .all([world.point(using: &random), predicate])
    case 2:
      predicate = .any([
        .all([world.point(using: &random), predicate]), .all([world.point(using: &random), predicate]),
      ])
    case 4: predicate = .all([world.foldedCondition(using: &random), predicate])
    case 3:
      sort = [PlainSort(path: world.ownPath(using: &random).names, isAscending: random.chance(1, in: 2))]
      limit = random.number(in: 0...3)
    default: break
    }
    offset = random.chance(1, in: 3) ? random.number(in: 0...20) : 0
    answer = world.answer(predicate, sort, limit: limit, offset: offset)
    matchCount = world.answer(predicate, [], limit: nil, offset: 0).count
  }

  func resolved(_ translation: Translation) -> ResolvedQuery {
    ResolvedQuery(
      entity: translation.fetched,
      predicate: translation.predicate(predicate),
      sort: sort.map { ResolvedSort(translation.path($0.path), ascending: $0.isAscending) },
      limit: limit,
      offset: offset
    )
  }
}

/// What a run has met: a test that finds nothing proves nothing.
struct Coverage {
  private var queryCount = 0
  private var selectiveCount = 0
  private var table: [String: [QueryPlan.Access: Int]] = [:]
  private var orders: [String: Int] = [:]
  /// Conditions that ranges of folded indexes have expressed.
  private var foldedRanges: Set<String> = []
  private var foldedRangeCount = 0

  mutating func note(_ query: Query, of world: PlainWorld) {
    queryCount += 1
    if query.matchCount > 0, query.matchCount < (world.rows[PlainWorld.fetched]?.count ?? 0) {
      selectiveCount += 1
    }
  }

  mutating func note(_ plan: PlannedQuery, _ predicate: PlainPredicate) {
    let access = plan.explanation.access
    for word in predicate.operators { table[word, default: [:]][access, default: 0] += 1 }
    for range in plan.explanation.ranges where range.index.hasSuffix("]") && range.condition.contains("]") {
      foldedRanges.formUnion(["==", "<", "BEGINSWITH", "IN"].filter { range.condition.contains("\($0)[") })
      foldedRangeCount += 1
    }
    if case .access(let isReversed) = plan.order {
      orders["\(access.rawValue)\(isReversed ? ", reversed" : "")", default: 0] += 1
    }
  }

  /// Whether every operator was met by every access path.
  var isComplete: Bool {
    table.allSatisfy { word, counts in word == "constant" || paths.allSatisfy { counts[$0] ?? 0 > 0 } }
  }

  private let paths: [QueryPlan.Access] = [.fullScan, .indexRange, .indexUnion, .orderedScan, .objectIDs]

  func check() {
    print("operator × access path".padded(to: 28), paths.map { $0.rawValue.padded(to: 24) }.joined())
    for (word, counts) in table.sorted(by: { $0.key < $1.key }) where word != "constant" {
      print(word.padded(to: 28), paths.map { "\(counts[$0] ?? 0)".padded(to: 24) }.joined())
      for path in paths { #expect(counts[path] ?? 0 > 0, "\(word) was never met by \(path.rawValue)") }
    }
    print(
      "in order:",
      orders.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: "; ")
    )
    for name in ["full scan", "index range", "ordered scan"] {
      #expect(orders[name] ?? 0 > 0 && orders[name + ", reversed"] ?? 0 > 0)
    }
    #expect(table.count >= 29, "an operator was never generated")
    print("ranges of folded indexes: \(foldedRangeCount), by \(foldedRanges.sorted().joined(separator: " "))")
    #expect(foldedRanges.isSuperset(of: ["==", "<", "BEGINSWITH"]))
    print("neither nothing nor everything: \(selectiveCount) of \(queryCount)")
    #expect(selectiveCount * 10 >= queryCount * 4)
  }
}

extension String {
  fileprivate func padded(to width: Int) -> String {
    self + String(repeating: " ", count: max(1, width - count))
  }
}
