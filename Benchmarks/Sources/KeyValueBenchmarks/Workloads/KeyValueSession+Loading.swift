import BenchmarkHarness

extension KeyValueSession {
  /// K3a and K3b: each round makes stores of its own, and reads them back outside the measured time.
  mutating func load(_ entries: Entries) async throws {
    let random = Array(0..<entries.count)
    try await runner.run(
      loading("K3a", "sorted bulk load", entries, order: entries.sortedOrder, isSorted: true)
    )
    try await runner.run(
      loading("K3b", "random-order insert, one transaction", entries, order: random, isSorted: false)
    )
  }

  private func loading(
    _ id: String,
    _ title: String,
    _ entries: Entries,
    order: [Int],
    isSorted: Bool
  ) -> Workload {
    Workload(
      id: id,
      title: title,
      rounds: sizes.rounds,
      contenders: peers.map { peer in
        Workload.Contender(peer: peer.name) { [folders] _ in
          let folder = try folders.make()
          defer { folders.remove(folder) }
          let store = try peer.init(folder: folder, isNew: true)
          let run = try await measured {
            try store.load(entries, order: order, isSorted: isSorted)
            return Checksum()
          }
          let sum = try store.scan().value
          try store.close()
          return Run(time: run.time, checksum: sum)
        }
      }
    )
  }
}
