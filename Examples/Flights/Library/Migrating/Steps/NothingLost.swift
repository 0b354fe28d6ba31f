import Cambium
import Foundation

/// Compares the facts of the stores in the newest version with those of the first version, and verifies the stores.
struct NothingLost {
  var before: FleetFacts
  /// The first store is the one that was migrated in one opening.
  var stores: [String]
  private static let shownRowCount = 5

  /// - Returns: the facts of the stores.
  func run() async throws -> FleetFacts {
    Terminal.section("7. Nothing is lost")
    for store in stores { try check(store) }
    showAirlines()
    try await showModels()
    for store in stores { try await verify(store) }
    print(
      "\n    Both stores, the one that was killed too, say what the store of version 1 said of every airline,"
    )
    print("    destination, plane and delay. verify() has read both, and found nothing wrong.")
    return before
  }

  private func check(_ store: String) throws {
    guard try FleetFacts(of: store, .version4) == before else {
      throw DataError(path: store, message: "says something else of its flights and planes than before")
    }
  }

  private func showAirlines() {
    print("    \(Terminal.number(before.flightCount)) flights of \(before.flightsByAirline.count) airlines\n")
    let rows = before.flightsByAirline.map { ($0.key.last.flatMap(Self.text) ?? "–", $0.value) }
    show(rows)
  }

  private func showModels() async throws {
    let container = try await PersistentContainer(
      "Flights",
      models: FlightsV4.models,
      at: .file(URL(fileURLWithPath: stores[0]))
    )
    let rows = try await container.performBackgroundTask { context in
      try context.fetch(From<FlightsV4.AircraftModel>()).map { model in
        ("\(model.manufacturer) \(model.name), \(model.seats) seats", model.planes.count)
      }
    }
    try await container.close()
    print("\n    \(Terminal.number(before.planeCount)) planes of \(rows.count) aircraft models\n")
    show(rows)
  }

  /// The rows with the greatest counts.
  private func show(_ rows: [(String, Int)]) {
    let sorted = rows.sorted { ($1.1, $0.0) < ($0.1, $1.0) }
    for (name, count) in sorted.prefix(Self.shownRowCount) {
      print("      " + name.padding(toLength: 44, withPad: " ", startingAt: 0) + Terminal.number(count))
    }
    let rest = sorted.dropFirst(Self.shownRowCount)
    if rest.isEmpty { return }
    let sum = rest.reduce(0) { $0 + $1.1 }
    print(
      "      " + "\(rest.count) others".padding(toLength: 44, withPad: " ", startingAt: 0)
        + Terminal.number(sum)
    )
  }

  private static func text(_ value: AttributeValue) -> String? {
    if case .string(let text) = value { text } else { nil }
  }

  private func verify(_ store: String) async throws {
    let container = try await PersistentContainer("Flights", at: URL(fileURLWithPath: store))
    let problems = try await container.verify()
    try await container.close()
    for problem in problems { print("    \(problem)") }
    guard problems.isEmpty else { throw DataError(path: store, message: "has \(problems.count) problems") }
  }
}
