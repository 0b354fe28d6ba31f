import ArgumentParser
import Cambium
import Foundation

/// The command of the executable. It lives in a library so that tests can import it.
package struct FlightsCommand: AsyncParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "flights",
    abstract: "All flights that left New York in 2013, in a Cambium store.",
    subcommands: [
      ImportCommand.self, DemoCommand.self, BoardCommand.self, MigrateCommand.self, SaveLoopCommand.self,
      KilledMigrationCommand.self,
    ]
  )

  package init() {}
}

extension PersistentContainer {
  /// Opens the store of flights at the path, or makes it.
  static func flights(at path: String) async throws -> PersistentContainer {
    try await PersistentContainer(
      "Flights",
      models: Airline.self,
      Airport.self,
      Plane.self,
      WeatherHour.self,
      Flight.self,
      at: URL(fileURLWithPath: path)
    )
  }
}
