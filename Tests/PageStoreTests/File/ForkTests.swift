import Glibc
@_spi(Testing) import PageStore
@_spi(Testing) import TestSupport
import Testing

@Suite struct ForkTests {
  /// Swift hides `fork`, rightly; what a child may do here is little: ask the store, and go.
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
    // The parent's handle is as good as before.
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
}
