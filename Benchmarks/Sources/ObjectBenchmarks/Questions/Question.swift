import BenchmarkHarness
import Cambium

/// A query of a real data set, in a form for Cambium and in a form for SQLite.
struct Question {
  let id: String
  let title: String
  let sql: String
  /// Runs the query in Cambium: every value that is read is added to the sum, row by row.
  let run: @Sendable (ManagedObjectContext, inout Checksum) throws -> Void
  /// The plan with which Cambium answers it.
  let explain: @Sendable (ManagedObjectContext) throws -> QueryPlan

  /// - Parameter add: adds a row's values to the sum, in the order of SQLite's columns.
  init<Row>(
    _ id: String,
    _ title: String,
    sql: String,
    fetch: @escaping @Sendable (ManagedObjectContext) throws -> [Row],
    explain: @escaping @Sendable (ManagedObjectContext) throws -> QueryPlan,
    adding add: @escaping @Sendable (Row, inout Checksum) -> Void
  ) {
    self.id = id
    self.title = title
    self.sql = sql
    self.explain = explain
    run = { context, sum in for row in try fetch(context) { add(row, &sum) } }
  }

  /// A question for a count.
  init<Root: ManagedObject>(_ id: String, _ title: String, sql: String, countOf request: From<Root>) {
    self.init(
      id,
      title,
      sql: sql,
      fetch: { [try $0.count(request)] },
      explain: { try $0.explain(request, analyze: true) },
      adding: { count, sum in sum.add(count) }
    )
  }
}

extension Checksum {
  /// Nothing, or a number: as SQLite's columns are added.
  mutating func add(_ number: Int?) { if let number { add(number) } else { add(UInt64.max) } }

  /// To a millionth, as the order in which an average is summed up differs.
  mutating func add(average: Double) { add(Int((average * 1e6).rounded())) }
}
