import Foundation
import TestSupport
import Testing

/// Random schemas, random objects, random changes: what the store reads is what plain dictionaries say.
@Suite struct RandomChangeTests {
  /// How many stores are made: `CAMBIUM_SCHEMA_CHANGES`, or a few.
  private static var roundCount: Int {
    ProcessInfo.processInfo.environment["CAMBIUM_SCHEMA_CHANGES"].flatMap(Int.init) ?? 40
  }

  @Test func theDumpIsTheOraclesHoweverRecordsAreRead() throws {
    var generator = SeededGenerator()
    for round in 0..<Self.roundCount {
      let seed = generator.next()
      do {
        try run(SeededGenerator(seed: seed))
      } catch {
        Issue.record("round \(round), seed \(seed): \(error)")
        return
      }
    }
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

  private func run(_ generator: SeededGenerator) throws {
    var store = try RandomStore(generator)
    try store.change()
    try store.rewrite()
    for _ in 0..<3 { try store.change() }
    try store.edit()
    try store.change()
    try store.rewrite()
  }
}
