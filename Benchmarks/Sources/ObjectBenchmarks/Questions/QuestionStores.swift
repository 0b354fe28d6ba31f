import BenchmarkHarness
import CSQLite
import Cambium

/// The same objects in a store and in a database, with the same indexes.
struct QuestionStores {
  static let peer = SQLiteObjectPeer.name
  /// The number of times that each query runs in a round.
  private static let repetitions = 10

  private let container: PersistentContainer
  private let database: SQLiteConnection

  /// Takes a store and a database that have been filled. SQLite gets its statistics, which its planner reads.
  init(_ container: PersistentContainer, _ database: SQLiteConnection) throws {
    self.container = container
    self.database = database
    try database.execute("PRAGMA cache_size = -1048576; ANALYZE")
  }

  func workload(_ query: Question, rounds: Int) -> Workload {
    Workload(
      id: query.id,
      title: query.title,
      operations: Self.repetitions,
      unit: "each",
      rounds: rounds,
      contenders: [
        Workload.Contender(peer: ObjectReport.ownName) { _ in try await measured { try await sum(query) } },
        Workload.Contender(peer: Self.peer) { _ in try await measured { try sumOfRows(query) } },
      ]
    )
  }

  private func sum(_ query: Question) async throws -> Checksum {
    try await container.performBackgroundTask { context in
      var sum = Checksum()
      for _ in 0..<Self.repetitions { try query.run(context, &sum) }
      return sum
    }
  }

  private func sumOfRows(_ query: Question) throws -> Checksum {
    try database.execute("BEGIN")
    defer { try? database.execute("COMMIT") }
    var sum = Checksum()
    let statement = try database.prepare(query.sql)
    for _ in 0..<Self.repetitions {
      try forEachRow(of: statement) { columns in
        for column in 0..<columns { Self.add(statement, column, to: &sum) }
      }
    }
    return sum
  }

  /// Returns the plan of each for the query.
  func plans(of query: Question) async throws -> (cambium: QueryPlan, sqlite: [String]) {
    let plan = try await container.performBackgroundTask { try query.explain($0) }
    let statement = try database.prepare("EXPLAIN QUERY PLAN " + query.sql)
    var lines: [String] = []
    try forEachRow(of: statement) { _ in lines.append(String(cString: sqlite3_column_text(statement, 3))) }
    return (plan, lines)
  }

  private func forEachRow(of statement: OpaquePointer, _ body: (Int32) -> Void) throws {
    defer { sqlite3_reset(statement) }
    var status = sqlite3_step(statement)
    while status == SQLITE_ROW {
      body(sqlite3_column_count(statement))
      status = sqlite3_step(statement)
    }
    guard status == SQLITE_DONE else { throw database.failure() }
  }

  /// Adds a column in the way ``Question`` adds the same value.
  private static func add(_ row: OpaquePointer, _ column: Int32, to sum: inout Checksum) {
    switch sqlite3_column_type(row, column) {
    case SQLITE_INTEGER: sum.add(Int(sqlite3_column_int64(row, column)))
    case SQLITE_FLOAT: sum.add(average: sqlite3_column_double(row, column))
    case SQLITE_TEXT:
      let bytes = UnsafeRawBufferPointer(
        start: sqlite3_column_text(row, column),
        count: Int(sqlite3_column_bytes(row, column))
      )
      sum.add(bytes)
    default: sum.add(Int?.none)
    }
  }
}
