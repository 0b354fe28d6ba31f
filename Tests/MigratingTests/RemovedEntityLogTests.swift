import Foundation
import GraphTestSupport
import Logging
import PageStore
import Predicates
import Synchronization
import Testing

@testable import GraphContext

/// The log records of removed entities.
struct RemovedEntityLogTests {
  private final class Lines: Sendable {
    private let content = Mutex<[String]>([])

    var all: [String] { content.withLock { $0 } }

    func add(_ line: String) { content.withLock { $0.append(line) } }
  }

  private struct Handler: LogHandler {
    let lines: Lines
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.notice

    init(_ lines: Lines) { self.lines = lines }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      let metadata = event.metadata ?? [:]
      lines.add(
        "\(event.level): \(event.message); \(metadata["entity", default: ""]), \(metadata["objects", default: ""])"
      )
    }
  }

  @Test func anEntityThatIsRemovedIsLogged() async throws {
    let store = try ChangingStore()
    let name = attribute("name", .string)
    try await store.open(entity("Song", [name]), entity("Album", [name]), entity("Fan", [name])) {
      context throws in
      for title in ["Carey", "River"] { try context.make("Song", ["name": .string(title)]) }
      try context.make("Fan", ["name": .string("Ada")])
    }
    let lines = Lines()
    for _ in 0..<2 {
      let container = try await PersistentContainer(
        "Songs",
        schema: try Schema(entities: [entity("Album", [name]), entity("Listener", was: "Fan", [name])]),
        at: store.url,
        logger: Logger(label: "test") { _ in Handler(lines) }
      )
      try await container.close()
    }
    #expect(lines.all == ["notice: removed an entity that is not among the models, and its objects; Song, 2"])
  }
}
