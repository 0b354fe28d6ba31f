import Glibc
@_spi(Testing) import TestSupport
import Testing

@_spi(Testing) @testable import PageStore

/// A file that is taken away while its store is open.
struct GoneFileTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Ways to take the file at `path` away.
  enum Way: CaseIterable {
    case removed, replaced

    func take(_ path: String, in folder: TemporaryFolder) throws {
      let aside = folder.file("aside")
      switch self {
      case .removed: #expect(unlink(path) == 0)
      case .replaced:
        try Store.open(at: aside).close()
        #expect(rename(aside, path) == 0)
      }
    }
  }

  private func makePath() -> String {
    #expect(mkdir(folder.file("data"), 0o700) == 0)
    return folder.file("data/store")
  }

  @Test(arguments: Way.allCases) func isNoticedByTheNextSync(_ way: Way) throws {
    let path = makePath()
    let store = try Store.open(at: path)
    try store.put("a", "1")
    try way.take(path, in: folder)
    for _ in 0..<2 {
      #expect(code { try store.put("a", "2") } == .fileGone)
      #expect(code { try store.put("a", "3", durability: .relaxed) } == .fileGone)
      #expect(code { try store.checkpoint() } == .fileGone)
    }
    // Reads still work, and show the state that was durable before.
    #expect(try store.value("a") == "1")
    try store.copy(to: folder.file("rescued"))
    #expect(code { try store.close() } == .fileGone)
    #expect(try Store.open(at: folder.file("rescued")).value("a") == "1")
    // The file at the path is now another store, with a lock of its own.
    let other = try Store.open(at: path)
    try other.put("b", "1")
    try other.close()
  }

  @Test(arguments: Way.allCases) func isNoticedWhenRelaxedCommitsAreSynced(_ way: Way) throws {
    let path = makePath()
    let store = try Store.open(at: path)
    try store.put("a", "1")
    try way.take(path, in: folder)
    // The commit is written and not synced yet; the store may check its file at any moment.
    let written = code { try store.put("a", "2", durability: .relaxed) }
    #expect(written == nil || written == .fileGone)
    #expect(code { try store.makeDurable() } == .fileGone)
    #expect(try store.value("a") == "1")
    #expect(code { try store.put("a", "3", durability: .relaxed) } == .fileGone)
  }

  @Test(arguments: Way.allCases) func isNoticedByTheCheckpointOfAStoreThatSyncsNothingElse(_ way: Way) throws
  {
    let path = makePath()
    var options = StoreOptions()
    options.durability = .none
    let store = try Store.open(at: path, options: options)
    try store.put("a", "1")
    try way.take(path, in: folder)
    try store.put("a", "2")
    #expect(code { try store.checkpoint() } == .fileGone)
    #expect(code { try store.put("a", "3") } == .fileGone)
  }

  @Test func aFileThatWasMovedIsFoundWhereItIsNow() throws {
    let path = makePath()
    let store = try Store.open(at: path)
    try store.put("a", "1")
    #expect(rename(path, folder.file("data/moved")) == 0)
    try store.put("b", "1")
    // The same store by its new name.
    let other = try Store.open(at: folder.file("data/moved"))
    try other.put("c", "1")
    try other.close()
    #expect(rename(folder.file("data"), folder.file("elsewhere")) == 0)
    try store.put("d", "1", durability: .relaxed)
    try store.close()
    let found = try Store.open(at: folder.file("elsewhere/moved"))
    for key in ["a", "b", "c", "d"] { #expect(try found.value(key) == "1") }
    // Another store's file at the path of this store isn't this store's file.
    let second = try Store.open(at: folder.file("new"))
    #expect(rename(folder.file("elsewhere/moved"), folder.file("aside")) == 0)
    #expect(rename(folder.file("new"), folder.file("elsewhere/moved")) == 0)
    #expect(code { try found.put("e", "1") } == .fileGone)
    try second.put("a", "2")
  }

  @Test func aLinkMayLeadElsewhereMeanwhile() throws {
    let (path, link) = (makePath(), folder.file("link"))
    #expect(symlink(path, link) == 0)
    let store = try Store.open(at: link)
    try store.put("a", "1")
    #expect(unlink(link) == 0)
    // The file is at its old path.
    try store.put("a", "2")
    try store.close()
    #expect(try Store.open(at: path).value("a") == "2")
  }

  @Test func aFileWithAnotherNameStays() throws {
    let path = makePath()
    let store = try Store.open(at: path)
    #expect(Glibc.link(path, folder.file("second")) == 0)
    try store.put("a", "1")
    try store.close()
  }
}
