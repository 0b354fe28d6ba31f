/// One figure of one engine, as programs read it.
package struct ReportedFigure: Codable, Sendable {
  package var workload: String
  package var title: String
  package var engine: String
  /// `seconds`, `bytes`, `syncs`; for one operation if the workload has many.
  package var unit: String
  package var median: Double
  /// The fastest (or smallest) peer's median divided by this one: more than 1 is better than every peer. Cambium is no
  /// peer of itself. Nil if there is no peer to compare with.
  package var ratioToFastestPeer: Double?
  /// The goal for Cambium's ratio.
  package var goal: Double?
  /// One for each round.
  package var values: [Double]

  package init(
    workload: String,
    title: String,
    engine: String,
    unit: String,
    median: Double,
    ratioToFastestPeer: Double?,
    goal: Double? = nil,
    values: [Double]
  ) {
    self.workload = workload
    self.title = title
    self.engine = engine
    self.unit = unit
    self.median = median
    self.ratioToFastestPeer = ratioToFastestPeer
    self.goal = goal
    self.values = values
  }
}

extension Runner.Result {
  /// The time of each engine.
  package func figures(_ engines: ComparedEngines, goal: Double?) -> [ReportedFigure] {
    let fastest = engines.fastestPeer(self)
    return times.map { times in
      ReportedFigure(
        workload: id,
        title: title,
        engine: times.peer,
        unit: "seconds",
        median: times.median / Double(operations),
        ratioToFastestPeer: fastest.map { $0 / times.median },
        goal: times.peer == engines.own ? goal : nil,
        values: times.seconds.map { $0 / Double(operations) }
      )
    }
  }
}
