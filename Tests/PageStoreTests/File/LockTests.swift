import Glibc
@_spi(Testing) import TestSupport
import Testing

@_spi(Testing) @testable import PageStore

struct LockTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test func openingAFileTwiceGivesTwoHandlesOnOneStore() throws {
    let path = folder.file("store")
    let first = try Store.open(at: path)
    let second = try Store.open(at: path)
    #expect(first !== second && first.identifier == second.identifier)
    try first.put("a", "1")
    try first.close()
    // The other handle still works.
    #expect(try second.value("a") == "1")
    try second.close()
    #expect(code { try second.put("a", "2") } == .closed)
    #expect(code { _ = try second.snapshot() } == .closed)
  }

  @Test func openingAFileTwiceWithOtherOptionsIsRefused() throws {
    let path = folder.file("store")
    let first = try Store.open(at: path)
    var options = StoreOptions()
    options.isReadOnly = true
    #expect(code { _ = try Store.open(at: path, options: options) } == .storeInUse)
    try first.close()
    let reader = try Store.open(at: path, options: options)
    #expect(code { try reader.put("a", "1") } == .readOnly)
    try reader.close()
  }

  @Test func aNewStoreIsItsOwnersAloneUnlessAskedOtherwise() throws {
    func mode(_ path: String) -> mode_t {
      var status = stat()
      return stat(path, &status) == 0 ? status.st_mode & 0o777 : 0
    }
    let path = folder.file("own")
    try Store.open(at: path).close()
    #expect(mode(path) == 0o600)
    var options = StoreOptions()
    options.filePermissions = 0o640
    let shared = folder.file("shared")
    try Store.open(at: shared, options: options).close()
    // Under a umask of 077 other users get no access.
    #expect(mode(shared) == 0o640 || mode(shared) == 0o600)
    // An existing file keeps its permissions.
    try Store.open(at: path, options: options).close()
    #expect(mode(path) == 0o600)
    for wrong: UInt16 in [0, 0o400, 0o1600] {
      options.filePermissions = wrong
      #expect(code { _ = try Store.open(at: path, options: options) } == .invalidOptions)
    }
  }

  @Test func copiesAndSpilledPagesAreTheOwnersAlone() throws {
    func mode(_ path: String) -> mode_t {
      var status = stat()
      return stat(path, &status) == 0 ? status.st_mode & 0o777 : 0
    }
    for (name, store) in [("disk", try Store.open(at: folder.file("store"))), ("memory", try .inMemory())] {
      try store.put("a", "1")
      try store.copy(to: folder.file("copy on \(name)"))
      #expect(mode(folder.file("copy on \(name)")) == 0o600)
      try store.close()
    }
    try Store.rewrite(at: folder.file("store"))
    #expect(mode(folder.file("store")) == 0o600)
    let unnamed = try PosixFile.openUnnamed(beside: folder.file("store"))
    #expect(unnamed.permissions == 0o600)
    // A store in memory says who may read its copies.
    var options = StoreOptions()
    options.filePermissions = 0o640
    let shared = try Store.inMemory(options: options)
    try shared.copy(to: folder.file("shared"))
    #expect(mode(folder.file("shared")) == 0o640)
  }

  @Test func aStoreThatIsLetGoIsUnlocked() throws {
    let path = folder.file("store")
    do {
      let store = try Store.open(at: path)
      try store.put("a", "1")
    }
    #expect(try Store.open(at: path).value("a") == "1")
  }

  @Test func anotherDescriptionsLockIsRespectedAndItsHolderNamed() throws {
    let path = folder.file("store")
    try Store.open(at: path).close()
    // A lock of another file description conflicts as another process's lock would.
    let other = try PosixFile.open(path: path, isReadOnly: false, createsIfMissing: false)
    try FileLock.acquire(other, path: path, isExclusive: true)
    do {
      _ = try Store.open(at: path)
      Issue.record("the lock was ignored")
    } catch {
      #expect(error.code == .storeInUse)
      #expect(error.message.contains("process \(getpid())"))
    }
    other.close()
    try Store.open(at: path).close()
  }

  @Test func aStoreNamesTheProcessesThatHaveItOpen() throws {
    let store = try Store.open(at: folder.file("store"))
    let own = try #require(try store.processes().first { $0.id == getpid() })
    #expect(!own.command.isEmpty)
    try store.close()
    #expect(code { _ = try store.processes() } == .closed)
    #expect(try Store.inMemory().processes() == [])
  }

  @Test func readersShareAndKeepWritersOut() throws {
    let path = folder.file("store")
    try Store.open(at: path).close()
    let other = try PosixFile.open(path: path, isReadOnly: true, createsIfMissing: false)
    try FileLock.acquire(other, path: path, isExclusive: false)
    #expect(code { _ = try Store.open(at: path) } == .storeInUse)
    var options = StoreOptions()
    options.isReadOnly = true
    try Store.open(at: path, options: options).close()
    other.close()
  }

  @Test func aLineOfTheProcessTableNamesTheLock() {
    let line = "lock:\t1: OFDLCK  ADVISORY  WRITE -1 fe:00:1234 4611686018427387904 4611686018427387904"
    #expect(FileLock.holdsLock("pos:\t0\n\(line)\n", inode: 1_234))
    #expect(!FileLock.holdsLock("pos:\t0\n\(line)\n", inode: 234))
    #expect(!FileLock.holdsLock("pos:\t0\nflags:\t02\n", inode: 1_234))
  }

  @Test func aMissingFileIsAnErrorUnlessItMayBeMade() throws {
    var options = StoreOptions()
    options.createsIfMissing = false
    do {
      _ = try Store.open(at: folder.file("none"), options: options)
      Issue.record("a store was made")
    } catch {
      #expect(error.code == .inputOutput)
      #expect(error.systemError == .init(call: "open", errno: ENOENT))
    }
    #expect(code { _ = try Store.open(at: "/nowhere/at/all") } == .inputOutput)
  }

  @Test func aMissingFolderIsNamed() throws {
    func message(_ path: String, _ options: StoreOptions) throws -> String {
      let thrown = #expect(throws: StoreError.self) { try Store.open(at: path, options: options) }
      let error = try #require(thrown)
      #expect(error.code == .inputOutput && error.context.path == path)
      #expect(error.systemError == .init(call: "open", errno: ENOENT))
      return error.message
    }
    let missing = folder.file("missing")
    #expect(symlink(missing + "/target", folder.file("link")) == 0)
    for options in [StoreOptions(), .reading] {
      for path in [missing + "/store", folder.file("link")] {
        #expect(try message(path, options).hasSuffix("the folder \(missing) is missing"))
      }
    }
    #expect(try !message(folder.file("store"), .reading).contains("folder"))
  }

  /// Root may write any file, so the system's error is made here.
  @Test func aFileThatMayNotBeWrittenCanBeRead() throws {
    let path = folder.file("store")
    let refused = StoreError.system("open", EACCES).adding { $0.path = path }
    #expect(refused.explained(forOpening: path, StoreOptions()).message == refused.message)
    try Store.open(at: path).close()
    let error = refused.explained(forOpening: path, StoreOptions())
    #expect(error.message.hasPrefix(refused.message) && error.message.contains("StoreOptions.isReadOnly"))
    #expect(error.code == .inputOutput && error.context.path == path)
    #expect(error.systemError == refused.systemError)
    #expect(refused.explained(forOpening: path, .reading).message == refused.message)
  }

  @Test func anOptionOutOfItsLimitsIsRefused() {
    var options = StoreOptions()
    options.pageSize = 5_000
    #expect(code { _ = try Store.inMemory(options: options) } == .invalidOptions)
  }

  @Test func aNewerFormatOrAnUnknownFeatureIsRefused() throws {
    let file = MemoryFile()
    let options = StoreOptions()
    try Store.open(file: file, path: "", options: options, environment: .system).close()
    func reopen(isReadOnly: Bool = false, _ change: (inout FormatIdentity) -> Void) throws {
      let old = try #require(
        file.bytes.withUnsafeBytes {
          FormatIdentity(block: UnsafeRawBufferPointer(rebasing: $0[..<512]), kind: .header)
        }
      )
      var identity = old
      change(&identity)
      var image = file.bytes
      image.replaceSubrange(0..<512, with: FileHeader.encoded(identity, created: 0))
      var options = options
      options.isReadOnly = isReadOnly
      // Anchors and extents carry the features too.
      for offset in stride(from: 512, to: image.count - 511, by: 512) {
        let sector = Array(image[offset..<offset + 512])
        for kind in FormatIdentity.BlockKind.allCases {
          let isOne = sector.withUnsafeBytes { FormatIdentity(block: $0, kind: kind) == old }
          guard isOne else { continue }
          let block = identity.block(kind) { target in
            sector.withUnsafeBytes {
              UnsafeMutableRawBufferPointer(rebasing: target[64..<504]).copyMemory(
                from: .init(rebasing: $0[64..<504])
              )
            }
          }
          image.replaceSubrange(offset..<offset + 512, with: block)
        }
      }
      _ = try Store.open(file: MemoryFile(image), path: "", options: options, environment: .system)
    }
    #expect(code { try reopen { $0.version = FormatIdentity.currentVersion + 1 } } == .unsupportedFormat)
    #expect(code { try reopen { $0.version = FormatIdentity.currentVersion - 1 } } == .unsupportedFormat)
    #expect(code { try reopen { $0.incompatibleFeatures = 4 } } == .unsupportedFormat)
    #expect(code { try reopen { $0.readOnlyCompatibleFeatures = 1 } } == .unsupportedFormat)
    #expect(code { try reopen(isReadOnly: true) { $0.readOnlyCompatibleFeatures = 1 } } == nil)
    #expect(code { try reopen { $0.compatibleFeatures = 1 } } == nil)
    #expect(code { try reopen { _ in } } == nil)
  }
}
