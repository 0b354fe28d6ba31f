import Cambium
import Foundation

/// Takes a store through four versions of its schema, and prints each step.
struct MigrationWalk: Sendable {
  var data: FlightsFolder
  /// The folder in which the store is made.
  var store: String
  /// Rows of each file at most; nil for all.
  var rowLimit: Int?
  var planesInBatch = 200
  var interruption: Interruption = KilledMigration.run

  /// - Returns: the facts of the store in its newest version.
  @discardableResult
  func run() async throws -> FleetFacts {
    try await makeEarlyStore()
    showPlan()
    let effects = try DryRun(store: store, plan: plan).run()
    try await RefusedStep(store: store).run()
    let before = try FleetFacts(of: store, .version1)
    let copy = store + ".interrupted"
    try FileManager.default.removeStore(atPath: copy)
    try FileManager.default.copyItem(atPath: store, toPath: copy)
    defer { try? FileManager.default.removeItem(atPath: copy) }
    try await ChainInOneOpening(store: store, plan: plan, expectedEffects: effects).run()
    try await InterruptedChain(
      store: copy,
      planesInBatch: planesInBatch,
      planeCount: before.planeCount,
      interruption: interruption
    ).run()
    return try await NothingLost(before: before, stores: [store, copy]).run()
  }

  private var plan: MigrationPlan { FlightsPlan.splitting(inBatchesOf: planesInBatch) }

  private func makeEarlyStore() async throws {
    Terminal.section("1. A store of the first version")
    let url = URL(fileURLWithPath: store)
    let bar = ProgressBar("Importing")
    try await EarlyStore(folder: data, rowLimit: rowLimit).make(at: url, progress: bar.show)
    bar.clear()
    let metadata = try StoreMetadata(at: url)
    print("Made as the first version of the app did. The store keeps its version and its schema.\n")
    let names = metadata.entities.map(\.name).joined(separator: ", ")
    print("    version \(metadata.schemaVersion?.description ?? "–"): \(names)")
    print("    \(Terminal.bytes(Terminal.allocatedBytes(store))) in \(store)")
  }

  private func showPlan() {
    Terminal.section("2. The plan")
    print("Four versions. The first one is a number: no stage leads to it, so its classes can be deleted.")
    print(
      "The second and the third are described, without classes. The app works with those of the fourth.\n"
    )
    Terminal.indented("\(plan)")
    print("\nWith a stage from 1 to 3 the second version could be a number, too:\n")
    Terminal.indented(Terminal.dim("\(FlightsPlan.shorter(inBatchesOf: planesInBatch))"))
  }
}
