@_spi(Testing) import PageStore
@_spi(Testing) import TestSupport

/// The life of one store with a graph under a seed: saved to from several contexts, checkpointed, killed, closed and opened again,
/// while crash images are taken of every change.
struct GraphScenario {
  private let seed: UInt64
  private let tally: Tally
  private let subject: GraphUnderTest
  private var steps: RecordedSteps<GraphUnderTest>
  private var generator: SeededGenerator
  private var isUnsynced: Bool { subject.options.durability == .none }

  init(seed: UInt64, tally: Tally) {
    self.seed = seed
    self.tally = tally
    generator = SeededGenerator(seed: seed)
    let options = StoreOptions.random(using: &generator)
    subject = GraphUnderTest(options: options, seed: seed)
    subject.lacksDurableWrites = generator.chance(1, in: 4)
    steps = RecordedSteps(of: subject, options: options, tally: tally, scenario: seed)
  }

  mutating func run(until isOver: () -> Bool) {
    steps.watch()
    do {
      try step(.creation) { try $0.open() }
      let stepCount = generator.number(in: 6...30)
      let bulkStep = generator.chance(1, in: 3) ? generator.number(in: 0...stepCount - 1) : -1
      for number in 0..<stepCount where !isOver() {
        if number == bulkStep {
          try save(.bulk, .bulk, durability: nil, imageCount: 1)
        } else {
          try randomStep()
        }
      }
      try subject.check(seed: seed)
      if generator.chance(1, in: 2) { try step(.close) { try $0.close() } }
    } catch let error as LostCommits {
      tally.note(.lost("\(error)"), "scenario of a graph", scenario: seed)
    } catch {
      tally.note(.wrong("\(error)"), "scenario of a graph", scenario: seed)
    }
    subject.disk.witness(nil)
    tally.countScenario()
  }

  private mutating func randomStep() throws {
    switch generator.number(in: 0...24) {
    case 0...6: try save(.commitFull, .small, durability: .full)
    case 7...11: try relaxedSave()
    case 12, 13: try save(.largeValue, .largeValue, durability: nil)
    case 14:
      let saver = generator.pick(GraphUnderTest.Saver.allCases)
      try step(.refusedSave, imageCount: 1) { try $0.refusedSave(by: saver) }
    case 15:
      try relaxedSave(imageCount: 1)
      try step(.idle) { $0.idle() }
    case 16: try step(.checkpoint) { try $0.checkpoint() }
    case 17, 18: try checkpointConcurrentlyWithSaves()
    case 19: try compaction()
    case 20:
      try step(.close) { try $0.close() }
      try reopen()
      // The first commit removes the closing mark.
      try save(.firstCommit, .small, durability: isUnsynced ? nil : generator.pick([.full, .relaxed]))
    case 21, 22:
      subject.die()
      try reopen()
    default:
      subject.loseThePower(generator.pick(Damage.allCases), seed: generator.next())
      try reopen()
    }
  }

  private mutating func relaxedSave(imageCount: Int = 3) throws {
    if isUnsynced {
      try save(.commitNone, .small, durability: nil, imageCount: imageCount)
    } else {
      try save(.commitRelaxed, .small, durability: .relaxed, imageCount: imageCount)
    }
  }

  private mutating func save(
    _ operation: Operation,
    _ shape: GraphWorkload.Shape,
    durability: Durability?,
    imageCount: Int = 3
  ) throws {
    let saver = generator.pick(GraphUnderTest.Saver.allCases)
    try step(operation, imageCount: imageCount) { try $0.save(shape, durability: durability, by: saver) }
  }

  /// Runs a checkpoint with small saves of all durabilities meanwhile.
  private mutating func checkpointConcurrentlyWithSaves() throws {
    let (besideSeed, isUnsynced) = (generator.next(), isUnsynced)
    try step(.concurrentCheckpoint) { subject in
      var generator = SeededGenerator(seed: besideSeed)
      try subject.checkpointConcurrently {
        for _ in 0..<generator.number(in: 0...2) {
          let durability: Durability? = isUnsynced ? nil : generator.pick([.full, .relaxed])
          let saver = generator.pick(GraphUnderTest.Saver.allCases)
          try subject.save(.small, durability: durability, by: saver)
        }
      }
    }
  }

  /// Makes the file short, with small saves in between.
  private mutating func compaction() throws {
    try save(.largeValue, .largeValue, durability: nil, imageCount: 1)
    let (seed, isUnsynced) = (generator.next(), isUnsynced)
    try step(.compaction) { subject in
      var generator = SeededGenerator(seed: seed)
      try subject.compact {
        guard generator.chance(1, in: 2) else { return }
        try subject.save(.small, durability: isUnsynced ? nil : .relaxed, by: .passing)
      }
    }
  }

  private mutating func reopen() throws {
    steps.watch()
    try step(.recovery) { try $0.open() }
    try subject.check(seed: generator.next())
  }

  private mutating func step(
    _ operation: Operation,
    imageCount: Int = 3,
    _ body: (GraphUnderTest) throws -> Void
  ) throws {
    try steps.step(operation, imageCount: imageCount, body)
  }
}
