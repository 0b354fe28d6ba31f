import ArgumentParser
import Cambium
import Foundation

struct DemoCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "demo",
    abstract: "Imports the sample and takes a guided tour of the store."
  )

  @Option(help: "Where the store is made; one that is there is replaced.")
  var store = ".build/demo/flights.cambium"

  func run() async throws {
    let file = URL(fileURLWithPath: store)
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(),
      withIntermediateDirectories: true
    )
    try FileManager.default.removeStore(atPath: store)

    Terminal.section("1. A month of flights")
    print(
      "January 2013 out of New York, from gzipped CSV. Each flight is tied to its airline, plane, airports and weather.\n"
    )
    let report = try await ImportReport.importing(Sample.folder, into: store, batch: 10_000)
    Terminal.indented("\(report)")

    let container = try await PersistentContainer.flights(at: store)
    try await GuidedTour(container: container).run()
    try await container.close()

    try await KillDemonstration(store: store, kills: 5).run()
    try await Verification(store: store).run()
    printNextCommands()
  }

  private func printNextCommands() {
    Terminal.section("8. Yours to try")
    let tool =
      "\(URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().relativePath)/cambium"
    for command in [
      "info \(store)",
      "query \(store) Flight 'arrDelay >= 120' --count",
      "query \(store) Flight 'month == 1 AND day == 1' --explain",
      "query \(store) Flight 'dest.faa == \"IAH\"' --sort arrDelay:desc --select carrier,flight,origin.name,arrDelay --limit 5",
      "verify \(store)",
    ] {
      print("    \(tool) \(command)")
    }
    print("")
  }
}
