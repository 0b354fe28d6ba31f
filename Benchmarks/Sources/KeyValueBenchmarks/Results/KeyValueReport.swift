import BenchmarkHarness
import Foundation

/// The results of a run: JSON for programs, Markdown for people (in `KeyValueReport+Markdown.swift`).
struct KeyValueReport {
  var machine: Machine
  var engines: [Engine]
  var sizes: Sizes
  var floor: Floor
  var results: [Runner.Result]
  var measures: [KeyValueSession.Measure]
  var date = Date()

  struct Engine: Codable {
    var name: String
    var version: String
    var groupsCommits: Bool
  }

  /// The engines whose times are compared.
  var compared: ComparedEngines {
    ComparedEngines(names: engines.map(\.name), own: Engines.own, floor: Floor.name)
  }

  func json() throws -> Data {
    struct Document: Codable {
      var date: Date
      var machine: Machine
      var engines: [Engine]
      var sizes: Sizes
      var floor: Floor
      var rows: [ReportedFigure]
      var caveats: [String]
    }
    return try ReportFile.json(
      Document(
        date: date,
        machine: machine,
        engines: engines,
        sizes: sizes,
        floor: floor,
        rows: rows(),
        caveats: Self.caveats
      )
    )
  }

  /// Times first, then the counted figures.
  func rows() -> [ReportedFigure] {
    let times = results.flatMap { $0.figures(compared, goal: Goals.timesTheFastest($0.id)) }
    let counts = measures.map { measure in
      ReportedFigure(
        workload: measure.workload,
        title: measure.title,
        engine: measure.engine,
        unit: measure.unit,
        median: measure.median,
        ratioToFastestPeer: smallestPeer(measure).map { $0 / measure.median },
        values: measure.values
      )
    }
    return times + counts
  }

  private func smallestPeer(_ measure: KeyValueSession.Measure) -> Double? {
    measures.filter {
      $0.workload == measure.workload && $0.title == measure.title && $0.unit == measure.unit
        && $0.engine != Engines.own
    }.map(\.median).min()
  }

  static let caveats = [
    "Times of a shared machine: only ratios of one run mean something, and those of two threads least of all.",
    "The data fits into every engine's cache and into the system's; nothing here says how misses cost.",
    "Keys are random and values can't be compressed, so no engine compresses.",
    "Readers begin with stores that were closed and opened again: no engine has unflushed writes in memory.",
    "Bytes per commit are those of the whole process while an engine commits, its background threads included, as the "
      + "kernel counts them; LMDB's grow with the depth of its tree, SQLite's are a page or more, a checkpoint of "
      + "SQLite's log falls into some rounds.",
    "LMDB and SQLite have one writer at a time; RocksDB and WiredTiger let commits share a sync, as Cambium does.",
    "RocksDB's and WiredTiger's sizes hold logs that they keep; RocksDB flushes when it is closed, but doesn't wait for "
      + "compactions.",
  ]
}
