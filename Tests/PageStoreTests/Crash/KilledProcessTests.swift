import Foundation
import PageStore
import TestSupport
import Testing

/// Processes killed while they save. The page cache survives, so this proves nothing about syncs. It tests the order of
/// writes, the locks and half-made files.
struct KilledProcessTests {
  /// With one commit between opening and closing, most processes are killed while they replace the store by its copy,
  /// which takes longer than a commit.
  @Test(arguments: [(40, 100, 20_000), (1, 40, 400_000)])
  func nothingAcknowledgedIsLostWhenTheProcessIsKilled(
    commitsPerOpening: Int,
    killCount: Int,
    longestDelay: Int
  ) throws {
    var generator = SeededGenerator("\(#function) \(commitsPerOpening)")
    let folder = try TemporaryFolder()
    let path = folder.file("killed.cambium")
    var replay = KillReplay()
    var acknowledged: UInt64 = 0
    var kills = 0
    var pageSizes: Set<Int> = []
    // On a slow machine no process may have replaced the store when it is killed.
    func isEnough() -> Bool { commitsPerOpening > 1 || pageSizes.count > 1 || kills >= 10 * killCount }
    while kills < killCount || !isEnough() {
      let delay = UInt32(generator.number(in: 0...longestDelay))
      if let last = try killOnce(
        [path, String(commitsPerOpening)],
        afterMicroseconds: delay,
        waitsForCommit: kills % 4 != 0
      ) {
        acknowledged = last
      }
      kills += 1
      guard acknowledged > 0 else { continue }
      let store = try Store.open(at: path)
      try #require(store.lastCommit >= acknowledged)
      try store.read { snapshot in
        var comparison = SnapshotComparison(seed: generator.next())
        let difference = try comparison.difference(of: snapshot, from: replay.state(after: snapshot.commit))
        #expect(difference == nil)
      }
      #expect(try store.verify().isEmpty)
      pageSizes.insert(try store.statistics.pageSize)
      try store.close()
    }
    #expect(acknowledged >= UInt64(killCount * 3 / 4))
    #expect(commitsPerOpening > 1 || pageSizes == [4_096, 8_192])
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(Set(names).isSubset(of: ["killed.cambium", "killed.cambium.cambium-copy"]))
    try Store.rewrite(at: path)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["killed.cambium"])
  }

  /// A killed destruction leaves the store or nothing, and the next destruction finishes. A new store of the same name
  /// has nothing of the old one.
  @Test func aStoreIsWholeOrGoneWhenAProcessIsKilledThatDestroysIt() throws {
    var generator = SeededGenerator()
    let folder = try TemporaryFolder()
    let path = folder.file("killed.cambium")
    let commitCount = 4
    var options = StoreOptions()
    options.createsIfMissing = false
    var (goneCount, wholeCount) = (0, 0)
    for kills in 0..<100 {
      let last = try killOnce(
        [path, String(commitCount), "destroy"],
        afterMicroseconds: UInt32(generator.number(in: 0...20_000)),
        waitsForCommit: kills % 4 != 0
      )
      do {
        let store = try Store.open(at: path, options: options)
        wholeCount += 1
        // After its last commit the process may destroy the store and make a new one.
        #expect(last ?? 0 == commitCount || store.lastCommit >= last ?? 0)
        try store.read { snapshot in
          var (replay, comparison) = (KillReplay(), SnapshotComparison(seed: generator.next()))
          let difference = try comparison.difference(of: snapshot, from: replay.state(after: snapshot.commit))
          #expect(difference == nil)
        }
        #expect(try store.verify().isEmpty)
        try store.close()
      } catch let error as StoreError {
        goneCount += 1
        #expect(last ?? 0 == 0 || last ?? 0 == commitCount)
        let isGone = error.systemError?.errno == ENOENT
        // A new store whose creation was cut short is an empty file.
        #expect(isGone || error.code == .notAStore, "\(error)")
        if !isGone { try Store.open(at: path).close() }
      }
      let isThere = FileManager.default.fileExists(atPath: path)
      #expect(code { try Store.destroy(at: path) } == (isThere ? nil : .inputOutput))
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
    }
    #expect(goneCount > 0 && wholeCount > 0, "\(goneCount) gone, \(wholeCount) whole")
  }

  /// Lets a process commit for a while and kills it; returns the last commit that it acknowledged in that time. The
  /// time begins with the process's first acknowledgement or with its start: so processes are killed while they open
  /// the store, too.
  private func killOnce(
    _ arguments: [String],
    afterMicroseconds delay: UInt32,
    waitsForCommit: Bool
  ) throws -> UInt64? {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
      .deletingLastPathComponent().appendingPathComponent("KillTarget")
    process.arguments = arguments
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let numberByteCount = MemoryLayout<UInt64>.size
    var output = Data()
    if waitsForCommit { output = try pipe.fileHandleForReading.read(upToCount: numberByteCount) ?? Data() }
    usleep(delay)
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    output += pipe.fileHandleForReading.readDataToEndOfFile()
    let numberCount = output.count / numberByteCount
    guard numberCount > 0 else { return nil }
    let last = output.dropFirst((numberCount - 1) * numberByteCount).prefix(numberByteCount)
    return last.reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }
}

/// The states that the killed processes' commits lead to.
private struct KillReplay {
  private var number: UInt64 = 0
  private var current = StoreState()

  /// The state after commit `target`, which must not be smaller than in the call before.
  mutating func state(after target: UInt64) -> StoreState {
    while number < target {
      number += 1
      for operation in KillWorkload.operations(number) { current.apply(operation) }
    }
    return current
  }
}
