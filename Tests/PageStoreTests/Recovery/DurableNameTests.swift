import Glibc
import Synchronization
@_spi(Testing) import TestSupport
import Testing

@_spi(Testing) @testable import PageStore

/// A power failure may remove the name of a file whose folder was never synced. So every process that opens the store
/// for writing syncs the folder before its first commit is acknowledged, however often others have begun and ended
/// before.
struct DurableNameTests {
  /// The name of a simulated disk's file.
  private final class Name: Sendable {
    private let durable: Mutex<Bool>
    private let refuses = Atomic(false)

    init(isDurable: Bool) { durable = Mutex(isDurable) }

    var isDurable: Bool { durable.withLock { $0 } }

    func refuseSync(_ isRefused: Bool) { refuses.store(isRefused, ordering: .relaxed) }

    func synchronize() throws(StoreError) {
      if refuses.load(ordering: .relaxed) { throw .system("fsync", EIO) }
      durable.withLock { $0 = true }
    }
  }

  /// A process that has ended, as the next one finds its file.
  private struct Ended {
    var disk: SimulatedDisk
    var isNameDurable: Bool
  }

  private func open(
    _ disk: SimulatedDisk,
    _ name: Name,
    isReadOnly: Bool = false,
    beforeSync: @escaping @Sendable () -> Void = {}
  ) throws -> Store {
    let fixture = StoreFixture(disk)
    var (options, environment) = (fixture.options, fixture.environment)
    options.isReadOnly = isReadOnly
    environment.synchronizeFolder = { () throws(StoreError) in
      beforeSync()
      try name.synchronize()
    }
    return try Store.open(file: disk, path: "test", options: options, environment: environment)
  }

  /// Opens, commits and closes, and returns the states found if the process ends at any moment meanwhile. Each
  /// acknowledged commit has a file that a power failure doesn't remove.
  private func session(_ start: Ended) throws -> [Ended] {
    let moments = Mutex<[Ended]>([])
    let (disk, name) = (start.disk, Name(isDurable: start.isNameDurable))
    let note: @Sendable () -> Void = {
      moments.withLock { $0.append(Ended(disk: disk.afterProcessDeath(), isNameDurable: name.isDurable)) }
    }
    disk.observe { _, _ in note() }
    let store = try open(disk, name, beforeSync: note)
    for durability in [Durability.relaxed, .full] {
      try store.put("a", "1", durability: durability)
      #expect(name.isDurable)
    }
    try store.close()
    #expect(name.isDurable)
    note()
    disk.observe(nil)
    return moments.withLock { $0 }
  }

  @Test func isMadeSoBeforeTheFirstAcknowledgement() throws {
    let created = try session(Ended(disk: SimulatedDisk(), isNameDurable: false))
    #expect(created.contains { !$0.isNameDurable } && created.contains { $0.isNameDurable })
    for first in created {
      // A second process opens the state that the first one left, and ends at any moment; then a third does the same.
      let left = Ended(disk: first.disk.afterProcessDeath(), isNameDurable: first.isNameDurable)
      for (index, second) in try session(left).enumerated() where index % 4 == 0 { _ = try session(second) }
    }
  }

  @Test func isMadeSoAfterOthersHaveOnlyRead() throws {
    for ended in try session(Ended(disk: SimulatedDisk(), isNameDurable: false)) {
      let name = Name(isDurable: ended.isNameDurable)
      if let reader = try? open(ended.disk, name, isReadOnly: true) { try reader.close() }
      #expect(name.isDurable == ended.isNameDurable)
      _ = try session(Ended(disk: ended.disk, isNameDurable: name.isDurable))
    }
  }

  @Test func nothingIsAcknowledgedUntilItIs() throws {
    let (disk, name) = (SimulatedDisk(), Name(isDurable: false))
    name.refuseSync(true)
    for _ in 0..<3 { #expect(code { _ = try open(disk, name) } == .inputOutput) }
    name.refuseSync(false)
    let store = try open(disk, name)
    #expect(name.isDurable)
    try store.put("a", "1")
    try store.close()
  }

  @Test func throughALinkItIsTheNameOfTheFileItself() throws {
    let folder = try TemporaryFolder()
    #expect(mkdir(folder.file("there"), 0o700) == 0)
    let target = folder.file("there/store")
    // A link whose own folder can't be synced: the system refuses that for /proc.
    let empty = try PosixFile.open(path: target, isReadOnly: false, createsIfMissing: true)
    let link = "/proc/self/fd/\(empty.descriptor)"
    #expect(code { try PosixFile.synchronizeFolder(of: link) } == .inputOutput)
    let store = try Store.open(at: link)
    try store.put("a", "1")
    try store.close()
    empty.close()
    #expect(try Store.open(at: target).value("a") == "1")
  }

  @Test func aLinkThatLeadsToNoFileYetMakesOne() throws {
    let folder = try TemporaryFolder()
    #expect(mkdir(folder.file("there"), 0o700) == 0)
    let (target, link) = (folder.file("there/store"), folder.file("link"))
    #expect(symlink("there/store", link) == 0)
    let store = try Store.open(at: link)
    try store.put("a", "1")
    try store.close()
    #expect(try Store.open(at: target).value("a") == "1")
  }
}
