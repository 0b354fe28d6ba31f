import Cambium
import CambiumFlow
import Dispatch
import Synchronization
import Testing

/// A live request whose consumer stops reading doesn't keep every difference.
struct SlowConsumerTests {
  @Test(.timeLimit(.minutes(60))) @MainActor func aConsumerThatIsFarBehindGetsAllElements() async throws {
    let container = try Shelf().lazy()
    let view = try await container.container().viewContext
    let track = Track("t")
    view.insert(track)
    let controller = StoreController<Track.Values>(container, following: .viewContext)
    let results = Mutex<[String]>([])
    let (told, telling) = AsyncStream<Void>.makeStream()
    let goesOn = DispatchSemaphore(value: 0)
    let task = Task.detached {
      try await controller.follow(.all) { result in
        let text =
          switch result {
          case .elements(let elements): "\(elements.map(\.plays))"
          case .difference: "difference"
          }
        let count = results.withLock { results in
          results.append(text)
          return results.count
        }
        telling.yield()
        if count == 1 { goesOn.wait() }
      }
    }
    var iterator = told.makeAsyncIterator()
    await iterator.next()
    for plays in 1...100 {
      track.plays = plays
      view.processPendingChanges()
    }
    goesOn.signal()
    await iterator.next()
    #expect(results.withLock { $0 } == ["[0]", "[100]"])
    task.cancel()
    try await task.value
  }
}
