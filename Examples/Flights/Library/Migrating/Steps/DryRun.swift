import Cambium
import Foundation

/// Shows the effects that opening the store with the plan will have, and that nothing is written.
struct DryRun {
  var store: String
  var plan: MigrationPlan

  /// - Returns: the effects that the custom stage will have.
  func run() throws -> [MigrationEffect] {
    Terminal.section("3. A dry run")
    print(
      "plan.forecasts(at: url): all stages, the code of the custom one included, on a copy in the folder of"
    )
    print("temporary files.\n")
    let before = try FileFingerprint(store)
    let forecasts = try plan.forecasts(at: URL(fileURLWithPath: store))
    for forecast in forecasts { Terminal.indented(Terminal.dim("\(forecast)")) }
    try before.checkUnchanged(store)
    print("\n    the file before   \(before)")
    print("    the file after    the same")
    return forecasts.flatMap(\.effects)
  }
}
