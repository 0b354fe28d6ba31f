import Foundation
import Logging
import Predicates
import Synchronization

/// A line in a log for each query of a store: its plan, the counts of its reads, and its duration.
///
/// ```swift
/// container.queryLog = QueryLog(logger, level: .debug, slowerThan: .milliseconds(5))
/// ```
///
/// The message has the entity, the access path, the number of rows and the time. Metadata has the whole plan (`plan`),
/// unless the container was opened with `showsValuesInErrors: false`: a plan shows the values that a condition compares
/// with. Reading properties of objects that the program already has is no query.
///
/// A query that is logged is planned twice. Without a log, or if the logger's level leaves the lines out, the only cost
/// for a query is reading a flag.
public struct QueryLog: Sendable {
  /// The logger that gets the lines.
  public var logger: Logger
  /// The level of the lines.
  public var level: Logger.Level
  /// The shortest time for a line: queries that take less time have none.
  public var threshold: Duration

  /// Makes a log of all queries that take at least `threshold`.
  public init(_ logger: Logger, level: Logger.Level = .debug, slowerThan threshold: Duration = .zero) {
    self.logger = logger
    self.level = level
    self.threshold = threshold
  }

  /// Returns the log that the environment asks for: `CAMBIUM_QUERY_LOG=5` logs queries of five milliseconds and
  /// more, at the level `info`. Nil for a value that is no number of milliseconds, such as `off`.
  static func asked(by environment: [String: String]) -> QueryLog? {
    guard let milliseconds = environment["CAMBIUM_QUERY_LOG"].flatMap(Int.init), milliseconds >= 0 else {
      return nil
    }
    let logger = Logger(label: "cambium.queries")
    return QueryLog(logger, level: .info, slowerThan: .milliseconds(milliseconds))
  }

  fileprivate var isHeard: Bool { logger.logLevel <= level }

  fileprivate func tell(of plan: QueryPlan, showsValues: Bool) {
    let nanoseconds = plan.measurement?.nanoseconds ?? .max
    if Duration.nanoseconds(nanoseconds) < threshold { return }
    logger.log(level: level, "\(plan.summary)", metadata: showsValues ? ["plan": "\(plan)"] : nil)
  }
}

extension QueryPlan {
  /// The plan in a line, without the values that conditions compare with.
  fileprivate var summary: String {
    let indexes = Set(ranges.map(\.index)).sorted()
    let way = indexes.isEmpty ? "" : " of \(indexes.joined(separator: ", "))"
    guard let measurement else { return "\(entity): \(access.rawValue)\(way), read row by row" }
    let milliseconds = Double(measurement.nanoseconds / 1_000) / 1_000
    return "\(entity): \(access.rawValue)\(way), \(measurement.rowsMatched) rows in \(milliseconds) ms; "
      + "\(measurement.rowsRead) rows read, \(measurement.entriesWalked) entries walked, "
      + "\(measurement.recordsLookedUp) records looked up"
  }
}

/// The log of a store's queries, which its containers set and its views write to.
final class QueryLogging: Sendable {
  private let isOn: Atomic<Bool>
  private let log: Mutex<QueryLog?>
  private let showsValues = Atomic(true)

  init(_ log: QueryLog?) {
    isOn = Atomic(log != nil)
    self.log = Mutex(log)
  }

  var current: QueryLog? {
    get { isOn.load(ordering: .relaxed) ? log.withLock { $0 } : nil }
    set {
      log.withLock { $0 = newValue }
      isOn.store(newValue != nil, ordering: .relaxed)
    }
  }

  func hideValues() { showsValues.store(false, ordering: .relaxed) }

  /// Runs a query, and logs it if a log is set.
  ///
  /// - Parameters:
  ///   - source: the source that the query reads.
  ///   - count: returns the number of rows of a result.
  func run<Rows>(
    _ request: @autoclosure () -> ResolvedRequest,
    on source: any ObjectSource,
    over layers: UnsavedLayers?,
    count: (Rows) -> Int,
    _ body: () throws(ContextError) -> Rows
  ) throws(ContextError) -> Rows {
    guard let current, current.isHeard else { return try body() }
    let plan = try source.plan(of: request(), over: layers)
    let (measured, rows) = try plan.measured(on: source, count: count, body)
    current.tell(of: measured, showsValues: showsValues.load(ordering: .relaxed))
    return rows
  }

  /// Logs a query whose rows the program reads one by one.
  func tell(
    of query: ResolvedQuery,
    on source: any ObjectSource,
    over layers: UnsavedLayers?
  ) throws(ContextError) {
    guard let current, current.isHeard, current.threshold == .zero else { return }
    let plan = try source.plan(of: .objects(query), over: layers)
    current.tell(of: plan, showsValues: showsValues.load(ordering: .relaxed))
  }
}

extension PersistentContainer {
  /// The log of the store's queries, for all containers of the process on the store; nil by default. A program can
  /// set it, or the environment: `CAMBIUM_QUERY_LOG=5` logs queries of five milliseconds and more.
  public var queryLog: QueryLog? {
    get { handle.engine.queryLogging.current }
    set { handle.engine.queryLogging.current = newValue }
  }
}
