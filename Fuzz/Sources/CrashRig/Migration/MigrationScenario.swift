@_spi(Testing) import PageStore
@_spi(Testing) import TestSupport

/// The life of one store whose schema changes once or twice, while crash images are taken of every call to the disk.
struct MigrationScenario {
  private let seed: UInt64
  private let tally: Tally
  private var generator: SeededGenerator

  init(seed: UInt64, tally: Tally) {
    self.seed = seed
    self.tally = tally
    generator = SeededGenerator(seed: seed)
  }

  mutating func run(until isOver: () -> Bool) {
    do { try changeSchemas(until: isOver) } catch let error as LostCommits {
      tally.note(.lost("\(error)"), "scenario of a change of schema", scenario: seed)
    } catch {
      tally.note(.wrong("\(error)"), "scenario of a change of schema", scenario: seed)
    }
    tally.countScenario()
  }

  private mutating func changeSchemas(until isOver: () -> Bool) throws {
    let options = StoreOptions.random(using: &generator)
    let trial = try SchemaTrial(using: &generator)
    let subject = MigratingGraph(trial, options: options, seed: seed)
    subject.lacksDurableWrites = generator.chance(1, in: 4)
    // No call of a change is left out.
    var steps = RecordedSteps(of: subject, options: options, tally: tally, scenario: seed, capacity: .max)
    try subject.open()
    try subject.fill(SongFilling(10...30, using: &generator))
    try change(subject, &steps)
    guard let next = try trial.next(using: &generator), generator.chance(1, in: 2), !isOver() else { return }
    try subject.edit(before: next)
    try change(subject, &steps)
  }

  /// Opens the store with the new schema.
  private mutating func change(_ subject: MigratingGraph, _ steps: inout RecordedSteps<MigratingGraph>) throws
  {
    if generator.chance(1, in: 2) { try subject.close() } else { subject.die() }
    subject.goal = .newSchema
    steps.watch()
    try steps.step(.migration, imageCount: 1) { try $0.open() }
    subject.disk.witness(nil)
    try subject.check(seed: seed)
  }
}
