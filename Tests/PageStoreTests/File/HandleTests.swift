import Dispatch
import Foundation
import Glibc
import Synchronization
@_spi(Testing) import TestSupport
import Testing

@_spi(Testing) @testable import PageStore

/// Several handles on one file, one after the other and at once.
@Suite struct HandleTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test func aClosedStoreThatIsLetGoTakesNothingFromItsSuccessor() throws {
    let path = folder.file("store")
    var store = try Store.open(at: path)
    try store.close()
    // The first store goes only now, when the second one is open.
    store = try Store.open(at: path)
    #expect(try Store.open(at: path) === store)
    try store.close()
    try store.put("a", "1")
    try store.close()
    #expect(code { _ = try store.snapshot() } == .closed)
    #expect(try Store.open(at: path).value("a") == "1")
  }

  /// However long it takes to open a file, other files can be opened meanwhile; the same one is waited for.
  @Test func aFileThatIsBeingOpenedHoldsUpNoOther() throws {
    let path = folder.file("other")
    let (isOther, isSame) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    // Names no file that there is.
    let slow = PosixFile.Identity(device: .max, inode: .max)
    @Sendable func open(_ body: () throws(StoreError) -> Store?) -> Store? {
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
      sawOther = isOther.wait(timeout: .now() + 10) == .success
      #expect(isSame.wait(timeout: .now() + 0.05) == .timedOut)
      return nil
    }
    #expect(sawOther)
    #expect(isSame.wait(timeout: .now() + 10) == .success)
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
    let stores = [try Store.inMemory(), try Store.inMemory()]
    _ = try registry.store(for: file, options: .init(), path: "") { stores[0] }
    #expect(registry.releaseHandle(of: ObjectIdentifier(stores[0]), file))
    let opened = Mutex<Store?>(nil)
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
    // Longer than reading page after page could get through.
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
