import BenchmarkHarness

/// One run of the key-value workloads K1 to K9. The stages are in the files beside this one.
struct KeyValueSession {
  let peers: [any KeyValuePeer.Type]
  let sizes: Sizes
  let folders: ScratchFolders
  var runner: Runner
  /// The figures that were counted rather than timed.
  var measures: [Measure] = []

  /// A figure of one engine that isn't a time.
  struct Measure: Codable {
    var workload: String
    var title: String
    var engine: String
    var unit: String
    /// One for each round.
    var values: [Double]

    var median: Double { Figures.median(values) }
  }

  mutating func run() async throws {
    let entries = Entries(count: sizes.entries, seed: 1)
    try await load(entries)
    try await readAndCommit(entries)
    try await overwrite(entries)
    try await recover(entries)
  }

  /// Adds a value to the measure of this name, or begins it.
  mutating func note(_ value: Double, _ workload: String, _ title: String, of engine: String, unit: String) {
    let place = measures.firstIndex {
      $0.workload == workload && $0.title == title && $0.engine == engine && $0.unit == unit
    }
    if let place {
      measures[place].values.append(value)
    } else {
      measures.append(
        Measure(workload: workload, title: title, engine: engine, unit: unit, values: [value])
      )
    }
  }

  /// A workload that all stores do in turn.
  func workload(
    _ id: String,
    _ title: String,
    _ stores: [any KeyValuePeer],
    operations: Int = 1,
    unit: String = "",
    _ body: @escaping (any KeyValuePeer, Int) async throws -> Run
  ) -> Workload {
    Workload(
      id: id,
      title: title,
      operations: operations,
      unit: unit,
      rounds: sizes.rounds,
      contenders: stores.map { store in
        Workload.Contender(peer: type(of: store).name) { round in try await body(store, round) }
      }
    )
  }

  /// After writes the peers still have to have the same data.
  func checkAgreement(_ id: String, _ stores: [any KeyValuePeer]) throws {
    let sums = try stores.map { (peer: type(of: $0).name, sum: try $0.scan().value) }
    guard Set(sums.map(\.sum)).count <= 1 else { throw ChecksumMismatch(workload: id, sums: sums) }
  }
}
