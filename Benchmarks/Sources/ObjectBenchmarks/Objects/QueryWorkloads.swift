import BenchmarkHarness

/// O3 to O7 and O11 of the performance goals, and P1 to P3: what it costs to make a plan.
struct QueryWorkloads {
  var sizes: Sizes
  var folders: ScratchFolders

  private static let ids = ["O3", "O4", "O5", "O6a", "O6b", "O7", "O11", "P1", "P2", "P3"]

  func run(_ runner: inout Runner) async throws {
    guard Self.ids.contains(where: runner.wants) else { return }
    let people = People(persons: sizes.persons, cities: sizes.cities, seed: 2)
    let stores = try await ObjectStores(of: people, rounds: sizes.rounds, in: folders)
    let workloads = conditions(stores) + pages(stores) + cities(stores) + plans(stores)
    for workload in workloads { try await runner.run(workload) }
  }

  private func conditions(_ stores: ObjectStores) -> [Workload] {
    let ages = Array(repeating: 40, count: sizes.queries)
    return [
      stores.workload("O3", "indexed age 30…34, all attributes") { store, _ in
        try await store.fetchByAge(30...34)
      },
      stores.workload("O4", "unindexed score > 0.99, all attributes") { store, _ in
        try await store.fetchByScore(above: 0.99)
      },
      stores.workload("O5", "count(age ≥ 40)", operations: ages.count, unit: "each") { store, _ in
        try await store.count(ageAtLeast: ages)
      },
    ]
  }

  private func pages(_ stores: ObjectStores) -> [Workload] {
    let middle = sizes.persons / 2
    return [("O6a", "order by age, first 50", 0), ("O6b", "order by age, 50 from offset \(middle)", middle)]
      .map {
        id,
        title,
        offset in
        let pages = Array(repeating: Page(offset: offset, limit: 50), count: sizes.queries)
        return stores.workload(id, title + ", all attributes", operations: pages.count, unit: "each") {
          store,
          _ in
          try await store.fetchPages(pages)
        }
      }
  }

  private func cities(_ stores: ObjectStores) -> [Workload] {
    [
      stores.workload("O7", "persons of each of \(sizes.cities) cities, sum of score") { store, _ in
        try await store.sumScores()
      },
      stores.workload("O11", "group by city: average score, count") { store, _ in
        try await store.averageScores()
      },
    ]
  }

  private func plans(_ stores: ObjectStores) -> [Workload] {
    let count = sizes.plans
    return [
      stores.workloadOfCambium("P1", "tree of age ≥ a && age < b, from a closure", operations: count) {
        store in
        store.makeTrees(count)
      },
      stores.workloadOfCambium("P2", "the same, names found, planned and counted", operations: count) {
        store in
        try await store.countRanges(count)
      },
      stores.workloadOfCambium("P3", "age ≥ a && score > b, planned and explained", operations: count) {
        store in
        try await store.explainFilters(count)
      },
    ]
  }
}
