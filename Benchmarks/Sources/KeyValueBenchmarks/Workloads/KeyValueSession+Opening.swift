import BenchmarkHarness

extension KeyValueSession {
  /// K7: each opening is a process of its own. The file system's cache is warm.
  mutating func open(_ entries: Entries, _ places: [String]) async throws {
    try await runner.run(opening(entries, places))
  }

  private func opening(_ entries: Entries, _ places: [String]) -> Workload {
    Workload(
      id: "K7",
      title: "open and first get, new process",
      rounds: sizes.openings,
      contenders: zip(peers, places).map { peer, folder in
        Workload.Contender(peer: peer.name) { round in
          let key = entries.key(entries.readOrder[round])
          let result: FirstGet = try ChildProcess.output([
            "first-get", "--engine", peer.name, "--folder", folder, "--key", FirstGet.text(key),
          ])
          return Run(time: .seconds(result.seconds), checksum: result.checksum)
        }
      }
    )
  }
}
