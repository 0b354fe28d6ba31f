import BenchmarkHarness

/// O1, O2, O3, O5 and O9 of the performance goals.
struct ObjectWorkloads {
  var persons: Int
  var cities: Int
  var fetches: Int
  var commits: Int
  var rounds: Int
  var folders: ScratchFolders

  private static let peers: [any ObjectPeer.Type] = [
    CambiumObjectPeer.self, GRDBFastPeer.self, GRDBCodablePeer.self,
  ]
  static let ids: Set<String> = ["O1", "O2", "O3", "O5", "O9"]
  /// Ages on which the workloads agree.
  private static let someAges = 30...34
  private static let allAges = 0...200

  func run(_ runner: inout Runner) async throws {
    guard Self.ids.contains(where: runner.wants) else { return }
    let people = People(persons: persons, cities: cities, seed: 2)
    try await runner.run(inserting(people))

    var stores: [any ObjectPeer] = []
    for peer in Self.peers {
      stores.append(try await peer.init(folder: folders.make()))
      try await stores[stores.count - 1].insert(people)
    }
    try await runner.run(
      workload("O2", "fetch by unique email, all attributes", stores, operations: fetches, unit: "each") {
        store,
        _ in
        try await store.fetchByEmail(people, people.order.prefix(fetches))
      }
    )
    try await runner.run(
      workload("O3", "indexed age 30…34, all attributes", stores) { store, _ in
        try await store.fetchByAge(Self.someAges)
      }
    )
    try await runner.run(
      workload("O5", "count(age ≥ 40)", stores, operations: 20, unit: "each") { store, _ in
        try await store.count(ageAtLeast: Array(repeating: 40, count: 20))
      }
    )
    try await runner.run(
      workload("O9", "one object changed and saved durably", stores, operations: commits, unit: "each") {
        store,
        round in
        let start = round % (persons / commits) * commits
        try await store.changeEach(people, people.order[start..<start + commits])
        return Checksum()
      }
    )
    var sums: [(peer: String, sum: UInt64)] = []
    for store in stores {
      sums.append((type(of: store).name, try await store.fetchByAge(Self.allAges).value))
    }
    guard Set(sums.map(\.sum)).count == 1 else { throw ChecksumMismatch(workload: "O9", sums: sums) }
  }

  private func inserting(_ people: People) -> Workload {
    Workload(
      id: "O1",
      title: "insert all, one transaction",
      rounds: max(1, rounds / 2),
      contenders: Self.peers.map { peer in
        Workload.Contender(peer: peer.name) { _ in
          let folder = try folders.make()
          defer { folders.remove(folder) }
          let store = try await peer.init(folder: folder)
          let run = try await measured {
            try await store.insert(people)
            return Checksum()
          }
          return Run(time: run.time, checksum: try await store.fetchByAge(Self.allAges).value)
        }
      }
    )
  }

  private func workload(
    _ id: String,
    _ title: String,
    _ stores: [any ObjectPeer],
    operations: Int = 1,
    unit: String = "",
    _ body: @escaping (any ObjectPeer, Int) async throws -> Checksum
  ) -> Workload {
    Workload(
      id: id,
      title: title,
      operations: operations,
      unit: unit,
      rounds: rounds,
      contenders: stores.map { store in
        Workload.Contender(peer: type(of: store).name) { round in
          try await measured { try await body(store, round) }
        }
      }
    )
  }
}
