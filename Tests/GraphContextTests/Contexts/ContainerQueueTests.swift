import Cambium
import Dispatch
import Foundation
import GraphTestSupport
import TestSupport
import Testing

/// Containers whose work runs on a queue of the program's own.
struct ContainerQueueTests {
  private static let key = DispatchSpecificKey<String>()

  private static func queue(_ name: String) -> DispatchQueue {
    let queue = DispatchQueue(label: name)
    queue.setSpecific(key: key, value: name)
    return queue
  }

  private func open(
    _ name: String,
    at location: StoreLocation = .inMemory
  ) async throws -> PersistentContainer {
    try await PersistentContainer(
      "Library",
      models: Library.models,
      at: location,
      queue: Self.queue(name)
    )
  }

  @Test func blocksRunOnTheQueue() async throws {
    let library = try await open("own")
    let writing = try await library.write { context in
      context.insert(Writer("a"))
      return DispatchQueue.getSpecific(key: Self.key)
    }
    let reading = try await library.query { context in
      _ = try context.count(From<Writer>())
      return DispatchQueue.getSpecific(key: Self.key)
    }
    let working = try await library.performBackgroundTask { _ in DispatchQueue.getSpecific(key: Self.key) }
    #expect([writing, reading, working] == ["own", "own", "own"])
    let blocking = try library.writeAndWait { context in
      context.insert(Writer("b"))
      return DispatchQueue.getSpecific(key: Self.key)
    }
    #expect(blocking == "own")
    #expect(try await library.batchUpdate(From<Writer>(), .set(\.rank, to: 1)).count == 2)
  }

  /// Blocks that write take turns: all writing blocks of a store run on one queue.
  @Test func theFirstContainerDecidesWhereBlocksWrite() async throws {
    let folder = try TemporaryFolder()
    let location = StoreLocation.file(URL(fileURLWithPath: folder.file("library.cambium")))
    let first = try await open("first", at: location)
    let second = try await open("second", at: location)
    let writing = try await second.write { context in
      context.insert(Writer("a"))
      return DispatchQueue.getSpecific(key: Self.key)
    }
    let reading = try await second.query { _ in DispatchQueue.getSpecific(key: Self.key) }
    #expect(writing == "first" && reading == "second")
    #expect(try await first.query { try $0.count(From<Writer>()) } == 1)
  }
}
