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

  func run(_ runner: inout Runner) throws {
    guard Self.ids.contains(where: runner.wants) else { return }
    let people = People(persons: persons, cities: cities, seed: 2)
    try runner.run(inserting(people))

    let stores = try Self.peers.map { peer in
      let store = try peer.init(folder: folders.make())
      try store.insert(people)
      return store
    }
    try runner.run(
      workload("O2", "fetch by unique email, all attributes", stores, operations: fetches, unit: "each") {
        try $0.fetchByEmail(people, people.order.prefix(fetches))
      }
    )
    try runner.run(
      workload("O3", "indexed age 30…34, all attributes", stores) { try $0.fetchByAge(Self.someAges) }
    )
    try runner.run(
      workload("O5", "count(age ≥ 40)", stores) {
        var sum = Checksum()
        sum.add(try $0.count(ageAtLeast: 40))
        return sum
      }
    )
    var next = 0
    try runner.run(
      workload("O9", "one object changed and saved durably", stores, operations: commits, unit: "each") {
        let start = next / stores.count % (persons / commits) * commits
        next += 1
        try $0.changeEach(people, people.order[start..<start + commits])
        return Checksum()
      }
    )
    let sums = try stores.map { (type(of: $0).name, try $0.fetchByAge(Self.allAges).value) }
    guard Set(sums.map(\.1)).count == 1 else { throw ChecksumMismatch(workload: "O9", sums: sums) }
  }

  private func inserting(_ people: People) -> Workload {
    Workload(
      id: "O1",
      title: "insert all, one transaction",
      rounds: max(1, rounds / 2),
      contenders: Self.peers.map { peer in
        Workload.Contender(peer: peer.name) {
          let folder = try folders.make()
          defer { folders.remove(folder) }
          let store = try peer.init(folder: folder)
          let run = try measured {
            try store.insert(people)
            return Checksum()
          }
          return Run(time: run.time, checksum: try store.fetchByAge(Self.allAges).value)
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
    _ body: @escaping (any ObjectPeer) throws -> Checksum
  ) -> Workload {
    Workload(
      id: id,
      title: title,
      operations: operations,
      unit: unit,
      rounds: rounds,
      contenders: stores.map { store in
        Workload.Contender(peer: type(of: store).name) { try measured { try body(store) } }
      }
    )
  }
}
