import ArgumentParser
import Cambium
import Foundation

/// The process that the demonstration kills. It saves pairs of flights, out and back, for ever, and writes a pair's
/// number to standard output when its save has returned.
struct SaveLoopCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "save-loop",
    abstract: "Saves pairs of flights until it is killed.",
    shouldDisplay: false
  )

  /// A carrier that no real flight has.
  static let carrier = "ZZ"

  @Option var store: String
  @Option var first: Int

  func run() async throws {
    let container = try await PersistentContainer.flights(at: store)
    var number = first
    while true {
      let pair = number
      try await container.performBackgroundTask { context in
        context.insert(Flight(Self.row(pair, from: "EWR", to: "LAX")))
        context.insert(Flight(Self.row(pair, from: "LAX", to: "EWR")))
        try context.save()
      }
      FileHandle.standardOutput.write(Data("\(pair)\n".utf8))
      number += 1
    }
  }

  private static func row(_ number: Int, from origin: String, to destination: String) -> FlightRow {
    FlightRow(
      year: 2013,
      month: 1,
      day: 31,
      depTime: nil,
      schedDepTime: 2359,
      depDelay: nil,
      arrTime: nil,
      schedArrTime: 230,
      arrDelay: nil,
      carrier: carrier,
      flight: number,
      tailnum: nil,
      originCode: origin,
      destCode: destination,
      airTime: nil,
      distance: 2454,
      hour: 23,
      minute: 59,
      timeHour: Date(timeIntervalSince1970: 1_359_694_740)
    )
  }
}
