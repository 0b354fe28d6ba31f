import BenchmarkHarness

extension KeyValueSession {
  private static let ids = ["K1", "K1t", "K1s", "K2", "K2s", "K4", "K4g", "K6", "K7"]

  /// Runs K1, K2, K6, then K4, K4g, the same as K1 and K2 with a small cache, and K7, on one store of each engine. The
  /// store is filled in random order, as in an application's life, closed, opened again and read once.
  mutating func readAndCommit(_ entries: Entries) async throws {
    guard Self.ids.contains(where: runner.wants) else { return }
    let places = try peers.map { _ in try folders.make() }
    let stores = try zip(peers, places).map { peer, folder in
      let store = try peer.init(folder: folder, isNew: true)
      try store.load(entries, order: Array(0..<entries.count), isSorted: false)
      try store.close()
      return try peer.init(folder: folder, isNew: false)
    }
    try checkAgreement("load", stores)
    try await read(entries, stores)
    try await commit(entries, stores)
    try stores.forEach { try $0.close() }
    try await readWithSmallCache(entries, places)
    try await open(entries, places)
    places.forEach(folders.remove)
  }

  /// K1s and K2s: random gets and a scan where a tenth of the data fits into the cache. The rest comes from the file
  /// system's cache, which has all of it.
  private mutating func readWithSmallCache(_ entries: Entries, _ places: [String]) async throws {
    guard ["K1s", "K2s"].contains(where: runner.wants) else { return }
    let cacheBytes = max(1 << 20, entries.count * 116 / 10)
    let stores = try zip(peers, places).map { peer, folder in
      try peer.init(folder: folder, isNew: false, cacheBytes: cacheBytes)
    }
    let order = entries.readOrder[..<(entries.count / 5)]
    try await runner.run(
      workload("K1s", "random get, a tenth in the cache", stores, operations: order.count, unit: "each") {
        store,
        _ in
        try await measured { try store.get(entries, order: order) }
      }
    )
    try await runner.run(
      workload("K2s", "full ordered scan, a tenth in the cache", stores) { store, _ in
        try await measured { try store.scan() }
      }
    )
    try stores.forEach { try $0.close() }
  }

  private mutating func read(_ entries: Entries, _ stores: [any KeyValuePeer]) async throws {
    let count = entries.count
    try await runner.run(
      workload("K1", "random get", stores, operations: count, unit: "each") { store, _ in
        try await measured { try store.get(entries, order: entries.readOrder[...]) }
      }
    )
    try await runner.run(
      workload("K1t", "random get, two threads", stores, operations: count, unit: "each") { store, _ in
        let halves = [entries.readOrder[..<(count / 2)], entries.readOrder[(count / 2)...]]
        let sums = LockedSums(count: halves.count)
        let time = try Threads.measure(halves.count) { index in
          sums.set(index, try store.get(entries, order: halves[index]))
        }
        return Run(time: time, checksum: sums.value)
      }
    )
    try await runner.run(
      workload("K2", "full ordered scan, keys and values", stores) { store, _ in
        try await measured { try store.scan() }
      }
    )
    let sorted = entries.sortedOrder
    let ranges = (0..<sizes.counts).map { number in
      let first = count / 2 / sizes.counts * number
      return (lower: entries.key(sorted[first]), upper: entries.key(sorted[first + count / 2]))
    }
    try await runner.run(
      workload("K6", "count a range of half", stores, operations: ranges.count, unit: "each") { store, _ in
        try await measured {
          var sum = Checksum()
          for range in ranges { sum.add(try store.count(from: range.lower, to: range.upper)) }
          return sum
        }
      }
    )
  }
}
