@_spi(Testing) import PageStore
@_spi(Testing) import TestSupport

/// Opens crash images with the real recovery and judges the result.
struct ImageCheck<Subject: CrashSubject> {
  let tally: Tally
  let options: StoreOptions
  /// The scenario that the images come from.
  let scenario: UInt64

  /// The number of writes of a creation before its first sync: the header of the log's extent, and zeros.
  private var firstWriteCount: Int { 2 }
  /// Crashes in recovery are followed to this depth.
  private var depthLimit: Int { 3 }

  /// Makes images of `moment` in `imageCount` of the damage classes that are possible, and judges each.
  func check(_ moment: Moment<Subject.State>, imageCount: Int, seed: UInt64, depth: Int = 0) {
    var generator = SeededGenerator(seed: seed)
    for damage in Self.choice(of: moment.point.possibleDamage, imageCount, using: &generator) {
      let imageSeed = generator.next()
      let image = moment.point.image(damage, seed: imageSeed)
      // Garbage where a creation had just begun can't be told from the file of another program, and no store was
      // acknowledged.
      let hasJustBegun =
        moment.point.isNothingDurable && moment.point.unsyncedWriteCount <= firstWriteCount
      let mayBeForeign = moment.model.uuid == nil && (depth > 0 || hasJustBegun)
      let (verdict, moments) = judge(image, moment, seed: imageSeed, depth: depth, mayBeForeign)
      tally.countImage(of: Subject.layer, moment.operation, damage, verdict, scenario: scenario, image: image)
      if verdict.isFailure { continue }
      for (index, moment) in moments.enumerated() {
        check(moment, imageCount: 2, seed: mixed(imageSeed, UInt64(index)), depth: depth + 1)
      }
    }
  }

  /// Chooses so many of the damage classes. Among them is always one that few moments allow, if there is any.
  private static func choice(
    of possible: [Damage],
    _ count: Int,
    using generator: inout SeededGenerator
  ) -> ArraySlice<Damage> {
    var order = possible.shuffled(using: &generator)
    if let rare = order.firstIndex(where: Damage.rare.contains) { order.swapAt(rare, 0) }
    return order.prefix(count)
  }

  /// Opens the image, compares, commits once more, loses the power and opens again. Returns the moments of the openings
  /// that are watched.
  private func judge(
    _ image: SparseBytes,
    _ moment: Moment<Subject.State>,
    seed: UInt64,
    depth: Int,
    _ mayBeForeign: Bool
  ) -> (verdict: Verdict, moments: [Moment<Subject.State>]) {
    let model = moment.model
    let subject = Subject(disk: SimulatedDisk(image), history: model, options: options, seed: seed)
    let isWatched = depth < depthLimit && mixed(seed, 7) % (depth == 0 ? 12 : 6) == 0
    let recorder = CrashRecorder(ledger: subject.ledger, capacity: 4, seed: seed)
    recorder.begin(depth == 0 ? .recovery : .nestedRecovery)
    if isWatched { recorder.watch(subject.disk) }
    var stage = "opening"
    var second: SparseBytes?
    do {
      // Only opening for reading shows that both anchors are torn: recovery writes one of them again.
      if mixed(seed, 8) % (moment.operation.writesAnchors ? 2 : 8) == 0 {
        try checkReadOnly(image, model, seed: seed)
      }
      try subject.open()
      // A state that was shown must stay: the moment right after opening counts as one of the recovery.
      if isWatched { recorder.record(subject.disk.crashPoint) }
      subject.disk.witness(nil)
      try subject.check(seed: seed)
      stage = "committing once more"
      try subject.commitOnce()
      stage = "opening again, after one more commit and another crash"
      subject.loseThePower(.allLost, seed: seed)
      second = subject.disk.content
      try subject.open()
      try subject.check(seed: seed &+ 1)
      stage = "closing"
      if mixed(seed, 9) % 4 == 0 { try subject.close() }
    } catch let error as StoreError where error.code == .notAStore && mayBeForeign {
      return (.right, [])
    } catch let error as LostCommits {
      return (.lost("\(stage)\(keep(second)): \(error)"), [])
    } catch {
      return (.wrong("\(stage)\(keep(second)): \(error)"), [])
    }
    return (.right, isWatched ? recorder.take() : [])
  }

  private func keep(_ second: SparseBytes?) -> String {
    second.map { tally.keep($0, isFailure: true, scenario: scenario, suffix: "-second") } ?? ""
  }

  /// Opens the image for reading only: it shows the same, and nothing is written to it.
  private func checkReadOnly(_ image: SparseBytes, _ model: CommitHistory<Subject.State>, seed: UInt64) throws
  {
    guard image.byteCount > 0, model.required > 0 else { return }
    var options = options
    options.isReadOnly = true
    let subject = Subject(disk: SimulatedDisk(image), history: model, options: options, seed: seed)
    try subject.open()
    try subject.check(seed: seed)
    try subject.close()
    for call in DiskCall.allCases where call.changes && subject.disk.statistics.count(call) > 0 {
      throw OracleMismatch("opened for reading only, and yet: \(call.rawValue)")
    }
  }
}
