import Cambium
import Foundation
import TestSupport
import Testing

@testable import GraphContext

@Model private final class Peer {
  var name: String
  @Relationship(deleteRule: .deny, inverse: .itself) var peers: Set<Peer> = []
  init(_ name: String) { self.name = name }
}

/// Many-to-many relationships that deny deletions at both ends.
struct DeniedPairTests {
  private let container: PersistentContainer

  init() async throws {
    container = try await PersistentContainer("Peers", models: Peer.self, at: .inMemory)
    try await container.write { context in
      let peers = ["a", "b", "c"].map { Peer($0) }
      peers.forEach { context.insert($0) }
      peers[0].peers = [peers[1]]
    }
  }

  private func expect(_ names: [String]) async throws {
    let found = try await container.query { try $0.fetch(From<Peer>().orderBy(\.name)).map(\.name) }
    #expect(found == names)
    #expect(try await container.verify().map(\.description) == [])
  }

  @Test func aResetIsNotDenied() async throws {
    try await container.resetStore()
    try await expect([])
  }

  @Test func aBatchDeletesBothEnds() async throws {
    let pair = From<Peer>().where { $0.name != "c" }
    try await container.batchDelete(pair)
    try await expect(["c"])
  }

  @Test func aSaveDeletesBothEnds() async throws {
    try await container.write { context in
      for peer in try context.fetch(From<Peer>().where { $0.name != "c" }) { context.delete(peer) }
    }
    try await expect(["c"])
  }

  @Test func oneEndIsDenied() async throws {
    let one = From<Peer>().where { $0.name == "a" }
    let error = await #expect(throws: ContextError.self) { try await container.batchDelete(one) }
    #expect(error?.code == .deletionDenied)
    try await expect(["a", "b", "c"])
  }
}
