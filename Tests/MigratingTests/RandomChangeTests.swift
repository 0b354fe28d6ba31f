import TestSupport
import Testing

/// Random schemas, random objects, random changes: the store reads the values that plain dictionaries have, whether
/// records of earlier
/// layouts stay as they are or are rewritten after each change.
struct RandomChangeTests {
  /// The unit in which the tests count the stores that they make.
  private static let roundCount = TestEffort.times(10, long: 25)

  @Test func theDumpIsTheOraclesHoweverRecordsAreRead() throws {
    var generator = SeededGenerator()
    var coverage = ChangeCoverage()
    // This number of rounds covers every kind of property.
    for round in 0..<6 * Self.roundCount {
      let seed = generator.next()
      do {
        for isEager in [false, true] {
          coverage.add(try run(SeededGenerator(seed: seed), isEager: isEager))
        }
      } catch {
        Issue.record("round \(round), seed \(seed): \(error)")
        return
      }
    }
    #expect(coverage.missing == [], "\(coverage.table)")
  }

  @Test func aRefusedChangeWritesNothing() throws {
    let generator = SeededGenerator()
    var store = try RandomStore(generator)
    var refusals = 0
    for round in 0..<10 * Self.roundCount {
      if round % 40 == 39 { store = try RandomStore(SeededGenerator(seed: generator.seed &+ UInt64(round))) }
      if round % 10 == 9 { try store.change() }
      if try store.refuse() { refusals += 1 }
    }
    #expect(refusals > Self.roundCount)
  }

  /// Both runs of a seed make the same changes, so their oracles give one dump.
  private func run(_ generator: SeededGenerator, isEager: Bool) throws -> ChangeCoverage {
    var store = try RandomStore(generator, upgradesRecords: isEager)
    try store.change()
    for _ in 0..<3 { try store.change() }
    try store.edit()
    try store.change()
    try store.rewrite()
    return store.coverage
  }
}
