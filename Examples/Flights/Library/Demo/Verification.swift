import Cambium
import Foundation

/// Reads the whole store and checks that all of its parts agree.
struct Verification {
  var store: String

  func run() async throws {
    Terminal.section("7. Verified")
    let clock = ContinuousClock()
    let start = clock.now
    let container = try await PersistentContainer.flights(at: store)
    let problems = try await container.verify()
    try await container.close()
    for problem in problems { print("    \(problem)") }
    guard problems.isEmpty else { throw DataError(path: store, message: "has \(problems.count) problems") }
    print("    Every page, record, index entry and relationship of \(store)")
    print(
      "    was read, checked and counted in \(Terminal.duration(clock.now - start)): everything is in order."
    )
  }
}
