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

  /// One figure of one engine.
  struct Row: Codable {
    var workload: String
    var title: String
    var engine: String
    /// `seconds`, `bytes`, `syncs`; for one operation where the workload has many.
    var unit: String
    var median: Double
    /// The fastest (or smallest) peer's median by this one: more than 1 is better than every peer. Cambium is no peer of
    /// itself. Nil where there is none to compare with.
    var ratioToFastestPeer: Double?
    /// One for each round.
    var values: [Double]
  }

  func json() throws -> Data {
    struct Document: Codable {
      var date: Date
      var machine: Machine
      var engines: [Engine]
      var sizes: Sizes
      var floor: Floor
      var rows: [Row]
      var caveats: [String]
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    encoder.dateEncodingStrategy = .iso8601
    return try encoder.encode(
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

  /// Times first, then what was counted.
  func rows() -> [Row] {
    let times = results.flatMap { result in
      result.times.map { times in
        Row(
          workload: result.id,
          title: result.title,
          engine: times.peer,
          unit: "seconds",
          median: times.median / Double(result.operations),
          ratioToFastestPeer: fastestPeer(result).map { $0 / times.median },
          values: times.seconds.map { $0 / Double(result.operations) }
        )
      }
    }
    let counts = measures.map { measure in
      Row(
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

  /// The shortest median of the peers: neither Cambium's nor the raw write's.
  func fastestPeer(_ result: Runner.Result) -> Double? {
    result.times.filter { $0.peer != Engines.own && $0.peer != Floor.name }.map(\.median).min()
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
