import Dispatch
import Foundation
import Glibc
import Synchronization
@_spi(Testing) import TestSupport
import Testing

@_spi(Testing) @testable import PageStore

/// Several handles on one file, one after the other and at the same time.
struct HandleTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test func aClosedStoreThatIsLetGoTakesNothingFromItsSuccessor() throws {
    let path = folder.file("store")
    var store = try Store.open(at: path)
    try store.close()
    // The first store is released only now, when the second one is open.
    store = try Store.open(at: path)
    let other = try Store.open(at: path)
    #expect(other.identifier == store.identifier)
    try other.close()
    try store.put("a", "1")
    try store.close()
    #expect(code { _ = try store.snapshot() } == .closed)
    #expect(try Store.open(at: path).value("a") == "1")
  }

  /// However long it takes to open a file, other files can be opened meanwhile. A second opening of the same file
  /// waits.
  @Test func aFileThatIsBeingOpenedHoldsUpNoOther() throws {
    let path = folder.file("other")
    let (isOther, isSame) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    // An identity that no file has.
    let slow = PosixFile.Identity(device: .max, inode: .max)
    @Sendable func open(_ body: () throws(StoreError) -> SharedStore?) -> SharedStore? {
      try? ProcessRegistry.shared.store(for: slow, options: .init(), path: "slow", make: body)
    }
    var sawOther = false
    _ = open { () throws(StoreError) in
      DispatchQueue.global().async {
        if let store = try? Store.open(at: path) { try? store.close() }
        isOther.signal()
        _ = open { () throws(StoreError) in nil }
        isSame.signal()
      }
      // The wait ends early unless there is a mistake.
      sawOther = isOther.wait(timeout: .now() + 600) == .success
      #expect(isSame.wait(timeout: .now() + 0.05) == .timedOut)
      return nil
    }
    #expect(sawOther)
    #expect(isSame.wait(timeout: .now() + 600) == .success)
  }

  /// Returns true if no handle of this process holds the lock. Checks as another process would, with a file description
  /// of its own.
  private func isUnlocked(_ path: String) throws -> Bool {
    let other = try PosixFile.open(path: path, isReadOnly: false, createsIfMissing: false)
    defer { other.close() }
    return code { try FileLock.acquire(other, path: path, isExclusive: true) } == nil
  }

  @Test func closingAHandleAgainTakesNothingFromTheOthers() throws {
    let path = folder.file("store")
    let first = try Store.open(at: path)
    let second = try Store.open(at: path)
    try first.put("a", "1", durability: .relaxed)
    try first.close()
    for _ in 0..<3 { try first.close() }
    #expect(code { _ = try first.snapshot() } == .closed)
    #expect(code { try first.put("b", "1") } == .closed)
    #expect(code { _ = try first.statistics } == .closed)
    try second.put("b", "2")
    #expect(try second.value("a") == "1")
    #expect(try !isUnlocked(path))
    try second.close()
    #expect(try isUnlocked(path))
    // Closing the last handle has written a checkpoint: nothing is replayed.
    let again = try Store.open(at: path)
    #expect(try again.statistics.checkpointCommit == 2)
    // A handle of the earlier store doesn't close this one, either.
    try second.close()
    #expect(try again.value("b") == "2")
    try again.close()
  }

  @Test func aHandleThatIsLetGoDoesNotKeepTheStoreOpen() throws {
    let path = folder.file("store")
    let last = try Store.open(at: path)
    var kept: Snapshot?
    do {
      let letGo = try Store.open(at: path)
      try letGo.put("a", "1")
      kept = try letGo.snapshot()
    }
    try last.put("a", "2")
    // The snapshot still reads its state, although its handle was released.
    #expect(try kept?.tree("t").value(for: bytes("a")) == bytes("1"))
    try last.close()
    #expect(try isUnlocked(path))
    #expect(code { _ = try kept?.tree("t") } == .closed)
    kept = nil
    let again = try Store.open(at: path)
    #expect(try again.statistics.checkpointCommit == 2)
    try again.close()
  }

  @Test func aStoreWithoutHandlesLastsAsLongAsItsSnapshots() throws {
    let path = folder.file("store")
    var snapshot: Snapshot?
    do {
      let store = try Store.open(at: path)
      try store.put("a", "1")
      snapshot = try store.snapshot()
    }
    #expect(try !isUnlocked(path))
    #expect(try snapshot?.tree("t").value(for: bytes("a")) == bytes("1"))
    // Opening the file finds the store that is still open.
    do {
      let store = try Store.open(at: path)
      try store.put("a", "2")
    }
    snapshot = nil
    #expect(try isUnlocked(path))
    #expect(try Store.open(at: path).value("a") == "2")
  }

  @Test func closingOneOfTwoHandlesMakesDurableWhatWasCommitted() throws {
    let path = folder.file("store")
    let (first, second) = (try Store.open(at: path), try Store.open(at: path))
    try first.put("a", "1", durability: .relaxed)
    let before = try second.statistics.syncs
    try first.close()
    #expect(try second.statistics.syncs > before)
    try second.close()
  }

  @Test func handlesThatAreClosedAndLetGoOnManyThreadsLeaveNothingOpen() throws {
    let path = folder.file("store")
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      for round in 0..<50 {
        let failed = code {
          let store = try Store.open(at: path)
          try store.put("\(thread)", "\(round)", durability: .relaxed)
          if (thread + round) % 3 == 0 { return }
          try store.close()
          try store.close()
        }
        if failed != nil { Issue.record("\(String(describing: failed))") }
      }
    }
    #expect(try isUnlocked(path))
    let store = try Store.open(at: path)
    for thread in 0..<4 { #expect(try store.value("\(thread)") == "49") }
    try store.close()
  }

  @Test func aStoreIsNotClosedInsideATransaction() throws {
    let store = try Store.open(at: folder.file("store"))
    try store.write { transaction in
      try transaction.tree("t").put(bytes("a"), bytes("1"))
      #expect(code { try store.close() } == .nestedWrite)
    }
    #expect(try store.value("a") == "1")
    try store.close()
  }

  @Test func aStoreOpenedWhileItIsClosedIsOpen() throws {
    let path = folder.file("store")
    let failures = Atomic(0)
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      for index in 0..<60 {
        let failed = code {
          let store = try Store.open(at: path)
          try store.put("\(thread) \(index)", "v", durability: .relaxed)
          try store.close()
        }
        if failed != nil { failures.wrappingAdd(1, ordering: .relaxed) }
      }
    }
    #expect(failures.load(ordering: .relaxed) == 0)
    #expect(try Store.open(at: path).snapshot().tree("t").count == 240)
  }

  @Test func anOpeningWaitsForTheEndOfAClosing() throws {
    let registry = ProcessRegistry()
    let file = PosixFile.Identity(device: 1, inode: 2)
    let stores = [try Store.inMemory().shared, try Store.inMemory().shared]
    _ = try registry.store(for: file, options: .init(), path: "") { stores[0] }
    #expect(registry.releaseHandle(of: ObjectIdentifier(stores[0]), file, isClosing: true))
    let opened = Mutex<SharedStore?>(nil)
    let isDone = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      let store = try? registry.store(for: file, options: .init(), path: "") { stores[1] }
      opened.withLock { $0 = store }
      isDone.signal()
    }
    #expect(isDone.wait(timeout: .now() + 0.1) == .timedOut)
    registry.remove(file, of: ObjectIdentifier(stores[0]))
    isDone.wait()
    #expect(opened.withLock { $0 } === stores[1])
  }

  @Test func openingWithOtherOptionsWhileTheStoreIsLetGoComesToAnEnd() throws {
    let path = folder.file("store")
    var options = StoreOptions()
    options.durability = .relaxed
    let other = options
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      for _ in 0..<300 {
        let found = code { _ = try Store.open(at: path, options: thread % 2 == 0 ? other : StoreOptions()) }
        if found != nil && found != .storeInUse { Issue.record("\(String(describing: found))") }
      }
    }
  }

  @Test func aHoleBehindTheEndIsPassedOver() throws {
    let path = folder.file("store")
    let store = try Store.open(at: path)
    try store.put("a", "1")
    try store.close()
    // The file is too long to read page by page.
    #expect(truncate(path, 1 << 42) == 0)
    let again = try Store.open(at: path)
    #expect(try again.value("a") == "1")
    #expect(try again.verify() == [])
    try again.put("a", "2")
    try again.close()
    #expect(try Store.open(at: path).value("a") == "2")
  }

  @Test func aNameThatCannotBeMadeDurableIsAnErrorUntilItCan() throws {
    let path = folder.file("store")
    // The file is in no folder.
    let unnamed = try PosixFile.openUnnamed(beside: path)
    let link = "/proc/self/fd/\(unnamed.descriptor)"
    for _ in 0..<2 { #expect(code { _ = try Store.open(at: link) } == .inputOutput) }
    #expect(linkat(AT_FDCWD, link, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0)
    let store = try Store.open(at: path)
    try store.put("a", "1")
    try store.close()
  }

  @Test func aNewStoreHasRoomForBothAnchors() throws {
    let path = folder.file("store")
    let store = try Store.open(at: path)
    var status = stat()
    #expect(stat(path, &status) == 0)
    let log = StoreOptions().initialLogByteCount
    #expect(Int(status.st_blocks) * 512 >= Int(FileLayout.fixedByteCount) + log)
    try store.close()
  }

  @Test func otherKindsOfFilesAreRefused() throws {
    let pipe = folder.file("pipe")
    #expect(mkfifo(pipe, 0o600) == 0)
    for path in [pipe, "/dev/null", folder.path] {
      for isReadOnly in [true, false] {
        var options = StoreOptions()
        options.isReadOnly = isReadOnly
        options.createsIfMissing = false
        let found = code { _ = try Store.open(at: path, options: options) }
        #expect(found == .notAStore || path == folder.path && !isReadOnly && found == .inputOutput, "\(path)")
      }
    }
  }
}
