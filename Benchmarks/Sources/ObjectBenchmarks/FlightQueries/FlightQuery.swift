import BenchmarkHarness
import Cambium

/// A question to the flights, as Cambium and as SQLite are asked it.
struct FlightQuery {
  let id: String
  let title: String
  /// How often it is asked in a round.
  let repetitions: Int
  let sql: String
  /// Asks Cambium: every value that is read goes into the sum, row by row.
  let run: @Sendable (ManagedObjectContext, inout Checksum) throws -> Void
  /// How Cambium answers it.
  let explain: @Sendable (ManagedObjectContext) throws -> QueryPlan
}

extension FlightQuery {
  /// A question for values.
  init<Root: ManagedObject, each Value: AttributeType>(
    _ id: String,
    _ title: String,
    repetitions: Int = 10,
    _ selection: Selection<Root, repeat each Value>,
    sql: String,
    adding add: @escaping @Sendable ((repeat each Value), inout Checksum) -> Void
  ) {
    self.init(
      id: id,
      title: title,
      repetitions: repetitions,
      sql: sql,
      run: { context, sum in for row in try context.fetch(selection) { add(row, &sum) } },
      explain: { try $0.explain(selection, analyze: true) }
    )
  }

  /// A question for groups.
  init<Root: ManagedObject, Row>(
    _ id: String,
    _ title: String,
    repetitions: Int = 10,
    _ groups: GroupedQuery<Root, Row>,
    sql: String,
    adding add: @escaping @Sendable (Row, inout Checksum) -> Void
  ) {
    self.init(
      id: id,
      title: title,
      repetitions: repetitions,
      sql: sql,
      run: { context, sum in for row in try context.fetch(groups) { add(row, &sum) } },
      explain: { try $0.explain(groups, analyze: true) }
    )
  }

  /// A question for a count.
  init<Root: ManagedObject>(
    _ id: String,
    _ title: String,
    repetitions: Int = 10,
    countOf request: From<Root>,
    sql: String
  ) {
    self.init(
      id: id,
      title: title,
      repetitions: repetitions,
      sql: sql,
      run: { context, sum in sum.add(try context.count(request)) },
      explain: { try $0.explain(request, analyze: true) }
    )
  }
}

extension Checksum {
  /// Nothing, or a number: as SQLite's columns are added.
  mutating func add(_ number: Int?) { if let number { add(number) } else { add(UInt64.max) } }

  /// To a millionth, as the order in which an average is summed up differs.
  mutating func add(average: Double) { add(Int((average * 1e6).rounded())) }
}
