import Glibc
@_spi(Testing) import TestSupport
import Testing

@_spi(Testing) @testable import PageStore

/// Spilled pages go to the folder of the store's file, whichever path led to it.
struct SpillFolderTests {
  @Test func aLinkThatIsRemovedIsNotNeeded() throws {
    let folder = try TemporaryFolder()
    #expect(mkdir(folder.file("data"), 0o700) == 0)
    #expect(mkdir(folder.file("links"), 0o700) == 0)
    let path = folder.file("links/store")
    #expect(symlink(folder.file("data/store"), path) == 0)
    let store = try Store.open(at: path)
    #expect(unlink(path) == 0)
    #expect(rmdir(folder.file("links")) == 0)
    let spilled = try store.environment.makeSpillFile()
    #expect(spilled.byteCount() == 0)
    try store.put("a", "1")
    try store.close()
  }
}
