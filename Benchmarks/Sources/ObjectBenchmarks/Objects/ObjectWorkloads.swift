import BenchmarkHarness

/// O1, O2, O8, O9 and O12 of the performance goals: objects that are inserted, found by a key and changed, and the size
/// of their files.
struct ObjectWorkloads {
  var setup: ObjectStores.Setup

  private var sizes: Sizes { setup.sizes }

  private static let ids = ["O1", "O2", "O9", "O12"] + MassWorkload.all.map(\.id)

  /// Returns the sizes of the files.
  func run(_ runner: inout Runner) async throws -> [ObjectReport.FileSizes] {
    guard Self.ids.contains(where: runner.wants) else { return [] }
    let people = People(persons: sizes.persons, cities: sizes.cities, seed: 2)
    try await runner.run(inserting(people))
    let stores = try await ObjectStores(of: people, setup)
    let loaded = try stores.fileBytes()
    let (fetches, commits) = (sizes.fetches, sizes.commits)
    try await runner.run(
      stores.workload("O2", "fetch by unique email, all attributes", operations: fetches, unit: "each") {
        store,
        _ in
        try await store.fetchByEmail(people, people.order.prefix(fetches))
      }
    )
    try await runner.run(
      stores.workload("O9", "one object changed and saved durably", operations: commits, unit: "each") {
        store,
        round in
        let start = round % (people.order.count / commits) * commits
        try await store.changeEach(people, people.order[start..<start + commits])
        return Checksum()
      }
    )
    try await stores.compare(after: "O9")
    let changed = try stores.fileBytes()
    for mass in MassWorkload.all {
      try await runner.run(mass.isDeletion ? deleting(people, mass) : changing(stores, mass))
    }
    return setup.peers.indices.map {
      ObjectReport.FileSizes(peer: setup.peers[$0].name, loadedBytes: loaded[$0], changedBytes: changed[$0])
    }
  }

  /// All persons are changed, and changed back in the next round.
  private func changing(_ stores: ObjectStores, _ mass: MassWorkload) -> Workload {
    stores.workload(mass.id, mass.title) { store, round in
      try await store.changeAll(mass.change(round), mass.way)
      return Checksum()
    }
  }

  private func deleting(_ people: People, _ mass: MassWorkload) -> Workload {
    Workload(
      id: mass.id,
      title: mass.title,
      rounds: max(1, sizes.rounds / 2),
      contenders: setup.peers.map { peer in
        Workload.Contender(peer: peer.name) { _ in
          let folder = try setup.folders.make()
          defer { setup.folders.remove(folder) }
          let store = try await peer.init(folder: folder)
          try await store.insert(people)
          let run = try await measured {
            try await store.changeAll(mass.change(0), mass.way)
            return Checksum()
          }
          return Run(time: run.time, checksum: try await store.count(ageAtLeast: [0]).value)
        }
      }
    )
  }

  private func inserting(_ people: People) -> Workload {
    Workload(
      id: "O1",
      title: "insert all, one transaction",
      rounds: max(1, sizes.rounds / 2),
      contenders: setup.peers.map { peer in
        Workload.Contender(peer: peer.name) { _ in
          let folder = try setup.folders.make()
          defer { setup.folders.remove(folder) }
          let store = try await peer.init(folder: folder)
          let run = try await measured {
            try await store.insert(people)
            return Checksum()
          }
          return Run(time: run.time, checksum: try await store.fetchByAge(People.allAges).value)
        }
      }
    )
  }
}
