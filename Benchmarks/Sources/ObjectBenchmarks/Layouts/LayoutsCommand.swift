import ArgumentParser
import BenchmarkHarness
import Foundation

/// Measures the cost of reading records of an earlier layout, and of opening a store by another schema.
struct LayoutsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "layouts",
    abstract: "Reads records of an earlier and of the newest layout, and opens stores by another schema.",
    discussion: "Reading is timed by the processors' time, in interleaved rounds."
  )

  @Flag(help: "Small sizes: shows that everything works.")
  var smoke = false

  @Option(help: "How many objects are read.")
  var objects = 1_000_000

  @Option(help: "How many objects the stores have that are opened; several times for several sizes.")
  var opened: [Int] = [10_000, 100_000, 1_000_000]

  @Option(help: "Only these workloads, such as L1,L4; “none” for the openings alone.")
  var only: String?

  @Option(help: "How often each workload is run for each store.")
  var rounds = 7

  @Option(help: "Where the stores are made.")
  var folder = FileManager.default.currentDirectoryPath

  @Option(help: "Writes the tables to this file as well.")
  var markdown: String?

  @Option(help: "Writes all figures to this file.")
  var json: String?

  func run() async throws {
    let folders = try ScratchFolders(root: folder)
    defer { folders.removeAll() }
    var runner = Runner(only: Set((only ?? "").split(separator: ",").map(String.init)))
    let workloads = LayoutWorkloads(objects: smoke ? 5_000 : objects, rounds: smoke ? 1 : rounds)
    try await workloads.run(&runner, in: folders)
    var openings: [LayoutOpening] = []
    for count in smoke ? [1_000] : opened {
      openings.append(try await .measure(objects: count, in: folders, rounds: workloads.rounds))
    }
    let report = LayoutsReport(
      machine: Machine(folder: folders.root),
      objects: workloads.objects,
      results: runner.results,
      openings: openings
    )
    print(report.markdown)
    try ReportFile.write(Data(report.markdown.utf8), to: markdown)
    try ReportFile.write(ReportFile.json(report), to: json)
  }
}

struct LayoutsReport: Codable {
  var date = Date()
  var machine: Machine
  var objects: Int
  var results: [Runner.Result]
  var openings: [LayoutOpening]

  var markdown: String {
    (["# Layouts of records", ""] + machine.introduction(on: date) + reading + opening)
      .joined(separator: "\n") + "\n"
  }

  private var reading: [String] {
    let lines = results.map { result in
      let times = result.times.map(\.median)
      return MarkdownTable.line(
        ["\(result.id) \(result.title)"] + times.map(Figures.duration)
          + [Figures.threeDigits(times[1] / times[2])]
      )
    }
    return [
      "",
      "\(objects) objects. Processor time, medians of interleaved rounds. The ratio is of the last two.",
      "",
      MarkdownTable.header([""], results.first.map { $0.times.map(\.peer) + ["ratio"] } ?? []),
    ] + lines
  }

  private var opening: [String] {
    let lines = openings.map { opening in
      MarkdownTable.line([
        "\(opening.objects)", Figures.bytes(Double(opening.fileBytes)),
        Figures.duration(Figures.median(opening.plainSeconds)),
        Figures.duration(Figures.median(opening.seconds)),
        Figures.bytes(Double(opening.writtenBytes)),
      ])
    }
    return [
      "",
      "A store opened by the schema that it has, and by one with two attributes more and one wider: medians.",
      "",
      MarkdownTable.header(["objects"], ["file", "opened", "opened and changed", "bytes written"]),
    ] + lines
  }
}
