import Glibc
@_spi(Testing) import PageStore
import Synchronization
@_spi(Testing) import TestSupport
import Testing

/// The power fails, or the process dies, at every step of the replacement of a store by its copy.
struct ReplacementCrashTests {
  /// Replaces the subject's store by a copy and notes every moment.
  private func moments(_ subject: StoreUnderTest) throws -> (SimulatedPlace, [SimulatedPlace.Moment]) {
    let moments = Mutex<[SimulatedPlace.Moment]>([])
    let place = SimulatedPlace(replacing: subject.disk) { moment in moments.withLock { $0.append(moment) } }
    let store = try #require(subject.store)
    #expect(try store.copy(to: place, pageSize: 8_192, keepsUUID: true))
    return (place, moments.withLock { $0 })
  }

  @Test func thePowerFailsAtEachStep() throws {
    var generator = SeededGenerator()
    let subject = try StoreUnderTest.withPast(seed: generator.next())
    let (place, moments) = try moments(subject)
    #expect(place.steps == ["makeFile", "synchronizeFile", "publish", "synchronizeFolder"])
    #expect(moments.count > 50)
    var counts: [SimulatedPlace.Name: Int] = [:]
    for (index, moment) in moments.enumerated() {
      counts[moment.name, default: 0] += 1
      // Nothing touches the original, so a sample of its moments is enough.
      if moment.name == .original, index % 50 != 0 { continue }
      #expect(moment.name == .original || moment.isFileSynchronized)
      for file in moment.found {
        for damage in file.possibleDamage {
          let disk = SimulatedDisk(file.image(damage, seed: generator.next()))
          do {
            try subject.check(copiedTo: disk, seed: generator.next())
          } catch {
            Issue.record("moment \(index), \(moment.name), \(damage): \(error)")
          }
        }
      }
    }
    #expect(counts.keys.count == 3)
    try subject.check(copiedTo: try #require(place.copy).afterProcessDeath(), seed: 1)
  }

  /// A store is replaced by a copy of another one, a backup: each image is the old store or the backup.
  @Test func thePowerFailsWhileABackupTakesAStoresPlace() throws {
    var generator = SeededGenerator()
    let old = try StoreUnderTest.withPast(seed: generator.next())
    let backup = try StoreUnderTest.withPast(seed: generator.next())
    let moments = Mutex<[SimulatedPlace.Moment]>([])
    let place = SimulatedPlace(replacing: old.disk) { moment in moments.withLock { $0.append(moment) } }
    #expect(try #require(backup.store).copy(to: place, keepsUUID: true))
    var names: Set<SimulatedPlace.Name> = []
    for moment in moments.withLock({ $0 }) {
      let isNew = names.insert(moment.name).inserted
      guard moment.name != .original || isNew else { continue }
      for (index, file) in moment.found.enumerated() {
        let isOld = moment.name != .copy && index == 0
        for damage in file.possibleDamage {
          let disk = SimulatedDisk(file.image(damage, seed: generator.next()))
          try (isOld ? old : backup).check(copiedTo: disk, seed: generator.next())
        }
      }
    }
    #expect(names.count == 3)
    try old.check(copiedTo: old.disk.afterProcessDeath(), seed: 1)
  }

  /// A process that opens a copy whose name may not be durable makes the name durable before the first commit.
  @Test func theProcessDiesAtEachStepAndThenThePowerFails() throws {
    var generator = SeededGenerator()
    let subject = try StoreUnderTest.withPast(seed: generator.next())
    let (_, moments) = try moments(subject)
    var syncCount = 0
    for moment in moments where moment.name != .original {
      guard let copy = moment.copy else { continue }
      // All that was written is in the page cache.
      let disk = SimulatedDisk(copy.image(.allKept, seed: 0))
      let isDurable = Mutex(false)
      var environment = StoreEnvironment.simulated(seed: generator.next())
      environment.synchronizeFolder = { isDurable.withLock { $0 = true } }
      var options = subject.options
      options.createsIfMissing = false
      let store = try Store.open(file: disk, path: "copy", options: options, environment: environment)
      #expect(isDurable.withLock { $0 } || moment.name == .copy)
      if isDurable.withLock({ $0 }) { syncCount += 1 }
      try store.put("after", "the crash")
    }
    #expect(syncCount > 0)
  }

  @Test func eachCallOfTheCopyFailsInTurn() throws {
    var generator = SeededGenerator()
    let subject = try StoreUnderTest.withPast(seed: generator.next())
    let store = try #require(subject.store)
    for call in [DiskCall.write, .writeDurably, .synchronize, .allocate] {
      for position in 0..<12 {
        let errno = generator.pick([EIO, ENOSPC])
        let place = FailingPlace(replacing: subject.disk, DiskFault(call, at: position, .error(errno)))
        var found: StoreError.Code?
        var isReplaced = false
        do {
          isReplaced = try store.copy(to: place, pageSize: 4_096, keepsUUID: true)
        } catch let error as StoreError {
          found = error.code
        }
        if !isReplaced {
          #expect(found == (errno == ENOSPC ? .diskFull : .inputOutput), "\(call) \(position) \(errno)")
          #expect(place.base.steps.last == "discard" && place.base.copy == nil, "\(call) \(position)")
        }
      }
    }
    try subject.check(seed: 1)
  }

  @Test func afterAFolderThatCannotBeSyncedTheOutcomeIsUnknown() throws {
    let subject = try StoreUnderTest.withPast(seed: 1)
    let place = FailingPlace(replacing: subject.disk, nil)
    let store = try #require(subject.store)
    #expect(code { _ = try store.copy(to: place, keepsUUID: true) } == .outcomeUnknown)
    for file in place.base.moment.found {
      try subject.check(copiedTo: SimulatedDisk(file.image(.allLost, seed: 0)), seed: 1)
    }
  }
}

/// A place whose file fails by an injected fault, or whose folder can't be synced.
private final class FailingPlace: CopyPlace {
  let base: SimulatedPlace
  private let fault: DiskFault?
  var temporaryPath: String { base.temporaryPath }

  init(replacing original: SimulatedDisk, _ fault: DiskFault?) {
    base = SimulatedPlace(replacing: original)
    self.fault = fault
  }

  func makeFile() throws(StoreError) -> any RandomAccessFile {
    let file = try base.makeFile()
    if let fault { base.copy?.inject(fault) }
    return file
  }

  func synchronizeFile() throws(StoreError) { try base.synchronizeFile() }
  func publish() throws(StoreError) { try base.publish() }
  func discard() { base.discard() }

  func synchronizeFolder() throws(StoreError) {
    if fault == nil { throw .init(.inputOutput, "the folder can't be synced") }
    try base.synchronizeFolder()
  }
}

extension StoreUnderTest {
  /// A store with a random past, all of it durable.
  static func withPast(seed: UInt64) throws -> StoreUnderTest {
    var options = StoreOptions()
    options.pageSize = 4_096
    let subject = StoreUnderTest(options: options, seed: seed)
    try subject.open()
    for shape in [StoreWorkload.Shape.small, .range, .largeValue, .trees, .growth, .small] {
      _ = try subject.commit(shape)
    }
    try subject.checkpoint()
    return subject
  }

  /// Returns whether a file holds the contents of this store. Opens the file with the real recovery.
  func check(copiedTo disk: SimulatedDisk, seed: UInt64) throws {
    let after = StoreUnderTest(disk: disk, model: ledger.model, options: options, seed: seed)
    try after.open()
    try after.check(seed: seed)
  }
}
