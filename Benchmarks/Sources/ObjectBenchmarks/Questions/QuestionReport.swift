import BenchmarkHarness
import Cambium
import Foundation

/// Each query with its times and its plans, for people and for programs.
struct QuestionReport {
  struct Answer: Codable {
    var id: String
    var title: String
    var sql: String
    var plan: QueryPlan
    var sqlitePlan: [String]
    var times: [Runner.PeerTimes]
  }

  /// The subject of the queries.
  struct Subject {
    /// The title of the report: `Ten questions to the flights`.
    var title: String
    /// The target of the Makefile that writes it.
    var target: String
    /// The data set: `336776 flights of nycflights13`.
    var data: String
    var caveats: [String] = []
  }

  let subject: Subject
  let machine: Machine
  var answers: [(query: Question, result: Runner.Result, plan: QueryPlan, sqlitePlan: [String])] = []
  var date = Date()

  private static let engines = ComparedEngines(
    names: [ObjectReport.ownName, QuestionStores.peer],
    own: ObjectReport.ownName
  )

  private static let commonCaveats = [
    "Both have the indexes of the models. SQLite got its statistics (`ANALYZE`).",
    "SQLite's statements are prepared once; Cambium makes each query's plan anew, as it is always done.",
    "SQLite hands bytes and numbers to the checksum; Cambium makes strings of them first.",
    "The stores are read by the process that has just filled them, and fit into each engine's cache.",
  ]

  private var caveats: [String] { Self.commonCaveats + subject.caveats }

  func json() throws -> Data {
    struct Document: Codable {
      var date: Date
      var machine: Machine
      var rows: [ReportedFigure]
      var answers: [Answer]
      var caveats: [String]
    }
    return try ReportFile.json(
      Document(
        date: date,
        machine: machine,
        rows: answers.flatMap {
          $0.result.figures(Self.engines, goal: ObjectGoals.timesTheFastest($0.query.id))
        },
        answers: answers.map { answer in
          Answer(
            id: answer.query.id,
            title: answer.query.title,
            sql: answer.query.sql,
            plan: answer.plan,
            sqlitePlan: answer.sqlitePlan,
            times: answer.result.times
          )
        },
        caveats: caveats
      )
    )
  }

  func markdown() -> String {
    var lines = [
      "# \(subject.title)",
      "",
      "Written by `make \(subject.target)`. Medians of interleaved rounds over \(subject.data).",
      "",
    ]
    lines += machine.introduction(on: date) + ["- SQLite \(SQLiteConnection.version)", "", "## Times", ""]
    lines += TimesTable(Self.engines, goal: ObjectGoals.timesTheFastest).lines(answers.map(\.result))
    lines += ["", "## Plans", ""] + answers.flatMap(section)
    lines += ["## What to keep in mind", ""] + caveats.map { "- \($0)" }
    return lines.joined(separator: "\n") + "\n"
  }

  private func section(
    _ query: Question,
    _ result: Runner.Result,
    _ plan: QueryPlan,
    _ sqlitePlan: [String]
  ) -> [String] {
    ["### \(query.id): \(query.title)", "", "```sql", query.sql, "```", "Cambium:", "```"]
      + [plan.description, "```", "SQLite:", "```"] + sqlitePlan + ["```", ""]
  }
}
