import BenchmarkHarness
import Foundation
import PageStore

extension KeyValueSession {
  /// K9: opening a store after a crash. The crash is a copy of a store's file in the middle of its life. Cambium takes
  /// part alone: every engine leaves a different amount of work for this moment.
  mutating func recover(_ entries: Entries) async throws {
    guard runner.wants("K9"), peers.contains(where: { $0 == CambiumKeyValuePeer.self }) else { return }
    let crashed = try CrashedStore(entries, logByteCount: sizes.recoveredLogBytes, in: folders.make())
    try await runner.run(
      Workload(
        id: "K9",
        title:
          "open after a crash, \(sizes.recoveredLogBytes >> 20) MiB of log with \(crashed.count) random puts",
        rounds: sizes.rounds,
        contenders: [
          Workload.Contender(peer: CambiumKeyValuePeer.name) { [folders] _ in
            let folder = try folders.make()
            defer { folders.remove(folder) }
            return try crashed.open(in: folder)
          }
        ]
      )
    )
  }
}

/// A store's file as it was when a part of it was only in the log.
private struct CrashedStore {
  private let path: String
  private(set) var count = 0

  /// Commits a hundred records at a time until the log has so many bytes.
  init(_ entries: Entries, logByteCount: Int, in folder: String) throws {
    path = folder + "/crashed.cambium"
    var options = StoreOptions()
    options.durability = .relaxed
    // No checkpoint comes in between: the file is copied while the store is open.
    options.checkpointLogBytes = 1 << 30
    options.dirtyMemoryBytes = 2 << 30
    let store = try Store.open(at: folder + "/store.cambium", options: options)
    while try Int(store.statistics.bytesLogged) < logByteCount, count + 100 <= entries.count {
      try store.write { transaction in
        let tree = try transaction.tree("entry")
        for number in count..<count + 100 {
          try tree.put(entries.key(number), entries.withValue(number) { Array($0) })
        }
      }
      count += 100
    }
    try Self.copy(folder + "/store.cambium", to: path)
    try store.close()
  }

  /// Times the opening of a copy, which the file system has in memory.
  func open(in folder: String) throws -> Run {
    let copy = folder + "/store.cambium"
    try Self.copy(path, to: copy)
    let clock = ContinuousClock()
    let start = clock.now
    let store = try Store.open(at: copy)
    let time = clock.now - start
    guard try store.snapshot().tree("entry").count == count else {
      throw PeerError(peer: CambiumKeyValuePeer.name, message: "recovery lost records")
    }
    try store.close()
    return Run(time: time, checksum: UInt64(count))
  }

  /// Makes holes of the zeros in the file: room that is only set aside has no bytes on the disk, and recovery doesn't
  /// read it.
  private static func copy(_ path: String, to target: String) throws {
    let bytes = try Data(contentsOf: URL(fileURLWithPath: path), options: .alwaysMapped)
    guard FileManager.default.createFile(atPath: target, contents: nil) else {
      throw PeerError(peer: CambiumKeyValuePeer.name, message: "can't make \(target)")
    }
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: target))
    defer { try? file.close() }
    try file.truncate(atOffset: UInt64(bytes.count))
    for start in stride(from: 0, to: bytes.count, by: 4_096) {
      let block = bytes[start..<min(start + 4_096, bytes.count)]
      if block.allSatisfy({ $0 == 0 }) { continue }
      try file.seek(toOffset: UInt64(start))
      try file.write(contentsOf: block)
    }
  }
}
