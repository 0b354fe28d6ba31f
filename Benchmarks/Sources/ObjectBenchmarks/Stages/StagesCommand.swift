import ArgumentParser
import BenchmarkHarness
import Foundation

/// Measures a custom stage of a migration plan.
struct StagesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stages",
    abstract:
      "Splits an entity in a custom stage of a migration plan: time, memory, bytes, at several sizes.",
    discussion: "Each stage is a process of its own."
  )

  @Flag(help: "Small sizes: shows that everything works.")
  var smoke = false

  @Option(help: "How many objects; several times for several sizes.")
  var objects: [Int] = [10_000, 100_000, 1_000_000]

  @Option(help: "Bytes of cache and of changed pages in memory; the store's own if not given.")
  var memory: Int?

  @Option(help: "Where the stores are made.")
  var folder = FileManager.default.currentDirectoryPath

  @Option(help: "Writes the table to this file as well.")
  var markdown: String?

  @Option(help: "Writes all figures to this file.")
  var json: String?

  @Flag(help: .hidden)
  var isRun = false

  func run() async throws {
    if isRun {
      let result = try await StageWorkload.run(objects: objects[0], folder: folder, memory: memory)
      print(String(decoding: try JSONEncoder().encode(result), as: UTF8.self))
      return
    }
    let folders = try ScratchFolders(root: folder)
    defer { folders.removeAll() }
    var results: [StageWorkload.Result] = []
    for count in smoke ? [2_000] : objects {
      let place = try folders.make()
      defer { folders.remove(place) }
      try await StageWorkload.fill(place, count)
      var arguments = ["stages", "--is-run", "--objects", "\(count)", "--folder", place]
      if let memory { arguments += ["--memory", "\(memory)"] }
      results.append(try ChildProcess.output(arguments))
    }
    let report = StagesReport(machine: Machine(folder: folders.root), memory: memory, results: results)
    print(report.markdown)
    try ReportFile.write(Data(report.markdown.utf8), to: markdown)
    try ReportFile.write(ReportFile.json(report), to: json)
  }
}

struct StagesReport: Codable {
  var date = Date()
  var machine: Machine
  var memory: Int?
  var results: [StageWorkload.Result]

  var markdown: String {
    var lines = ["# A custom stage", ""]
    lines += machine.introduction(on: date)
    lines += [
      "",
      "An attribute of every object becomes an entity of its own, with an inverse, in batches of 1,000. "
        + (memory.map { "Cache and changed pages may take \(bytes($0)) each." } ?? "The store's own budgets."),
      "",
      MarkdownTable.header(
        ["objects"],
        ["file before", "file after", "written", "time", "an object", "peak memory", "idle memory"]
      ),
    ]
    lines += results.map { result in
      MarkdownTable.line([
        "\(result.objects)", bytes(result.fileBytes), bytes(result.newFileBytes), bytes(result.writtenBytes),
        Figures.duration(result.seconds), Figures.duration(result.seconds / Double(result.objects)),
        bytes(result.peakBytes), bytes(result.idlePeakBytes),
      ])
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private func bytes(_ count: Int) -> String { Figures.bytes(Double(count)) }
}
