import BenchmarkHarness
import Foundation

extension KeyValueReport {
  func markdown() -> String {
    var lines = introduction()
    let timed = results.filter { $0.id != "K4g" }
    if !timed.isEmpty {
      lines += ["", "## Times", ""] + TimesTable(compared, goal: Goals.timesTheFastest).lines(timed)
    }
    let grouped = results.filter { $0.id == "K4g" }
    if !grouped.isEmpty { lines += ["", "## K4g: several threads commit at once", ""] + groupTable(grouped) }
    let sizes = measures.filter { $0.workload == "K8" }
    if !sizes.isEmpty { lines += ["", "## K8: bytes of the files, closed", ""] + sizesTable(sizes) }
    let outputs = measures.filter { $0.workload != "K8" }
    if !outputs.isEmpty { lines += ["", "## Written for each commit", ""] + outputsTable(outputs) }
    lines += ["", "## What to keep in mind", ""] + Self.caveats.map { "- \($0)" }
    return lines.joined(separator: "\n") + "\n"
  }

  private func introduction() -> [String] {
    let versions = engines.map { "\($0.name) \($0.version)" }.joined(separator: ", ")
    let copied = Figures.bytes(Double(floor.copiedBytes))
    return [
      "# Key-value workloads",
      "",
      "Written by `make bench-kv`; `KeyValue.json` has every figure. Medians of interleaved rounds over "
        + "\(sizes.entries) records with 16 bytes of random key and 100 of value.",
      "",
    ] + machine.introduction(on: date) + [
      "- \(versions)",
      "- The floor: one synced write of 512 bytes \(Figures.duration(floor.syncedWrite)), one copy of all keys and values "
        + "(\(copied)) \(Figures.duration(floor.copy))",
    ]
  }

  private var names: [String] { compared.names }

  // MARK: Committers

  private func groupTable(_ rows: [Runner.Result]) -> [String] {
    let columns = engines.map { $0.groupsCommits ? $0.name : "\($0.name) (serial)" }
    return [
      "Time of a commit, and in brackets how many times as fast as the same engine's single thread.",
      "",
      MarkdownTable.header(["threads"], columns + ["Cambium × fastest", "goal, × one thread"]),
    ]
      + zip(rows, sizes.committers).map { row, committers in
        let cells = names.map { name in
          guard let time = row.times(of: name)?.median, let one = rows[0].times(of: name)?.median
          else { return "–" }
          let text = Figures.duration(time / Double(row.operations))
          return "\(text) (× \(Figures.threeDigits(one / time)))"
        }
        let ratio = compared.ownRatio(row).map(Figures.threeDigits)
        let goal = Goals.timesOneCommitter(committers).map { Figures.threeDigits($0) }
        return MarkdownTable.line([String(committers)] + cells + [ratio ?? "–", goal ?? "–"])
      }
  }

  // MARK: What was counted

  private func sizesTable(_ measures: [KeyValueSession.Measure]) -> [String] {
    [MarkdownTable.header([""], names + ["goal"])]
      + titles(measures).map { title in
        let cells = names.map { name in
          measure(measures, title, name, "bytes").map { Figures.bytes($0.median) } ?? "–"
        }
        return MarkdownTable.line([title] + cells + [Goals.storedBytes(title).map(Figures.bytes) ?? "–"])
      }
  }

  /// Means, not medians: the cost of an occasional write belongs to all commits.
  private func outputsTable(_ measures: [KeyValueSession.Measure]) -> [String] {
    func mean(_ title: String, _ engine: String, _ unit: String) -> Double? {
      guard let values = measure(measures, title, engine, unit)?.values else { return nil }
      return values.reduce(0, +) / Double(values.count)
    }
    let own = Engines.own
    return [
      "On average over all rounds.",
      "",
      MarkdownTable.header([""], names + ["Cambium, as it counts itself"]),
    ]
      + titles(measures).map { title in
        let cells = names.map { name in
          mean(title, name, OutputLog.kernelBytes).map(Figures.bytes) ?? "–"
        }
        let bytes = mean(title, own, OutputLog.ownBytes).map(Figures.bytes) ?? "–"
        let syncs = mean(title, own, OutputLog.ownSyncs).map(Figures.threeDigits) ?? "–"
        return MarkdownTable.line([title] + cells + ["\(bytes), \(syncs) syncs"])
      }
  }

  private func titles(_ measures: [KeyValueSession.Measure]) -> [String] {
    measures.reduce(into: []) { titles, measure in
      if !titles.contains(measure.title) { titles.append(measure.title) }
    }
  }

  private func measure(
    _ measures: [KeyValueSession.Measure],
    _ title: String,
    _ engine: String,
    _ unit: String
  ) -> KeyValueSession.Measure? {
    measures.first { $0.title == title && $0.engine == engine && $0.unit == unit }
  }
}
