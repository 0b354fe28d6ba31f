import Cambium
import Logging
import Synchronization
import Testing

@testable import GraphContext

/// Lines about queries.
struct QueryLogTests {
  private final class Lines: Sendable {
    let texts = Synchronization.Mutex<[(message: String, plan: String?)]>([])

    func take() -> [(message: String, plan: String?)] {
      texts.withLock { texts in
        defer { texts = [] }
        return texts
      }
    }

    func logger(level: Logger.Level = .trace) -> Logger {
      var logger = Logger(label: "test") { _ in Handler(lines: self) }
      logger.logLevel = level
      return logger
    }
  }

  private struct Handler: LogHandler {
    let lines: Lines
    var logLevel = Logger.Level.trace
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      lines.texts.withLock { $0.append(("\(event.message)", event.metadata?["plan"].map { "\($0)" })) }
    }
  }

  @Test func theEnvironmentAsksForMilliseconds() {
    #expect(QueryLog.asked(by: ["CAMBIUM_QUERY_LOG": "5"])?.threshold == .milliseconds(5))
    #expect(QueryLog.asked(by: ["CAMBIUM_QUERY_LOG": "0"])?.threshold == .zero)
    for value in ["off", "", "-1", "5ms"] {
      #expect(QueryLog.asked(by: ["CAMBIUM_QUERY_LOG": value])?.threshold == nil)
    }
    #expect(QueryLog.asked(by: [:])?.threshold == nil)
  }

  private func queries(in container: PersistentContainer) async throws {
    let counts = try await container.query { context in
      let short = From<Song>().where { $0.seconds < 3 }
      let named = From<Song>().where { $0.title == "a" }
      var query = DynamicQuery("Song")
      query.groupBy = ["title"]
      let shortCount = try context.fetch(short).count
      let namedCount = try context.count(named)
      let groupCount = try context.groups(of: query).count
      let titleCount = try context.fetch(From<Song>().select(\.title)).count
      return [shortCount, namedCount, groupCount, titleCount]
    }
    #expect(counts == [2, 1, 60, 60])
  }

  @Test func eachQueryHasALine() async throws {
    let container = try await Records.open(seconds: Array(1...60))
    let lines = Lines()
    container.queryLog = QueryLog(lines.logger())
    try await queries(in: container)
    let told = lines.take()
    #expect(told.count == 4)
    #expect(told.first?.message.hasPrefix("Song: index range of seconds, 2 rows in ") == true)
    #expect(told.first?.plan?.contains("seconds <= 2") == true)
    #expect(
      told.dropFirst().first?.message.hasSuffix("; 60 rows read, 0 entries walked, 0 records looked up")
        == true
    )
    container.queryLog = nil
    try await queries(in: container)
    #expect(lines.take().isEmpty)
  }

  @Test func quickQueriesAndOtherLevelsHaveNone() async throws {
    let container = try await Records.open(seconds: Array(1...60))
    let lines = Lines()
    container.queryLog = QueryLog(lines.logger(), slowerThan: .seconds(60))
    try await queries(in: container)
    container.queryLog = QueryLog(lines.logger(level: .warning), level: .debug)
    try await queries(in: container)
    #expect(lines.take().isEmpty)
  }

  @Test func valuesStayOutWhereErrorsHaveNone() async throws {
    let container = try await Records.open(.inMemory, showsValuesInErrors: false)
    try await container.write { context in
      for seconds in [30, 10, 20] { context.insert(Song("a", seconds: seconds)) }
    }
    let lines = Lines()
    container.queryLog = QueryLog(lines.logger())
    let shortCount = try await container.query { context in
      try context.fetch(From<Song>().where { $0.seconds < 7_654_321 }).count
    }
    #expect(shortCount == 3)
    let told = lines.take()
    #expect(told.count == 1)
    #expect(told.allSatisfy { $0.plan == nil && !$0.message.contains("7654321") })
  }

  @Test func aQueryThatIsReadRowByRowHasItsLineToo() async throws {
    let container = try await Records.open(seconds: Array(1...60))
    let lines = Lines()
    container.queryLog = QueryLog(lines.logger())
    try await container.query { context in try context.forEach(From<Song>()) { _ in } }
    #expect(lines.take().contains { $0.message == "Song: full scan, read row by row" })
  }
}
