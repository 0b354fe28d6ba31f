import Glibc
import Logging
import Synchronization
@_spi(Testing) import TestSupport
import Testing

@_spi(Testing) @testable import PageStore

/// The events that a store logs if its environment has a logger.
struct EventTests {
  /// Lines as they were logged.
  private final class Lines: Sendable {
    private let content = Mutex<[String]>([])

    var all: [String] { content.withLock { $0 } }

    func add(_ line: String) { content.withLock { $0.append(line) } }
  }

  private struct Handler: LogHandler {
    let lines: Lines
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.debug

    init(_ lines: Lines) { self.lines = lines }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { lines.add("\(event.level): \(event.message)") }
  }

  @Test func eventsAreLogged() throws {
    let lines = Lines()
    let fixture = StoreFixture()
    var environment = fixture.environment
    environment.logger = Logger(label: "test") { _ in Handler(lines) }
    func open(_ disk: SimulatedDisk) throws -> Store {
      try Store.open(file: disk, path: "test", options: fixture.options, environment: environment)
    }
    let store = try open(fixture.disk)
    for round in 0..<3 { try store.put("key", "\(round)") }
    try store.checkpointConcurrently()
    #expect(lines.all == ["debug: opened", "debug: wrote a checkpoint"])

    let later = try open(fixture.disk.afterProcessDeath())
    try later.close()
    // Closing it makes the file shorter, which takes checkpoints.
    #expect(lines.all.dropFirst(2).first == "debug: opened")
    #expect(Set(lines.all.dropFirst(3)) == ["debug: wrote a checkpoint", "debug: closed"])
    #expect(lines.all.last == "debug: closed")

    try store.put("key", "3")
    let crashed = SimulatedDisk(fixture.disk.crashPoint.image(.allLost, seed: 0))
    _ = try open(crashed)
    #expect(lines.all.contains("info: opened, and replayed the log"))

    fixture.disk.inject(DiskFault(.writeDurably, at: 0, .error(EIO)))
    #expect(code { try store.put("key", "4") } == .outcomeUnknown)
    #expect(lines.all.last == "error: the store refuses to write until it is opened again")
  }
}
