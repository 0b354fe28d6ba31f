import BenchmarkHarness
import Cambium
import Foundation

/// The same queries of the same objects in three stores: by the schema with which they were stored, by a newer schema
/// while their records have the earlier layout, and by the newer schema in records of its own layout.
struct LayoutWorkloads {
  static let original = "earlier schema"
  static let translated = "newer schema, earlier layout"
  static let newest = "newer schema, newest layout"

  let objects: Int
  let rounds: Int

  private static let lookups = 100_000

  private static let ids = ["L1", "L2", "L3", "L4", "L5"]

  func run(_ runner: inout Runner, in folders: ScratchFolders) async throws {
    guard Self.ids.contains(where: runner.wants) else { return }
    let places = try (0..<3).map { _ in try folders.make() }
    for place in places.prefix(2) { try await Self.fillEarlier(place, objects) }
    let stores = Stores(
      original: try await LayoutStore(folder: places[0]),
      translated: try await LayoutStore(folder: places[1]),
      newest: try await LayoutStore(folder: places[2])
    )
    try await stores.newest.fill(objects)
    let lookups = min(objects, Self.lookups)
    try await run(&runner, "L1", "count by an attribute without index", stores) {
      try await $0.filter()
    } _: {
      try await $0.filter()
    }
    try await run(&runner, "L2", "sum of an attribute", stores) {
      try await $0.total()
    } _: {
      try await $0.total()
    }
    try await run(&runner, "L3", "group by an attribute: sum, count", stores) {
      try await $0.groups()
    } _: {
      try await $0.groups()
    }
    try await run(&runner, "L4", "fetch all, read two attributes", stores) {
      try await $0.everything()
    } _: {
      try await $0.everything()
    }
    try await run(&runner, "L5", "\(lookups) objects by their codes, two attributes read", stores) {
      try await $0.lookups(lookups, of: objects)
    } _: {
      try await $0.lookups(lookups, of: objects)
    }
  }

  private struct Stores {
    var original: LayoutStore<Earlier.Sample>
    var translated: LayoutStore<Newer.Sample>
    var newest: LayoutStore<Newer.Sample>
  }

  /// Fills a store by the earlier schema, and closes it.
  static func fillEarlier(_ folder: String, _ objects: Int) async throws {
    let store = try await LayoutStore<Earlier.Sample>(folder: folder)
    try await store.fill(objects)
    try await store.container.close()
  }

  private func run(
    _ runner: inout Runner,
    _ id: String,
    _ title: String,
    _ stores: Stores,
    _ earlier: @escaping (LayoutStore<Earlier.Sample>) async throws -> Checksum,
    _ newer: @escaping (LayoutStore<Newer.Sample>) async throws -> Checksum
  ) async throws {
    let contenders = [
      Workload.Contender(peer: Self.original) { _ in
        try await processorTime { try await earlier(stores.original) }
      },
      Workload.Contender(peer: Self.translated) { _ in
        try await processorTime { try await newer(stores.translated) }
      },
      Workload.Contender(peer: Self.newest) { _ in
        try await processorTime { try await newer(stores.newest) }
      },
    ]
    try await runner.run(Workload(id: id, title: title, rounds: rounds, contenders: contenders))
  }
}
