import BenchmarkHarness

/// O3 to O7 and O11 of the performance goals, and P1 to P3: the cost of making a plan.
struct QueryWorkloads {
  var setup: ObjectStores.Setup

  private var sizes: Sizes { setup.sizes }

  private static let ids = ["O3", "O4", "O5", "O6a", "O6b", "O7", "O11", "P1", "P2", "P3"]

  /// - Returns: for each of P1 to P3, the number of memory allocations of one operation.
  func run(_ runner: inout Runner) async throws -> [String: Double] {
    guard Self.ids.contains(where: runner.wants) else { return [:] }
    let people = People(persons: sizes.persons, cities: sizes.cities, seed: 2)
    let stores = try await ObjectStores(of: people, setup)
    for workload in conditions(stores) + pages(stores) + cities(stores) { try await runner.run(workload) }
    var allocations: [String: Double] = [:]
    for plan in plans where runner.wants(plan.id) {
      try await runner.run(stores.workloadOfCambium(plan.id, plan.title, operations: sizes.plans, plan.run))
      allocations[plan.id] = try await stores.allocations(ofEach: sizes.plans, plan.run)
    }
    return allocations
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

  /// An operation that Cambium does ``Sizes/plans`` times in a round.
  private struct Planning {
    var id: String
    var title: String
    var run: (CambiumObjectPeer) async throws -> Checksum
  }

  private var plans: [Planning] {
    let count = sizes.plans
    return [
      Planning(id: "P1", title: "tree of age ≥ a && age < b, from a closure") { $0.makeTrees(count) },
      Planning(id: "P2", title: "the same, names found, planned and counted") {
        try await $0.countRanges(count)
      },
      Planning(id: "P3", title: "age ≥ a && score > b, planned and explained") {
        try await $0.explainFilters(count)
      },
    ]
  }
}
