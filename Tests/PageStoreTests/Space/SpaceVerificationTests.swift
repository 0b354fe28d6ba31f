@_spi(Testing) import PageStore
@_spi(Testing) import TestSupport
import Testing

/// Random lives of stores, after each step of which every page of the file is recounted.
struct SpaceVerificationTests {
  @Test(arguments: [4_096, 8_192])
  func whatIsRecordedAsInUseIsReached(pageSize: Int) throws {
    var generator = SeededGenerator("\(#function) \(pageSize)")
    for _ in 0..<12 {
      var options = StoreOptions()
      options.pageSize = pageSize
      options.checkpointLogBytes = generator.pick([16 << 10, 256 << 10, 16 << 20])
      options.cacheBytes = generator.pick([64 << 10, 256 << 20])
      let seed = generator.next()
      let subject = StoreUnderTest(options: options, seed: seed)
      try subject.open()
      var history: [String] = []
      for _ in 0..<30 {
        history.append(try randomStep(on: subject, using: &generator))
        let problems = try subject.store?.verify() ?? []
        #expect(problems.isEmpty, "\(history): \(problems.prefix(3))")
        guard problems.isEmpty else { return }
      }
    }
  }

  private func randomStep(on subject: StoreUnderTest, using generator: inout SeededGenerator) throws -> String
  {
    switch generator.number(in: 0...11) {
    case 0...3:
      let shape = generator.pick([StoreWorkload.Shape.small, .small, .range, .trees, .growth])
      _ = try subject.commit(shape)
      return "\(shape)"
    case 4, 5:
      _ = try subject.commit(.largeValue)
      return "large value"
    case 6:
      try subject.checkpoint()
      return "checkpoint"
    case 7, 8:
      let shape = generator.pick([StoreWorkload.Shape.small, .trees, .range, .growth])
      try subject.checkpointConcurrently { _ = try subject.commit(shape) }
      return "concurrent checkpoint \(shape)"
    case 9:
      try subject.close()
      try subject.open()
      return "close"
    case 10:
      subject.die()
      try subject.open()
      return "death"
    default:
      subject.loseThePower(generator.pick(Damage.allCases), seed: generator.next())
      try subject.open()
      return "power failure"
    }
  }

  /// Lives in which a page was read when the store was opened and then used again, and a reader found its old contents
  /// in the cache.
  @Test(arguments: [
    4_825_048_483_559_334_385 as UInt64, 6_167_016_000_722_867_686, 3_652_770_783_315_197_395,
    3_581_261_936_246_872_443,
  ])
  func aPageThatIsUsedAgainIsNotFoundAsItWas(seed: UInt64) throws {
    _ = try FullDiskTrial(seed: seed).run()
  }
}
