import Cambium
import Foundation

/// Opens the store with a draft of the third version, in which planes need a year and there is no default for those that have none.
struct RefusedStep {
  var store: String
  private static let shownOffenderCount = 4

  func run() async throws {
    Terminal.section("4. A step that is refused")
    print("A draft of version 3 had no default for planes without a year.\n")
    let before = try FileFingerprint(store)
    show(try await refusal())
    try before.checkUnchanged(store)
    print("\n    the file before   \(before)")
    print("    the file after    the same: nothing was written, not even version 2 on the way")
  }

  private func refusal() async throws -> SchemaRefusal {
    do {
      let url = URL(fileURLWithPath: store)
      try await PersistentContainer("Flights", plan: FlightsPlan.draft, at: url).close()
    } catch {
      guard let refusal = error.refusal else { throw error }
      print("    ContextError.\(error.code), and in its refusal:")
      return refusal
    }
    throw DataError(path: store, message: "was opened with a plan that forgets planes without a year")
  }

  private func show(_ refusal: SchemaRefusal) {
    for offender in refusal.offenders.prefix(Self.shownOffenderCount) { print("      \(offender)") }
    let rest = refusal.offenderCount - Self.shownOffenderCount
    if rest > 0 { print("      and \(Terminal.number(rest)) more planes") }
  }
}
