import Foundation
import Synchronization
@_spi(Testing) import TestSupport
import Testing

@_spi(Testing) @testable import PageStore

/// Stores that are replaced by their copies.
struct RewriteTests {
  private let folder: TemporaryFolder
  private var path: String { folder.file("store") }

  init() throws { folder = try TemporaryFolder() }

  private func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
  }

  @Test func keepsEverythingButThePageSize() throws {
    let store = try Store.open(at: path)
    for number in 0..<500 { try store.put("k\(number)", String(repeating: "v", count: number)) }
    let (uuid, commit, timestamp) = (store.uuid, store.lastCommit, try store.snapshot().timestamp)
    try store.close()
    for pageSize in FileLayout.pageSizes.reversed() {
      try Store.rewrite(at: path, pageSize: pageSize)
      let again = try Store.open(at: path)
      #expect(try again.statistics.pageSize == pageSize)
      #expect(again.uuid == uuid && again.lastCommit == commit)
      #expect(try again.snapshot().timestamp == timestamp)
      #expect(try again.value("k499") == String(repeating: "v", count: 499))
      #expect(try again.verify() == [])
      // The store was only read, so the next rewriting begins with the file that the last one left.
      try again.close()
      #expect(try names() == ["store"])
    }
    try Store.rewrite(at: path)
    #expect(try Store.open(at: path).statistics.pageSize == 4_096)
  }

  @Test func ownerAndPermissionsStay() throws {
    try Store.open(at: path).close()
    #expect(chmod(path, 0o640) == 0)
    // Only root can change the owner of a file.
    let isRoot = geteuid() == 0
    if isRoot { #expect(chown(path, 12_345, 23_456) == 0) }
    try Store.rewrite(at: path, pageSize: 4_096)
    var status = stat()
    #expect(stat(path, &status) == 0)
    #expect(status.st_mode & 0o7777 == 0o640)
    if isRoot { #expect(status.st_uid == 12_345 && status.st_gid == 23_456) }
  }

  @Test func aLinkStaysAndItsTargetIsReplaced() throws {
    let other = try TemporaryFolder()
    try Store.open(at: other.file("target")).put("a", "1")
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: other.file("target"))
    try Store.rewrite(at: path, pageSize: 65_536)
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: path) == other.file("target"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: other.path) == ["target"])
    #expect(try names() == ["store"])
    let store = try Store.open(at: other.file("target"))
    #expect(try store.statistics.pageSize == 65_536)
    #expect(try store.value("a") == "1")
  }

  @Test func aStoreThatIsOpenIsLeftAlone() throws {
    let store = try Store.open(at: path)
    try store.put("a", "1")
    #expect(code { try Store.rewrite(at: path) } == .storeInUse)
    try store.close()
    let reader = try Store.open(at: path, options: .reading)
    #expect(code { try Store.rewrite(at: path) } == .storeInUse)
    try reader.close()
    // The store can't be opened while it is being rewritten, either.
    try Store.rewrite(at: path) { _ in
      #expect(code { _ = try Store.open(at: path) } == .storeInUse)
      #expect(code { _ = try Store.open(at: path, options: .reading) } == .storeInUse)
      #expect(code { try Store.rewrite(at: path) } == .storeInUse)
      return true
    }
    #expect(try Store.open(at: path).value("a") == "1")
  }

  @Test func whatWasNotClosedIsRecoveredIntoTheCopy() throws {
    do {
      let store = try Store.open(at: path)
      for number in 0..<50 { try store.put("k\(number)", "v", durability: .relaxed) }
    }
    let before = try Data(contentsOf: URL(fileURLWithPath: path))
    #expect(try Store.rewrite(at: path) { _ in false } == false)
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
    try Store.rewrite(at: path)
    let store = try Store.open(at: path)
    #expect(store.lastCommit == 50)
    #expect(try store.value("k49") == "v")
    #expect(try names() == ["store"])
  }

  @Test func whatIsNoStoreIsLeftAlone() throws {
    try Data("not a store at all".utf8).write(to: URL(fileURLWithPath: path))
    #expect(code { try Store.rewrite(at: path) } == .notAStore)
    try Data().write(to: URL(fileURLWithPath: path))
    #expect(code { try Store.rewrite(at: path) } == .notAStore)
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)).isEmpty)
    #expect(code { try Store.rewrite(at: folder.file("none")) } == .inputOutput)
    #expect(try names() == ["store"])
  }

  /// A file that appeared at the path meanwhile belongs to another program.
  @Test func aFileThatHasTakenThePlaceIsNotReplaced() throws {
    try Store.open(at: path).put("a", "1")
    #expect(
      code {
        try Store.rewrite(at: path) { _ in
          try FileManager.default.removeItem(atPath: path)
          try Data("somebody's".utf8).write(to: URL(fileURLWithPath: path))
          return true
        }
      } == .storeInUse
    )
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data("somebody's".utf8))
    #expect(try names() == ["store"])
  }

  /// A process that has opened the file right before it is replaced, and locks it right after, must not write to it.
  @Test func aFileThatWasReplacedBeforeItIsLockedIsOpenedAnew() throws {
    try Store.open(at: path).close()
    let early = try PosixFile.open(path: path, isReadOnly: false, createsIfMissing: false)
    try Store.rewrite(at: path)
    try FileLock.acquire(early, path: path, isExclusive: true)
    #expect(try !early.isAt(path))
    #expect(try PosixFile.openLocked(path: path).isAt(path))
  }

  @Test func noCommitIsLostBetweenOpenersAndRewriters() throws {
    try Store.open(at: path).close()
    let commitCount = Atomic<UInt64>(0)
    let rewriteCount = Atomic<UInt64>(0)
    let isOver = Atomic(false)
    let path = path
    let threads = (0..<3).map { index in
      Thread {
        while !isOver.load(ordering: .relaxed) {
          if index == 0 {
            if (try? Store.rewrite(at: path)) != nil { rewriteCount.wrappingAdd(1, ordering: .relaxed) }
          } else if let store = try? Store.open(at: path) {
            if (try? store.put("k", "v", durability: .relaxed)) != nil {
              commitCount.wrappingAdd(1, ordering: .relaxed)
            }
            try? store.close()
            // The rewriting thread doesn't wait for the lock: it has to find the lock free.
            usleep(20_000)
          } else {
            usleep(500)
          }
        }
      }
    }
    for thread in threads { thread.start() }
    func isEnough(_ count: borrowing Atomic<UInt64>) -> Bool { count.load(ordering: .relaxed) >= 20 }
    for _ in 0..<60_000 where !isEnough(rewriteCount) || !isEnough(commitCount) { usleep(20_000) }
    isOver.store(true, ordering: .relaxed)
    while !threads.allSatisfy(\.isFinished) { usleep(1_000) }
    #expect(isEnough(rewriteCount) && isEnough(commitCount))
    #expect(try Store.open(at: path).lastCommit == commitCount.load(ordering: .relaxed))
  }
}
