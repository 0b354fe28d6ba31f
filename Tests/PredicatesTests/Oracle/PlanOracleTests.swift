import TestSupport
import Testing

/// The language against a naive evaluator that shares no code with the engine, on generated schemas, rows and queries.
struct PlanOracleTests {
  /// The number of cases. A case is a query under one way of indexing: its answer, and that its predicate's negation
  /// has all the rest.
  private static let caseCount = TestEffort.times(15_000, long: 40_000)
  /// A fixed number, so that a seed gives the same trials on every machine.
  private static let trialCount = 4

  @Test func everyRoadLeadsToTheOraclesAnswer() async throws {
    let seed = SeededGenerator().seed
    var coverage = OracleCoverage()
    var round: UInt64 = 0
    // Some combinations are rare: a few more cases until each was met.
    while coverage.caseCount < Self.caseCount
      || (!coverage.gaps.isEmpty && coverage.caseCount < Self.caseCount + 100_000)
    {
      try await withThrowingTaskGroup(of: OracleCoverage.self) { group in
        for place in 0..<Self.trialCount {
          let seed = mixed(seed, round * UInt64(Self.trialCount) + UInt64(place))
          group.addTask {
            var trial = OracleTrial(seed: seed)
            try trial.run(worldCount: 8)
            return trial.coverage
          }
        }
        for try await part in group { coverage.add(part) }
      }
      round += 1
    }
    coverage.print()
    #expect(coverage.gaps.isEmpty, "\(coverage.gaps.joined(separator: "\n"))")
  }
}
