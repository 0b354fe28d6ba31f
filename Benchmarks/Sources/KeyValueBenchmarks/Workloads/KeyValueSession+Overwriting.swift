import BenchmarkHarness

extension KeyValueSession {
  /// K5 and, with it, K8: each round begins with a store that was filled in random order.
  mutating func overwrite(_ entries: Entries) async throws {
    let stored = StoredLog()
    try await runner.run(overwriting(entries, stored))
    for entry in stored.entries {
      note(entry.value, "K8", entry.title, of: entry.engine, unit: "bytes")
    }
  }

  private func overwriting(_ entries: Entries, _ stored: StoredLog) -> Workload {
    Workload(
      id: "K5",
      title: "\(sizes.overwrites) random overwrites in \(sizes.overwriteCommits) durable commits",
      rounds: (sizes.rounds + 1) / 2,
      contenders: peers.map { peer in
        Workload.Contender(peer: peer.name) { [folders] round in
          let folder = try folders.make()
          defer { folders.remove(folder) }
          try fill(peer, folder, entries)
          stored.note(try StoredBytes(of: folder), "after random load", of: peer.name)
          let run = try overwriteAll(peer, folder, entries, round: round)
          stored.note(try StoredBytes(of: folder), "after the overwrites", of: peer.name)
          return run
        }
      }
    )
  }

  private func fill(_ peer: any KeyValuePeer.Type, _ folder: String, _ entries: Entries) throws {
    let store = try peer.init(folder: folder, isNew: true)
    try store.load(entries, order: Array(0..<entries.count), isSorted: false)
    try store.close()
  }

  /// Reads everything once, so that the store is in memory, then times the overwrites.
  private func overwriteAll(
    _ peer: any KeyValuePeer.Type,
    _ folder: String,
    _ entries: Entries,
    round: Int
  ) throws -> Run {
    let store = try peer.init(folder: folder, isNew: false)
    _ = try store.scan()
    let share = sizes.overwrites / sizes.overwriteCommits
    let clock = ContinuousClock()
    let start = clock.now
    for commit in 0..<sizes.overwriteCommits {
      let order = entries.readOrder[commit * share..<(commit + 1) * share]
      try store.put(entries, Change(order: order, shift: round + 1))
    }
    let time = clock.now - start
    let sum = try store.scan().value
    try store.close()
    return Run(time: time, checksum: sum)
  }
}

/// The sizes of stores, in the order of measurement.
final class StoredLog {
  private(set) var entries: [(title: String, engine: String, value: Double)] = []

  func note(_ bytes: StoredBytes, _ when: String, of engine: String) {
    entries.append((title: "\(when), allocated", engine: engine, value: Double(bytes.allocated)))
    entries.append((title: "\(when), apparent", engine: engine, value: Double(bytes.apparent)))
  }
}
