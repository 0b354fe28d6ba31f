import Foundation
import Glibc
@_spi(Testing) import TestSupport
import Testing

@_spi(Testing) @testable import PageStore

/// Stores that are replaced by copies of others, or destroyed.
struct ReplacingTests {
  private let folder: TemporaryFolder
  private var path: String { folder.file("store") }
  private var backup: String { folder.file("backup") }

  init() throws { folder = try TemporaryFolder() }

  private func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
  }

  /// Makes a store and a backup of it, and then commits to the store. Returns the backup's commit.
  @discardableResult
  private func makeStoreAndBackup() throws -> UInt64 {
    let store = try Store.open(at: path)
    for number in 0..<300 { try store.put("k\(number)", "old", durability: .relaxed) }
    try store.copy(to: backup, pageSize: 4_096)
    let commit = store.lastCommit
    try store.put("later", "1")
    try store.close()
    return commit
  }

  // MARK: Replacing

  @Test func aBackupTakesThePlaceOfAStore() throws {
    let commit = try makeStoreAndBackup()
    #expect(chmod(path, 0o640) == 0)
    let before = try Data(contentsOf: URL(fileURLWithPath: backup))
    try Store.replace(at: path, byCopyOf: backup)
    var status = stat()
    #expect(stat(path, &status) == 0 && status.st_mode & 0o7777 == 0o640)
    #expect(try Data(contentsOf: URL(fileURLWithPath: backup)) == before)
    #expect(try names() == ["backup", "store"])
    let (store, other) = (try Store.open(at: path), try Store.open(at: backup))
    #expect(store.uuid == other.uuid && store.lastCommit == commit)
    #expect(try store.value("k299") == "old" && store.value("later") == nil)
    #expect(try store.statistics.pageSize == 4_096)
    #expect(try store.verify() == [])
    try store.put("again", "1")
  }

  @Test func aDamagedStoreCanBeReplaced() throws {
    try makeStoreAndBackup()
    let handle = try FileHandle(forUpdating: URL(fileURLWithPath: path))
    let byteCount = try handle.seekToEnd()
    try handle.seek(toOffset: UInt64(FileLayout.fixedByteCount) + 8_192)
    try handle.write(contentsOf: Data(repeating: 0xA5, count: Int(byteCount) - 8_192 - 16_384))
    try handle.close()
    #expect(throws: StoreError.self) { try Store.open(at: path).value("k1") }
    try Store.replace(at: path, byCopyOf: backup)
    #expect(try Store.open(at: path).value("k1") == "old")
  }

  @Test func aBackupThatWasNotClosedIsRecoveredIntoTheCopy() throws {
    try makeStoreAndBackup()
    do { try Store.open(at: backup).put("unclosed", "1", durability: .relaxed) }
    let before = try Data(contentsOf: URL(fileURLWithPath: backup))
    try Store.replace(at: path, byCopyOf: backup)
    #expect(try Data(contentsOf: URL(fileURLWithPath: backup)) == before)
    #expect(try Store.open(at: path).value("unclosed") == "1")
  }

  @Test func aLinkStaysAndItsTargetIsReplaced() throws {
    try makeStoreAndBackup()
    let link = folder.file("link")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
    try Store.replace(at: link, byCopyOf: backup)
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == path)
    #expect(try Store.open(at: path).value("later") == nil)
  }

  @Test func stopsWhenTheProgressSaysSo() throws {
    try makeStoreAndBackup()
    #expect(try Store.replace(at: path, byCopyOf: backup) { _ in false } == false)
    #expect(try names() == ["backup", "store"])
    #expect(try Store.open(at: path).value("later") == "1")
  }

  @Test func storesThatAreOpenAreNotReplacedOrDestroyed() throws {
    try makeStoreAndBackup()
    for options in [StoreOptions(), .reading] {
      let store = try Store.open(at: path, options: options)
      #expect(code { try Store.replace(at: path, byCopyOf: backup) } == .storeInUse)
      #expect(code { try Store.destroy(at: path) } == .storeInUse)
      #expect(try store.value("later") == "1")
      try store.close()
    }
    // A snapshot keeps a store open after the last handle was released.
    var snapshot: Snapshot? = try Store.open(at: path).snapshot()
    #expect(code { try Store.destroy(at: path) } == .storeInUse)
    withExtendedLifetime(snapshot) {}
    snapshot = nil
    // The store can't be opened while it is being replaced, either.
    try Store.replace(at: path, byCopyOf: backup) { _ in
      #expect(code { _ = try Store.open(at: path) } == .storeInUse)
      #expect(code { try Store.destroy(at: path) } == .storeInUse)
      #expect(code { try Store.replace(at: path, byCopyOf: backup) } == .storeInUse)
      #expect(code { _ = try Store.open(at: backup) } == .storeInUse)
      let value = try Store.open(at: backup, options: .reading).value("k1")
      #expect(value == "old")
      return true
    }
    let reader = try Store.open(at: backup, options: .reading)
    try Store.replace(at: path, byCopyOf: backup)
    try reader.close()
    let writer = try Store.open(at: backup)
    #expect(code { try Store.replace(at: path, byCopyOf: backup) } == .storeInUse)
    try writer.close()
    #expect(code { try Store.replace(at: path, byCopyOf: path) } == .storeInUse)
    #expect(try names() == ["backup", "store"])
  }

  @Test func whatIsNoStoreNeitherReplacesNorIsReplaced() throws {
    try makeStoreAndBackup()
    let other = folder.file("other")
    for bytes in [Data("not a store at all".utf8), Data()] {
      try bytes.write(to: URL(fileURLWithPath: other))
      #expect(code { try Store.replace(at: other, byCopyOf: backup) } == .notAStore)
      #expect(code { try Store.replace(at: path, byCopyOf: other) } == .notAStore)
      #expect(code { try Store.destroy(at: other) } == .notAStore)
      #expect(try Data(contentsOf: URL(fileURLWithPath: other)) == bytes)
    }
    #expect(code { try Store.replace(at: folder.file("none"), byCopyOf: backup) } == .inputOutput)
    #expect(code { try Store.replace(at: path, byCopyOf: folder.file("none")) } == .inputOutput)
    #expect(code { try Store.destroy(at: folder.file("none")) } == .inputOutput)
    #expect(code { try Store.destroy(at: folder.path) } != nil)
    #expect(try names() == ["backup", "other", "store"])
    #expect(try Store.open(at: path).value("later") == "1")
  }

  // MARK: Destroying

  @Test func aDestroyedStoreIsGoneWithWhatACopyHasLeft() throws {
    try makeStoreAndBackup()
    try Data("cut short".utf8).write(to: URL(fileURLWithPath: path + ".cambium-copy"))
    try Store.destroy(at: path)
    #expect(try names() == ["backup"])
    let store = try Store.open(at: path)
    #expect(store.lastCommit == 0)
    #expect(try store.uuid != Store.open(at: backup).uuid)
  }

  /// The name of its unfinished copy would be too long, so there is none.
  @Test func aStoreWithALongNameIsDestroyed() throws {
    let long = folder.file(String(repeating: "s", count: 250))
    try Store.open(at: long).close()
    try Store.destroy(at: long)
    #expect(try names() == [])
    #expect(code { try Store.destroy(at: long) } == .inputOutput)
  }

  /// The name of an unfinished copy has 13 bytes more, and a file's name 255 at most.
  @Test func aCopyHasANameOf242BytesAtMost() throws {
    try makeStoreAndBackup()
    let longest = folder.file(String(repeating: "c", count: 242))
    let tooLong = folder.file(String(repeating: "c", count: 243))
    let store = try Store.open(at: path)
    try store.copy(to: longest)
    #expect(code { try store.copy(to: tooLong) } == .inputOutput)
    try store.close()
    try Store.replace(at: longest, byCopyOf: backup)
    try Store.rewrite(at: longest)
    try Store.open(at: tooLong).close()
    #expect(code { try Store.replace(at: tooLong, byCopyOf: backup) } == .inputOutput)
    #expect(code { try Store.rewrite(at: tooLong) } == .inputOutput)
    let kept = try Store.open(at: tooLong)
    #expect(kept.lastCommit == 0)
    try kept.close()
    try Store.destroy(at: tooLong)
    #expect(try names() == ["backup", String(repeating: "c", count: 242), "store"])
  }

  @Test func theTargetOfALinkIsDestroyed() throws {
    try makeStoreAndBackup()
    let link = folder.file("link")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
    try Store.destroy(at: link)
    #expect(try names() == ["backup", "link"])
    #expect(try Store.open(at: link).lastCommit == 0)
    #expect(try names() == ["backup", "link", "store"])
  }

  /// An opener that found the file before it was destroyed, and locks it after, must not write to it.
  @Test func aFileThatWasDestroyedBeforeItIsLockedIsNotTheStore() throws {
    try makeStoreAndBackup()
    let early = try PosixFile.open(path: path, isReadOnly: false, createsIfMissing: false)
    try Store.destroy(at: path)
    try FileLock.acquire(early, path: path, isExclusive: true)
    #expect(try !early.isAt(path))
    #expect(code { _ = try PosixFile.openLocked(path: path) } == .inputOutput)
  }

  /// If a file can't be renamed without replacing another, it has both names for a moment.
  @Test func aCopyThatACrashHasLeftWithTwoNamesCanBeDestroyedAndReplaced() throws {
    try makeStoreAndBackup()
    let second = PosixCopyPlace.temporaryPath(of: path)
    #expect(link(path, second) == 0)
    try Store.replace(at: path, byCopyOf: backup)
    #expect(try names() == ["backup", "store"])
    #expect(link(path, second) == 0)
    try Store.destroy(at: path)
    #expect(try names() == ["backup"])
  }
}
