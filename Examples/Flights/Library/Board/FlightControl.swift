import Cambium
import Foundation

/// Changes flights at random, as an airport does: new delays, and departures that are moved to another hour.
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
        hours: Int.random(in: 0..<8) / 7
      )
      try? await Task.sleep(for: pause)
    }
  }

  /// Gives the flight at a position a longer or shorter delay, and moves it by some hours.
  func change(_ position: Int, by minutes: Int, hours: Int) async throws {
    try await container.write(mergePolicy: .mergeByPropertyObjectTrump) { context in
      let request = From<Flight>().orderBy(\.timeHour).offset(position)
      guard let flight = try context.fetchOne(request) else { return }
      flight.depDelay = max(0, (flight.depDelay ?? 0) + minutes)
      if hours != 0 { flight.timeHour += Double(hours) * 3_600 }
    }
  }
}
