import Foundation

/// K1 to K6 of the performance goals.
struct KeyValueWorkloads {
  var count: Int
  var commits: Int
  var rounds: Int
  var folders: ScratchFolders

  private static let peers: [any KeyValuePeer.Type] = [
    CambiumKeyValuePeer.self, LMDBPeer.self, SQLitePeer.self,
  ]
  static let ids: Set<String> = ["K1", "K2", "K3a", "K3b", "K4", "K6"]

  func run(_ runner: inout Runner) async throws {
    guard Self.ids.contains(where: runner.wants) else { return }
    let entries = Entries(count: count, seed: 1)
    let everything = entries.sortedOrder
    try await runner.run(
      loading("K3a", "sorted bulk load, one transaction", entries, order: everything, isSorted: true)
    )
    let insertion = Array(0..<count)
    try await runner.run(
      loading("K3b", "random-order insert, one transaction", entries, order: insertion, isSorted: false)
    )

    // What is read was inserted in random order, as in an application's life.
    let stores = try Self.peers.map { peer in
      let store = try peer.init(folder: folders.make())
      try store.load(entries, order: insertion, isSorted: false)
      return store
    }
    try await runner.run(
      workload("K1", "random get", stores, operations: count, unit: "each") {
        try $0.get(entries, order: entries.readOrder)
      }
    )
    try await runner.run(workload("K2", "full ordered scan, keys and values", stores) { try $0.scan() })
    let lower = entries.key(everything[count / 4])
    let upper = entries.key(everything[count / 4 + count / 2])
    try await runner.run(
      workload("K6", "count a range of half", stores) {
        var sum = Checksum()
        sum.add(try $0.count(from: lower, to: upper))
        return sum
      }
    )
    var next = 0
    try await runner.run(
      workload("K4", "one durable put a commit", stores, operations: commits, unit: "each") {
        // Other keys each time, the same for every peer of a round: the values are those that are there already.
        let start = next / stores.count % (count / commits) * commits
        next += 1
        try $0.putEach(entries, order: entries.readOrder[start..<start + commits])
        return Checksum()
      }
    )
    // After the writes the peers still agree on everything.
    guard Set(try stores.map { try $0.scan().value }).count == 1 else {
      throw ChecksumMismatch(
        workload: "K4",
        sums: try stores.map { (type(of: $0).name, try $0.scan().value) }
      )
    }
  }

  /// A load makes a store of its own each round, and reads it back outside the measured time.
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
      rounds: rounds,
      contenders: Self.peers.map { peer in
        Workload.Contender(peer: peer.name) {
          let folder = try folders.make()
          defer { folders.remove(folder) }
          let store = try peer.init(folder: folder)
          let run = try await measured {
            try store.load(entries, order: order, isSorted: isSorted)
            return Checksum()
          }
          return Run(time: run.time, checksum: try store.scan().value)
        }
      }
    )
  }

  private func workload(
    _ id: String,
    _ title: String,
    _ stores: [any KeyValuePeer],
    operations: Int = 1,
    unit: String = "",
    _ body: @escaping (any KeyValuePeer) throws -> Checksum
  ) -> Workload {
    Workload(
      id: id,
      title: title,
      operations: operations,
      unit: unit,
      rounds: rounds,
      contenders: stores.map { store in
        Workload.Contender(peer: type(of: store).name) { try await measured { try body(store) } }
      }
    )
  }
}
