import Glibc
@_spi(Testing) import PageStore
@_spi(Testing) import TestSupport
import Testing

/// The power fails, or the process ends, at every step of the destruction of a store, and at every step of the
/// destructions that finish it.
struct DestructionCrashTests {
  /// The names of the files that a destruction may find.
  @Test(arguments: [["store"], ["store", "copy"], ["copy"], []])
  func anEndAtAnyStepLeavesTheStoreOrNoneAndTheNextCallFinishes(_ names: [String]) throws {
    var generator = SeededGenerator("\(#function) \(names)")
    let subject = try StoreUnderTest.withPast(seed: generator.next())
    let folder = SimulatedFolder()
    for name in names {
      folder.put(name, name == "store" ? subject.disk.afterProcessDeath() : SimulatedDisk())
    }
    folder.synchronize()
    try follow(folder, subject, depth: 2, &generator)
  }

  /// Destroys the folder's store in processes that end after each number of steps. Checks the folder that each process
  /// leaves, and does the same there.
  private func follow(
    _ folder: SimulatedFolder,
    _ subject: StoreUnderTest,
    depth: Int,
    _ generator: inout SeededGenerator
  ) throws {
    for stepCount in 0...3 {
      let ended = folder.afterProcessDeath
      destroy(ended, endingAfter: stepCount)
      let isOver = stepCount == 3
      for left in [ended.afterProcessDeath] + ended.afterPowerFailures {
        if let disk = left["store"] {
          #expect(!isOver)
          if depth > 1 { try subject.check(copiedTo: disk.afterProcessDeath(), seed: generator.next()) }
        }
        #expect(!isOver || left["copy"] == nil)
        try replace(left.afterProcessDeath)
        if depth > 1 { try follow(left, subject, depth: depth - 1, &generator) }
      }
    }
  }

  /// Destroys the folder's store in a process that ends after some steps, or returns after all three.
  private func destroy(_ folder: SimulatedFolder, endingAfter stepCount: Int) {
    let hasStore = folder["store"] != nil
    let code = code { try Store.destroy(at: folder.place(endingAfter: stepCount)) }
    if stepCount == 3 { #expect(code == (hasStore ? nil : .inputOutput)) }
  }

  /// Makes and checks a new store of the same name, if there is no store. The new store has nothing of the old one.
  /// Once its commit is acknowledged, the old one doesn't come back.
  private func replace(_ folder: SimulatedFolder) throws {
    guard folder["store"] == nil else { return }
    let disk = SimulatedDisk()
    folder.put("store", disk)
    var environment = StoreEnvironment.simulated(seed: 3)
    environment.synchronizeFolder = { folder.synchronize() }
    let store = try Store.open(file: disk, path: "store", options: StoreOptions(), environment: environment)
    #expect(store.lastCommit == 0)
    try store.put("new", "1")
    for left in folder.afterPowerFailures {
      let found = SimulatedDisk(try #require(left["store"]).crashPoint.image(.allLost, seed: 1))
      let again = try Store.open(
        file: found,
        path: "store",
        options: StoreOptions(),
        environment: .simulated(seed: 4)
      )
      #expect(try again.value("new") == "1" && again.lastCommit == 1)
    }
  }

  @Test func afterAFolderThatCannotBeSyncedTheOutcomeIsUnknown() throws {
    let folder = SimulatedFolder()
    folder.put("store", SimulatedDisk())
    folder.synchronize()
    #expect(code { try Store.destroy(at: folder.place(endingAfter: 2)) } == .outcomeUnknown)
    #expect(folder["store"] == nil && folder.afterPowerFailures.contains { $0["store"] != nil })
  }
}

/// A folder of simulated files, as the processes see it and as it is on the disk.
// Safety: only the thread of the test uses it; a store calls its environment on the thread that opens it.
private final class SimulatedFolder: @unchecked Sendable {
  private struct Change {
    let name: String
    let disk: SimulatedDisk?
  }

  private var durable: [String: SimulatedDisk] = [:]
  /// The changes since the folder was synced.
  private var changes: [Change] = []

  subscript(name: String) -> SimulatedDisk? {
    changes.last { $0.name == name }.map(\.disk) ?? durable[name]
  }

  func put(_ name: String, _ disk: SimulatedDisk?) { changes.append(Change(name: name, disk: disk)) }

  func synchronize() {
    for change in changes { durable[change.name] = change.disk }
    changes = []
  }

  /// The same folder for another process.
  var afterProcessDeath: SimulatedFolder {
    let folder = SimulatedFolder()
    (folder.durable, folder.changes) = (durable, changes)
    return folder
  }

  /// The folders that a power failure may leave: each change that wasn't synced happened or not, independently of the
  /// others.
  var afterPowerFailures: [SimulatedFolder] {
    (0..<(1 << changes.count)).map { mask in
      let folder = SimulatedFolder()
      folder.durable = durable
      for (index, change) in changes.enumerated() where mask >> index & 1 == 1 {
        folder.durable[change.name] = change.disk
      }
      return folder
    }
  }

  /// Returns the folder as seen by a process that destroys its store and ends after some steps.
  func place(endingAfter stepCount: Int) -> Place { Place(self, endingAfter: stepCount) }

  final class Place: DestructionPlace {
    private let folder: SimulatedFolder
    private let hasStore: Bool
    private var remainingSteps: Int

    init(_ folder: SimulatedFolder, endingAfter stepCount: Int) {
      self.folder = folder
      hasStore = folder["store"] != nil
      remainingSteps = stepCount
    }

    private func step(_ body: () throws(StoreError) -> Void) throws(StoreError) {
      guard remainingSteps > 0 else { throw StoreError(.inputOutput, "the process has ended") }
      remainingSteps -= 1
      try body()
    }

    func removeLeftover() throws(StoreError) {
      try step { () throws(StoreError) in if folder["copy"] != nil { folder.put("copy", nil) } }
    }

    func removeFile() throws(StoreError) {
      try step { () throws(StoreError) in
        guard hasStore else { throw StoreError.system("open", ENOENT) }
        folder.put("store", nil)
      }
    }

    func synchronizeFolder() throws(StoreError) {
      try step { () throws(StoreError) in folder.synchronize() }
    }
  }
}
