import ArgumentParser
import BenchmarkHarness
import Foundation

/// Measures the size of a store compared with SQLite's, while it grows and changes.
struct SpaceCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "space",
    abstract: "Measures files and bytes written beside SQLite, at several sizes.",
    discussion: "Each run is a process of its own. The largest size takes minutes: --objects 4000000."
  )

  @Flag(help: "Small sizes: shows that everything works.")
  var smoke = false

  @Option(help: "How many objects; several times for several sizes.")
  var objects: [Int] = [250_000, 1_000_000]

  @Option(help: "Bytes of cache and of changed pages in memory; the store's own if not given.")
  var memory: Int?

  @Option(help: "Only this peer.")
  var peer: String?

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
      let result = try await SpaceWorkload.run(
        peer: peer ?? "",
        objects: objects[0],
        folder: folder,
        memory: memory
      )
      print(String(decoding: try JSONEncoder().encode(result), as: UTF8.self))
      return
    }
    let folders = try ScratchFolders(root: folder)
    defer { folders.removeAll() }
    var results: [SpaceWorkload.Result] = []
    for count in smoke ? [20_000] : objects {
      for name in SpaceWorkload.peers where peer == nil || peer == name {
        let place = try folders.make()
        defer { folders.remove(place) }
        var arguments = ["space", "--is-run", "--peer", name, "--objects", "\(count)", "--folder", place]
        if let memory { arguments += ["--memory", "\(memory)"] }
        results.append(try ChildProcess.output(arguments))
      }
    }
    let report = SpaceReport(machine: Machine(folder: folders.root), results: results)
    print(report.markdown)
    try ReportFile.write(Data(report.markdown.utf8), to: markdown)
    try ReportFile.write(ReportFile.json(report), to: json)
  }
}

struct SpaceReport: Codable {
  var date = Date()
  var machine: Machine
  var results: [SpaceWorkload.Result]

  init(machine: Machine, results: [SpaceWorkload.Result]) {
    self.machine = machine
    self.results = results
  }

  var markdown: String {
    var lines = ["# Space", ""]
    lines += machine.introduction(on: date)
    lines += [
      "",
      "Objects inserted in saves of 50,000, then 100 saves of 1,000 updates (`make bench-space`). A ratio is the file's "
        + "bytes to those of its live pages; the largest is that of any moment.",
      "",
      MarkdownTable.header(
        ["objects", "store"],
        [
          "after load", "after updates", "closed", "live", "largest ratio", "closed ratio", "written",
          "load an object", "an update",
        ]
      ),
    ]
    for result in results {
      lines.append(
        MarkdownTable.line([
          "\(result.objects)", result.peer, bytes(result.loadedBytes), bytes(result.updatedBytes),
          bytes(result.closedBytes), bytes(result.liveBytes), Figures.threeDigits(result.largestRatio),
          Figures.threeDigits(Double(result.closedBytes) / Double(result.liveBytes)),
          bytes(result.writtenBytes), Figures.duration(result.loadSeconds / Double(result.objects)),
          Figures.duration(
            result.updateSeconds / Double(SpaceWorkload.updateSaves * SpaceWorkload.updatesPerSave)
          ),
        ])
      )
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private func bytes(_ count: Int) -> String { Figures.bytes(Double(count)) }
}
