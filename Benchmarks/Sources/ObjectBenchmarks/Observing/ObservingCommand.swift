import ArgumentParser
import BenchmarkHarness
import Foundation

/// Measures the cost of following a list, compared with GRDB, which fetches it again.
struct ObservingCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "observing",
    abstract:
      "Changes one object of a list at a time, then many at once, and divides a list into many sections: time to the difference, bytes held, entries walked, at several sizes."
  )

  @Flag(help: "Small sizes: shows that everything works.")
  var smoke = false

  @Option(help: "How many objects; several times for several sizes.")
  var objects: [Int] = [10_000, 100_000, 1_000_000]

  @Option(help: "How many changes.")
  var rounds = 51

  @Option(help: "The largest size at which GRDB takes part.")
  var peerLimit = 1_000_000

  @Option(help: "Where the stores are made.")
  var folder = FileManager.default.currentDirectoryPath

  @Option(help: "Writes the table to this file as well.")
  var markdown: String?

  @Option(help: "Writes all figures to this file.")
  var json: String?

  func run() async throws {
    let folders = try ScratchFolders(root: folder)
    defer { folders.removeAll() }
    var results: [ObservingWorkload.Result] = []
    var (batches, sections) = ([ObservingWorkload.BatchResult](), [ObservingWorkload.SectionResult]())
    for count in smoke ? [2_000] : objects {
      let place = try folders.make()
      defer { folders.remove(place) }
      let workload = try await ObservingWorkload(objects: count, rounds: smoke ? 5 : rounds, folder: place)
      results += try await workload.results()
      if count <= peerLimit { results.append(try await workload.grdbResult()) }
      sections.append(try await workload.sectionResult())
      batches += try await workload.batchResults()
    }
    let report = ObservingReport(
      machine: Machine(folder: folders.root),
      rounds: rounds,
      results: results,
      batches: batches,
      sections: sections
    )
    print(report.markdown)
    try ReportFile.write(Data(report.markdown.utf8), to: markdown)
    try ReportFile.write(ReportFile.json(report), to: json)
  }
}

struct ObservingReport: Codable {
  var date = Date()
  var machine: Machine
  var rounds: Int
  var results: [ObservingWorkload.Result]
  var batches: [ObservingWorkload.BatchResult]
  var sections: [ObservingWorkload.SectionResult]

  var markdown: String {
    var lines = ["# A list that is observed", ""]
    lines += machine.introduction(on: date)
    lines += [
      "",
      "Another context changes one object of the list, which moves by half the list, and saves. Medians of \(rounds) changes: from the return of the save to the difference.",
      "",
      MarkdownTable.header(
        ["list", "objects"],
        ["to the difference", "longest", "bytes held", "entries walked", "the save"]
      ),
    ]
    lines += results.map { result in
      MarkdownTable.line([
        result.list, "\(result.objects)", Figures.duration(result.seconds),
        Figures.duration(result.longestSeconds),
        result.heldBytes.map { Figures.bytes(Double($0)) } ?? "–",
        result.entriesWalked.map(String.init) ?? "–",
        Figures.duration(result.saveSeconds),
      ])
    }
    lines += [
      "", "A batch inserts many objects between those of the list. From its return to the difference:", "",
      MarkdownTable.header(["list", "objects"], ["inserted", "to the difference"]),
    ]
    lines += batches.map { result in
      MarkdownTable.line([
        result.list, "\(result.objects)", "\(result.changes)", Figures.duration(result.seconds),
      ])
    }
    lines += [
      "",
      "A list by rank is divided into sections. The times follow each other; the bytes are those that are held at the end.",
      "",
      MarkdownTable.header(
        ["sections"],
        ["making the list", "the first section", "counting all", "the last section", "bytes held"]
      ),
    ]
    lines += sections.map { result in
      MarkdownTable.line([
        "\(result.sections)", Figures.duration(result.makingSeconds), Figures.duration(result.firstSeconds),
        Figures.duration(result.countSeconds), Figures.duration(result.lastSeconds),
        Figures.bytes(Double(result.heldBytes)),
      ])
    }
    return lines.joined(separator: "\n") + "\n"
  }
}
