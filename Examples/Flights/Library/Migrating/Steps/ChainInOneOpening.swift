import Cambium
import Foundation

/// Brings the store from the first version to the newest by opening it, with a progress bar.
struct ChainInOneOpening {
  var store: String
  var plan: MigrationPlan
  /// The effects that the dry run predicted.
  var expectedEffects: [MigrationEffect]

  func run() async throws {
    Terminal.section("5. From 1 to 4 in one opening")
    let clock = ContinuousClock()
    let start = clock.now
    let monitor = MigrationMonitor()
    let container = try await PersistentContainer.flights(at: store, plan, monitor)
    let time = clock.now - start
    guard monitor.effects == expectedEffects else {
      throw DataError(path: store, message: "the dry run foretold other changes than \(monitor.effects)")
    }
    print(
      "PersistentContainer(\"Flights\", plan: plan, at: url, monitor: monitor), in \(Terminal.duration(time)).\n"
    )
    for effect in monitor.effects { print("    \(effect)") }
    print("    as the dry run foretold\n")
    try await showIndex(of: container)
    try await container.close()
  }

  /// The new index has the values that had another name in version 1.
  private func showIndex(of container: PersistentContainer) async throws {
    let (plan, count) = try await container.performBackgroundTask { context in
      let late = From<FlightsV4.Flight>().where { $0.arrivalDelay > 120 }
      return (try context.explain(late), try context.count(late))
    }
    print("    .where { $0.arrivalDelay > 120 }")
    Terminal.indented(Terminal.dim("\(plan)"))
    print("    → \(Terminal.number(count)) flights")
  }
}

extension PersistentContainer {
  /// Opens the store of flights with a plan, and shows a bar as long as its schema changes.
  static func flights(
    at path: String,
    _ plan: MigrationPlan,
    _ monitor: MigrationMonitor = MigrationMonitor()
  ) async throws -> PersistentContainer {
    let bar = ProgressBar("Migrating")
    let watching = Task {
      for await update in monitor.updates() { bar.show(update.fractionCompleted) }
      bar.clear()
    }
    let container = try await PersistentContainer(
      "Flights",
      plan: plan,
      at: URL(fileURLWithPath: path),
      monitor: monitor
    )
    await watching.value
    return container
  }
}
