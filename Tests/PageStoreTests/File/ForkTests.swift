import Glibc
@_spi(Testing) import TestSupport
import Testing

@_spi(Testing) @testable import PageStore

struct ForkTests {
  /// Calls `fork`, which Swift hides for good reasons. A child may do little here: it calls the store, and exits.
  private func fork() throws -> pid_t {
    typealias Function = @convention(c) () -> pid_t
    let symbol = try #require(dlsym(nil, "fork"))
    return unsafeBitCast(symbol, to: Function.self)()
  }

  @Test func aForkedChildsHandlesArePoisoned() throws {
    let folder = try TemporaryFolder()
    let store = try Store.open(at: folder.file("store"))
    try store.put("a", "1")
    let child = try fork()
    if child == 0 {
      let writing = code { try store.put("b", "2") }
      let reading = code { _ = try store.snapshot() }
      let closing = code { try store.close() }
      _exit(writing == .closed && reading == .closed && closing == .closed ? 0 : 1)
    }
    var status: Int32 = -1
    #expect(waitpid(child, &status, 0) == child)
    #expect(status == 0)
    // The parent's handle still works.
    try store.put("a", "2")
    #expect(try store.value("a") == "2")
    try store.close()
  }

  @Test func aForkedChildKeepsNobodyOut() throws {
    let folder = try TemporaryFolder()
    let store = try Store.open(at: folder.file("store"))
    try store.put("a", "1")
    let child = try fork()
    if child == 0 {
      pause()
      _exit(0)
    }
    defer {
      kill(child, SIGKILL)
      waitpid(child, nil, 0)
    }
    try store.close()
    let again = try Store.open(at: folder.file("store"))
    #expect(try again.value("a") == "1")
    try again.close()
  }

  @Test func whoeverKeepsALockThatItsHolderHadIsNamed() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("store")
    try Store.open(at: path).close()
    // This object holds the lock and is never closed, because closing it would release the lock.
    let descriptor = Glibc.open(path, O_RDWR | O_CLOEXEC)
    let holder = Unmanaged.passRetained(PosixFile(descriptor: descriptor))
    try FileLock.acquire(holder.takeUnretainedValue(), path: path, isExclusive: true)
    let child = try fork()
    if child == 0 {
      pause()
      _exit(0)
    }
    // The holder ends as a killed process does: its descriptor is closed, and the lock stays with the child's
    // descriptor.
    #expect(Glibc.close(descriptor) == 0)
    for _ in 0..<2 {
      do {
        _ = try Store.open(at: path)
        Issue.record("the lock was ignored")
      } catch {
        #expect(error.code == .storeInUse)
        #expect(error.message.contains("process \(child) ("), "\(error.message)")
        #expect(!error.message.contains("process \(getpid()) ("), "\(error.message)")
      }
    }
    kill(child, SIGKILL)
    waitpid(child, nil, 0)
    try Store.open(at: path).close()
  }
}
