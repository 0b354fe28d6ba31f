/// The times of workloads: a column for each engine, then Cambium's ratio to the fastest peer, and its goal.
package struct TimesTable {
  private let engines: ComparedEngines
  private let goal: (String) -> Double?

  /// - Parameter goal: how many times as fast as the fastest peer the workload of this ID should be.
  package init(_ engines: ComparedEngines, goal: @escaping (String) -> Double?) {
    self.engines = engines
    self.goal = goal
  }

  package func lines(_ results: [Runner.Result]) -> [String] {
    [
      "“× fastest” is the fastest peer's time by Cambium's: more than 1 means that Cambium is faster than every peer.",
      "",
      MarkdownTable.header(["", "workload"], engines.names + ["× fastest", "goal"]),
    ] + results.map(row)
  }

  private func row(_ result: Runner.Result) -> String {
    let ratio = engines.ownRatio(result).map(Figures.threeDigits)
    let goal = goal(result.id).map { $0 >= 100 ? String(Int($0)) : String($0) }
    return MarkdownTable.line(
      [result.id, title(result)] + engines.cells(result) + [ratio ?? "–", goal ?? "–"]
    )
  }

  /// Returns the title of the workload, the unit of its times, and the time of the floor.
  private func title(_ result: Runner.Result) -> String {
    var title = result.title + (result.unit.isEmpty ? "" : ", \(result.unit)")
    if let floor = engines.floor.flatMap(result.times)?.median {
      title += "; one synced write \(Figures.duration(floor / Double(result.operations)))"
      if let own = result.times(of: engines.own)?.median {
        title += ", Cambium × \(Figures.threeDigits(own / floor)) of it"
      }
    }
    return title
  }
}
