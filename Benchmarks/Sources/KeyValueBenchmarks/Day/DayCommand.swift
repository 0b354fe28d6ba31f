import ArgumentParser
import BenchmarkHarness
import Foundation
import SVGDrawing

/// A day's worth of mixed work, and the file's size over it.
struct DayCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "day",
    abstract: "Simulates a day of an app's work, and shows the file's size over it.",
    discussion:
      "Fails if the file passes a bound of its live pages after the first hours. Takes less than a minute."
  )

  @Flag(help: "Small sizes: shows that everything works, and holds the file to no bound.")
  var smoke = false

  @Flag(inversion: .prefixedNo, help: "Whether snapshots are kept for long.")
  var readers = true

  @Flag(inversion: .prefixedNo, help: "Whether the store is closed now and then.")
  var closing = true

  @Option(help: "What the work is drawn from.")
  var seed: UInt64 = 24

  @Option(help: "Where the store is made.")
  var folder = FileManager.default.currentDirectoryPath

  @Option(help: "Draws the figure into this file.")
  var svg: String?

  func run() throws {
    let folders = try ScratchFolders(root: folder)
    defer { folders.removeAll() }
    let sizes = smoke ? AppData.Sizes.smoke : AppData.Sizes()
    var plan = DayPlan()
    if !readers { plan.readers = [] }
    if !closing { plan.closed = [] }
    let samples = try DayWorkload.run(in: try folders.make(), plan, sizes: sizes, seed: seed)
    let report = DayReport(samples: samples, plan: plan)
    print(report.markdown)
    try ReportFile.write(Data(report.chart.document.source.utf8), to: svg)
    // A small store is mostly log, and room that is kept for a full disk.
    if !smoke { try report.check() }
  }
}
