import BenchmarkHarness
import SVGDrawing

/// The result of a day: a table by the hour, a figure, and whether the file stayed in its bounds.
struct DayReport {
  let samples: [DayWorkload.Sample]
  let plan: DayPlan

  /// The most that the file may take after the warm-up, as a multiple of its live pages: while it is open, with up to two readers, and
  /// when it is closed. An open file keeps the room that readers have needed.
  static let openBound = 2.1
  static let closedBound = 1.4

  private var afterWarmUp: [DayWorkload.Sample] { samples.filter { $0.hour >= DayPlan.warmUp } }
  private var largestOpenRatio: Double { afterWarmUp.filter(\.isOpen).map(\.ratio).max() ?? 0 }
  /// Measured at the end of each step: the file gets short during the first step in which the store is closed.
  private var largestClosedRatio: Double {
    afterWarmUp.filter { !$0.isOpen }.map { Double($0.fileBytes) / Double($0.liveBytes) }.max() ?? 0
  }

  /// Throws unless the file stayed in its bounds.
  func check() throws {
    guard largestOpenRatio <= Self.openBound, largestClosedRatio <= Self.closedBound else {
      throw DayFailure("the file passed its bound: \(summary)")
    }
  }

  private var summary: String {
    let (open, closed) = (Figures.threeDigits(largestOpenRatio), Figures.threeDigits(largestClosedRatio))
    return
      "after \(Int(DayPlan.warmUp)) o'clock it was at most \(open) times that of the live pages (allowed: \(Self.openBound)), "
      + "closed \(closed) times (allowed: \(Self.closedBound))"
  }

  var markdown: String {
    var lines = [
      "The file's size over a day (`make bench-day`): \(summary).", "",
      MarkdownTable.header(
        ["hour", "store"],
        ["readers", "live", "pinned", "log", "free", "file", "largest", "largest ratio"]
      ),
    ]
    for hour in 0..<24 {
      let part = samples.filter { $0.hour >= Double(hour) && $0.hour < Double(hour + 1) }
      guard let last = part.last else { continue }
      let largest = part.map(\.largestFileBytes).max() ?? 0
      lines.append(
        MarkdownTable.line([
          "\(hour)", part.allSatisfy(\.isOpen) ? "open" : part.contains(where: \.isOpen) ? "both" : "closed",
          "\(part.map(\.readers).max() ?? 0)", bytes(last.liveBytes), bytes(last.pinnedBytes),
          bytes(last.logBytes), bytes(last.freeBytes),
          bytes(last.fileBytes), bytes(largest), Figures.threeDigits(part.map(\.ratio).max() ?? 0),
        ])
      )
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private func bytes(_ count: some BinaryInteger) -> String { Figures.bytes(Double(count)) }

  // MARK: The figure

  var chart: LineChart {
    func points(_ value: (DayWorkload.Sample) -> Double) -> [(x: Double, y: Double)] {
      samples.map { ($0.hour, value($0) / 1e6) }
    }
    let curves = [
      LineChart.Curve(name: "file", colour: "#0072b2", points: points { Double($0.fileBytes) }),
      LineChart.Curve(
        name: "live and pinned pages",
        colour: "#e69f00",
        points: points { Double($0.liveBytes + $0.pinnedBytes) }
      ),
      LineChart.Curve(name: "live pages", colour: "#009e73", points: points { Double($0.liveBytes) }),
    ]
    var chart = LineChart(
      title: "A file's size over a day of mixed work",
      subtitle: "Inserts, changes, removals of entries and of ranges; "
        + (plan.closed.isEmpty
          ? "the store is never closed." : "the store is closed from 2 to 6, at 12:30 and at 19."),
      xAxis: .init(label: "hour of the simulated day", end: 24, step: 2),
      yAxis: .fitting(samples.map { Double($0.fileBytes) / 1e6 }.max() ?? 0, label: "MB"),
      curves: curves
    )
    chart.bandName = "a reader keeps its snapshot"
    chart.bands = plan.readers.map {
      .init(
        range: $0.lowerBound...$0.upperBound,
        tooltip: "a reader from \($0.lowerBound) to \($0.upperBound)"
      )
    }
    return chart
  }
}
