import ArgumentParser
import BenchmarkHarness
import Foundation

@main
struct KeyValueBenchmarksCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "key-value-benchmarks",
    abstract:
      "Runs Cambium beside LMDB, SQLite, RocksDB and WiredTiger, on the same data, in interleaved rounds.",
    discussion: "Times mean something in a quiet place only, ratios nearly everywhere.",
    subcommands: [RunCommand.self, DayCommand.self, CompactionCommand.self, FirstGetCommand.self],
    defaultSubcommand: RunCommand.self
  )
}

struct RunCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Runs the workloads and prints tables."
  )

  @Flag(help: "Small sizes: shows that everything works, says nothing about speed.")
  var smoke = false

  @Option(help: "Only these workloads, such as K1,K4g.")
  var only: String?

  @Option(help: "Only these engines, such as Cambium,RocksDB.")
  var engines: String?

  @Option(help: "How often each workload is run for each engine.")
  var rounds: Int?

  @Option(help: "Where the stores are made; a folder on the disk that is to be measured.")
  var folder = FileManager.default.currentDirectoryPath

  @Option(help: "Writes the tables to this file as well.")
  var markdown: String?

  @Option(help: "Writes every figure that was taken to this file.")
  var json: String?

  func run() async throws {
    var sizes = smoke ? Sizes.smoke : Sizes()
    sizes.rounds = rounds ?? sizes.rounds
    let folders = try ScratchFolders(root: folder)
    defer { folders.removeAll() }

    let peers = Engines.named(engines)
    let floor = try Floor(in: folders.root, entries: sizes.entries)
    var session = KeyValueSession(
      peers: peers,
      sizes: sizes,
      folders: folders,
      runner: Runner(only: Self.words(only))
    )
    try await session.run()
    let report = KeyValueReport(
      machine: Machine(folder: folder),
      engines: peers.map { .init(name: $0.name, version: $0.version, groupsCommits: $0.groupsCommits) },
      sizes: sizes,
      floor: floor,
      results: session.runner.results,
      measures: session.measures
    )
    print(report.markdown())
    try ReportFile.write(Data(report.markdown().utf8), to: markdown)
    try ReportFile.write(report.json(), to: json)
  }

  private static func words(_ list: String?) -> Set<String> {
    Set((list ?? "").split(separator: ",").map(String.init))
  }
}

/// The child process of K7: see ``KeyValueSession/opening(_:_:)``.
struct FirstGetCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "first-get",
    abstract: "Opens a store, gets one value and prints how long that took.",
    shouldDisplay: false
  )

  @Option var engine: String
  @Option var folder: String
  /// The key in hexadecimal.
  @Option var key: String

  func run() throws {
    guard let peer = Engines.named(engine).first else {
      throw PeerError(peer: engine, message: "no such engine")
    }
    let entries = Entries(key: FirstGet.bytes(key))
    let clock = ContinuousClock()
    let start = clock.now
    let store = try peer.init(folder: folder, isNew: false)
    let sum = try store.get(entries, order: [0])
    let time = clock.now - start
    try store.close()
    let result = FirstGet(seconds: time / .seconds(1), checksum: sum.value)
    print(String(decoding: try JSONEncoder().encode(result), as: UTF8.self))
  }
}
