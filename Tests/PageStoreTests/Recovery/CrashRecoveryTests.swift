@_spi(Testing) import PageStore
import Synchronization
@_spi(Testing) import TestSupport
import Testing

/// A short workload with a power failure at every step of it. The crash rig tests the same at length; this is the short
/// version.
struct CrashRecoveryTests {
  /// The steps of each round, in turn.
  private enum Step: CaseIterable {
    case full, relaxed, relaxedAgain, large, checkpoint, full2, manyKeys, reopen, drop
  }

  private struct Moment: Sendable {
    var point: CrashPoint
    var required: UInt64
    var newest: UInt64
  }

  private final class Progress: Sendable {
    let required = Atomic<UInt64>(0)
    let newest = Atomic<UInt64>(0)
    let moments = Mutex<[Moment]>([])
  }

  private var options: StoreOptions {
    var options = StoreOptions()
    options.initialLogByteCount = 16 << 10
    options.pageSize = 4_096
    return options
  }

  private func environment(_ seed: UInt64) -> StoreEnvironment {
    let state = Atomic<UInt64>(seed)
    return StoreEnvironment(
      now: { 1_000 },
      random: { mixed(seed, state.wrappingAdd(1, ordering: .relaxed).newValue) }
    )
  }

  @Test func everyCrashLeavesAPrefixOfTheCommits() throws {
    var generator = SeededGenerator()
    let disk = SimulatedDisk()
    let progress = Progress()
    disk.observe { _, point in
      progress.moments.withLock {
        $0.append(
          Moment(
            point: point,
            required: progress.required.load(ordering: .relaxed),
            newest: progress.newest.load(ordering: .relaxed)
          )
        )
      }
    }
    try run(on: disk, progress, rounds: 2, seed: generator.next())
    disk.observe(nil)
    let moments = progress.moments.withLock { $0 }
    #expect(moments.count > 50)
    for moment in moments {
      for _ in 0..<TestEffort.times(1) {
        let damage = generator.pick(moment.point.possibleDamage)
        let seed = generator.next()
        let image = SimulatedDisk(moment.point.image(damage, seed: seed))
        do {
          try check(image, moment, seed: seed)
        } catch let error as StoreError where error.code == .notAStore && moment.newest == 0 {
          // Garbage where a creation had just begun can't be told from the file of another program.
        } catch {
          Issue.record(
            "damage \(damage), image seed \(seed), at \(moment.required)…\(moment.newest): \(error)"
          )
        }
      }
    }
  }

  private func run(on disk: SimulatedDisk, _ progress: Progress, rounds: Int, seed: UInt64) throws {
    var store = try Store.open(file: disk, path: "", options: options, environment: environment(seed))
    for _ in 0..<rounds {
      for step in Step.allCases {
        switch step {
        case .checkpoint: try store.checkpoint()
        case .reopen:
          try store.close()
          store = try Store.open(file: disk, path: "", options: options, environment: environment(seed &+ 7))
        default: try commit(step, to: store, progress)
        }
        if step != .relaxed && step != .relaxedAgain {
          progress.required.store(store.lastCommit, ordering: .relaxed)
        }
      }
    }
    try store.close()
  }

  private func commit(_ step: Step, to store: Store, _ progress: Progress) throws {
    let durability: Durability = step == .relaxed || step == .relaxedAgain ? .relaxed : .full
    progress.newest.wrappingAdd(1, ordering: .relaxed)
    try store.write(durability: durability) { transaction in
      let number = transaction.commit
      let tree = try transaction.tree("t")
      try tree.put(key(number), value(number, count: step == .large ? 70_000 : Int(number * 37 % 900)))
      if step == .manyKeys {
        for index in 0..<400 { try tree.put(key(1_000 + UInt64(index)), value(number, count: 40)) }
      }
      try transaction.tree("last").put([1], key(number))
      if step == .drop {
        try transaction.tree("passing").put([1], key(number))
        try transaction.dropTree("passing")
      }
    }
  }

  private func key(_ number: UInt64) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }
  private func value(_ number: UInt64, count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: UInt64($0) &* number) }
  }

  private func check(_ image: SimulatedDisk, _ moment: Moment, seed: UInt64) throws {
    let store = try Store.open(file: image, path: "", options: options, environment: environment(seed))
    #expect((moment.required...moment.newest).contains(store.lastCommit))
    let last = store.lastCommit
    let snapshot = try store.snapshot()
    if last > 0 {
      #expect(try snapshot.tree("last").value(for: [1]) == key(last))
      let tree = try snapshot.tree("t")
      #expect(try tree.count(in: KeyRange(upper: .excluding(key(1_000)))) == Int(last))
      for number in 1...last {
        let found = try tree.value(for: key(number))
        #expect(found == value(number, count: found?.count ?? -1))
      }
    }
    let problems = try store.verify()
    #expect(problems == [], "image seed \(seed)")
    try store.write { try $0.tree("after").put([1], [2]) }
    let lostAgain = SimulatedDisk(image.crashPoint.image(.reordered, seed: seed))
    for later in [image.afterProcessDeath(), lostAgain] {
      let again = try Store.open(file: later, path: "", options: options, environment: environment(seed &+ 1))
      #expect(again.lastCommit == last + 1, "image seed \(seed)")
    }
  }
}
