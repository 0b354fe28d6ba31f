import Cambium
import Foundation

/// Changes flights at random, as an airport does: new delays, other gates, and departures that are moved to another hour.
struct FlightControl: Sendable {
  let container: PersistentContainer
  /// Positions of the flights that are changed, in the order of departure.
  let positions: Range<Int>

  /// Changes one flight after the other until the task is cancelled.
  func run(pause: Duration) async throws {
    while !Task.isCancelled {
      try await change(
        Int.random(in: positions),
        by: Int.random(in: -5...30),
        hours: Int.random(in: 0..<8) / 7,
        gate: Bool.random() ? "\("ABC".randomElement()!)\(Int.random(in: 1...40))" : nil
      )
      try? await Task.sleep(for: pause)
    }
  }

  /// Gives the flight at a position a longer or shorter delay and another gate, and moves it by some hours.
  ///
  /// - Parameter gate: the new gate; nil for the one that it has.
  func change(_ position: Int, by minutes: Int, hours: Int, gate: String? = nil) async throws {
    try await container.write(mergePolicy: .mergeByPropertyObjectTrump) { context in
      let request = From<Flight>().orderBy(\.timeHour).offset(position)
      guard let flight = try context.fetchOne(request) else { return }
      flight.depDelay = max(0, (flight.depDelay ?? 0) + minutes)
      if let gate { flight.gate = gate }
      if hours != 0 { flight.timeHour += Double(hours) * 3_600 }
    }
  }
}
