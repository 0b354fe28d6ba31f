import Cambium
import Dispatch
import GraphTestSupport
import Testing

@testable import GraphContext
@testable import PageStore

/// Two threads acknowledge for one consumer.
struct AcknowledgingTests {
  @Test func aConsumerNeverMovesBack() async throws {
    let library = try await Library.open()
    try await library.keepHistory()
    _ = try await library.registerHistoryConsumer("index")
    for name in ["a", "b"] { try await library.write { $0.insert(Writer(name)) } }
    let tokens = try await library.history().map(\.token)
    let (earlier, later) = (try #require(tokens.first), try #require(tokens.last))
    #expect(earlier < later)
    let store = library.store
    let turn = try await Task.detached { try store.reserveTurn(timeout: nil, patience: .seconds(86_400)) }
      .value
    // Both threads read the consumer's position before either of them writes.
    var acknowledgements: [Task<Void, any Error>] = []
    for (count, token) in [later, earlier].enumerated() {
      let engine = library.handle.engine
      acknowledgements.append(
        Task {
          try await DispatchQueue.global().run { () throws(ContextError) in
            try ContextError.mapping { try engine.acknowledgeHistory(through: token, by: "index", nil) }
          }
        }
      )
      while store.writerLock.sleeperCount <= count { try await Task.sleep(for: .milliseconds(1)) }
    }
    store.cancel(turn)
    for acknowledgement in acknowledgements { try await acknowledgement.value }
    #expect(try library.historyConsumers == ["index": later])
  }
}
