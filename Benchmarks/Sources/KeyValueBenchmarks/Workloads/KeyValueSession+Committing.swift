import BenchmarkHarness

extension KeyValueSession {
  /// K4 and K4g: other records each round, the same for every peer of it.
  mutating func commit(_ entries: Entries, _ stores: [any KeyValuePeer]) async throws {
    let outputs = OutputLog()
    try await runner.run(try singleCommits(entries, stores, outputs))
    for committers in sizes.committers {
      try await runner.run(groupedCommits(entries, stores, committers, outputs))
    }
    if runner.wants("K4") || runner.wants("K4g") { try checkAgreement("K4", stores) }
    for entry in outputs.entries {
      note(entry.value, entry.workload, entry.title, of: entry.engine, unit: entry.unit)
    }
    if runner.wants("K4") { try countIndexedCommits(entries) }
  }

  private mutating func countIndexedCommits(_ entries: Entries) throws {
    guard peers.contains(where: { $0.name == Engines.own }) else { return }
    let folder = try folders.make()
    defer { folders.remove(folder) }
    let output = try IndexedCommits.measure(in: folder, entries)
    let title = IndexedCommits.title
    note(output.bytesLogged, "K4", "\(title), to the log", of: Engines.own, unit: OutputLog.ownBytes)
    note(output.syncs, "K4", "\(title), to the log", of: Engines.own, unit: OutputLog.ownSyncs)
    note(output.bytesWritten, "K4", "\(title), in all", of: Engines.own, unit: OutputLog.ownBytes)
    note(output.syncs, "K4", "\(title), in all", of: Engines.own, unit: OutputLog.ownSyncs)
  }

  /// The raw synced write takes part in every round, so that it meets the same disk.
  private func singleCommits(
    _ entries: Entries,
    _ stores: [any KeyValuePeer],
    _ outputs: OutputLog
  ) throws -> Workload {
    let commits = sizes.commits
    let title = "one durable put a commit"
    var workload = workload("K4", title, stores, operations: commits, unit: "each") { store, round in
      let change = Self.change(entries, round: round, shift: 0, count: commits)
      return try await outputs.counting(store, "K4", title, commits: commits) {
        try await measured {
          try store.putEach(entries, change)
          return Checksum()
        }
      }
    }
    // The rounds are short, and many: other work of the disk changes from one moment to the next.
    workload.rounds = 15 * sizes.rounds
    let floor = try SyncedWrite(in: folders.root)
    workload.contenders.append(
      Workload.Contender(peer: Floor.name) { _ in
        try await measured {
          try floor.run(count: commits)
          return Checksum()
        }
      }
    )
    return workload
  }

  private func groupedCommits(
    _ entries: Entries,
    _ stores: [any KeyValuePeer],
    _ committers: Int,
    _ outputs: OutputLog
  ) -> Workload {
    let commits = sizes.groupedCommits
    let title = "durable puts, \(committers) \(committers == 1 ? "thread" : "threads") at once"
    return workload("K4g", title, stores, operations: commits, unit: "each") { store, round in
      let change = Self.change(entries, round: round, shift: committers, count: commits)
      let share = commits / committers
      return try await outputs.counting(store, "K4g", title, commits: commits) {
        let time = try Threads.measure(committers) { index in
          let start = change.order.startIndex + index * share
          let own = Change(order: change.order[start..<start + share], shift: change.shift)
          try store.putEach(entries, own)
        }
        return Run(time: time, checksum: 0)
      }
    }
  }

  /// As many records as asked for, with other values each round and for each `shift` below a hundred.
  private static func change(_ entries: Entries, round: Int, shift: Int, count: Int) -> Change {
    let start = round % (entries.count / count) * count
    return Change(order: entries.readOrder[start..<start + count], shift: (round + 1) * 100 + shift)
  }
}

/// Counts the writes of stores while a body runs.
final class OutputLog {
  /// The units of the counts.
  static let kernelBytes = "bytes"
  static let ownBytes = "bytes, as the store counts"
  static let ownSyncs = "syncs"

  struct Entry {
    var workload: String
    var title: String
    var engine: String
    var unit: String
    var value: Double
  }

  private(set) var entries: [Entry] = []

  /// Runs the body and notes bytes and syncs for each commit: bytes by the kernel's count of this process's writes,
  /// syncs by the store's count.
  func counting(
    _ store: any KeyValuePeer,
    _ workload: String,
    _ title: String,
    commits: Int,
    _ body: () async throws -> Run
  ) async throws -> Run {
    let before = (kernel: ProcessOutput.byteCount, store: try store.output())
    let run = try await body()
    let after = (kernel: ProcessOutput.byteCount, store: try store.output())
    func note(_ count: Int, unit: String) {
      let value = Double(count) / Double(commits)
      entries.append(
        Entry(workload: workload, title: title, engine: type(of: store).name, unit: unit, value: value)
      )
    }
    if let start = before.kernel, let end = after.kernel { note(end - start, unit: Self.kernelBytes) }
    if let start = before.store, let end = after.store {
      note(Int(end.bytesWritten - start.bytesWritten), unit: Self.ownBytes)
      note(Int(end.syncs - start.syncs), unit: Self.ownSyncs)
    }
    return run
  }
}
