@_spi(Testing) import PageStore
import Synchronization
@_spi(Testing) import TestSupport

/// Stores that are replaced by their copies: the power fails at moments of the replacement, and after a commit to the
/// copy.
struct ReplacementScenario {
  let seed: UInt64
  let tally: Tally

  private static let trialCount = 12
  /// The number of moments of each kind.
  private static let momentCount = 4
  private static let group = "replacements by a copy"

  func run(until isOver: () -> Bool) {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<Self.trialCount where !isOver() { runTrial(&generator) }
    tally.countScenario()
  }

  private func runTrial(_ generator: inout SeededGenerator) {
    var stage = "making the copy"
    do {
      let subject = try Self.past(using: &generator)
      let (place, moments) = try replace(subject, using: &generator)
      for moment in moments {
        stage = "\(moment.name)"
        try check(moment, subject, using: &generator)
        count(stage, .right)
      }
      stage = "a commit to the copy"
      try commitToCopy(of: subject, place, using: &generator)
      count(stage, .right)
    } catch let error as LostCommits {
      count(stage, .lost("\(error)"))
    } catch {
      count(stage, .wrong("\(error)"))
    }
  }

  private func count(_ kind: String, _ verdict: Verdict) {
    tally.count(Self.group, kind, verdict, scenario: seed)
  }

  /// An open store with a random past.
  private static func past(using generator: inout SeededGenerator) throws -> StoreUnderTest {
    let options = StoreOptions.random(using: &generator)
    let subject = StoreUnderTest(options: options, seed: generator.next())
    try subject.open()
    for _ in 0..<generator.number(in: 1...8) {
      let shape = generator.pick([StoreWorkload.Shape.small, .range, .largeValue, .trees, .growth])
      guard case .committed = try subject.commit(shape) else {
        throw OracleMismatch("a commit failed on a disk without faults")
      }
    }
    if generator.chance(1, in: 2) { try subject.checkpoint() }
    return subject
  }

  /// Replaces a store by its copy.
  ///
  /// - Returns: the folder afterwards; some of the moments of the replacement, and the last one.
  private func replace(
    _ subject: StoreUnderTest,
    using generator: inout SeededGenerator
  ) throws -> (SimulatedPlace, [SimulatedPlace.Moment]) {
    let moments = Mutex<[SimulatedPlace.Moment]>([])
    let place = SimulatedPlace(replacing: subject.disk) { moment in moments.withLock { $0.append(moment) } }
    let pageSize = generator.pick([4_096, 8_192, 16_384])
    guard try subject.openStore().copy(to: place, pageSize: pageSize, keepsUUID: true) else {
      throw OracleMismatch("a copy ends before it is complete")
    }
    let all = moments.withLock { $0 }
    // Most moments are before the copy has its name, when nothing touches the original; the fewest are between the name and its sync.
    let kinds: [SimulatedPlace.Name] = [.copyUnsynced, .original, .copy]
    let some = kinds.flatMap { kind in
      all.filter { $0.name == kind }.shuffled(using: &generator).prefix(Self.momentCount)
    }
    return (place, some + [place.moment])
  }

  /// Loses the power at a moment: every file that the store's name may refer to has the store's contents.
  private func check(
    _ moment: SimulatedPlace.Moment,
    _ subject: StoreUnderTest,
    using generator: inout SeededGenerator
  ) throws {
    guard moment.name == .original || moment.isFileSynchronized else {
      throw OracleMismatch("the copy has its name before its owner and permissions are durable")
    }
    for file in moment.found {
      let image = file.image(generator.pick(file.possibleDamage), seed: generator.next())
      let after = StoreUnderTest(
        disk: SimulatedDisk(image),
        model: subject.ledger.model,
        options: subject.options,
        seed: generator.next()
      )
      try after.open()
      try after.check(seed: generator.next())
    }
  }

  /// Commits to the copy. The copy is complete, so the commit must stay when the power fails, whichever file the name
  /// refers to then.
  private func commitToCopy(
    of subject: StoreUnderTest,
    _ place: SimulatedPlace,
    using generator: inout SeededGenerator
  ) throws {
    guard let disk = place.copy else { throw OracleMismatch("the copy is gone") }
    let copy = StoreUnderTest(
      disk: disk,
      model: subject.ledger.model,
      options: subject.options,
      seed: generator.next()
    )
    try copy.open()
    try copy.check(seed: generator.next())
    try copy.commitOnce()
    try check(place.moment, copy, using: &generator)
  }
}
