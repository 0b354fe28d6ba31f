import Cambium
import Foundation
import Synchronization
import TestSupport
import Testing

/// Values that the insertion makes.
struct InsertionDefaultTests {
  /// Counts the calls of a closure, for each of its names.
  enum Calls {
    static let counts = Mutex([String: Int]())
    static func next(_ name: String) -> Int {
      counts.withLock { counts in
        counts[name, default: 0] += 1
        return counts[name] ?? 0
      }
    }
  }

  @Model final class Ticket {
    var title: String
    @Attribute(.perInsert { UUID() }) var token: UUID
    @Attribute(.perInsert { Calls.next("number") }, .unique) var number: Int
    @Attribute(.perInsert({ "new" })) var state: String?
    init(_ title: String) { self.title = title }
    init(_ title: String, token: UUID) {
      self.title = title
      self.token = token
    }
  }

  private func container(_ folder: TemporaryFolder) async throws -> PersistentContainer {
    try await PersistentContainer(
      "Tickets",
      models: Ticket.self,
      at: URL(fileURLWithPath: folder.file("tickets.cambium"))
    )
  }

  @Test func eachObjectGetsItsOwn() async throws {
    let folder = try TemporaryFolder()
    let tickets = try await container(folder)
    let given = UUID()
    try await tickets.performBackgroundTask { context in
      let first = Ticket("A")
      let token = first.token
      let second = Ticket("B", token: given)
      let third = Ticket("C")
      third.state = nil
      #expect(first.token == token && second.token == given)
      for ticket in [first, second, third] { context.insert(ticket) }
      #expect(first.token == token && second.token == given)
      #expect(third.token != token && third.state == nil && first.state == "new")
      #expect(Set([first, second, third].map(\.number)).count == 3)
      context.rollback()
      #expect(first.token == token)
      for ticket in [first, second, third] { context.insert(ticket) }
      try context.save()
      let calls = Calls.counts.withLock { $0["number"] }
      #expect(calls == 3)
    }
    try await tickets.performBackgroundTask { context in
      let found = try context.fetch(From<Ticket>().orderBy(.ascending(\.title)))
      #expect(found[1].token == given && found[2].state == nil && found[0].state == "new")
      #expect(Calls.counts.withLock { $0["number"] } == 3, "none is made for objects that are read")
    }
    let ids = try await tickets.batchInsert(Ticket.self, from: ["D", "E"], .set(\.title) { $0 })
    #expect(ids.count == 2)
    try await tickets.performBackgroundTask { context in
      let found = try context.fetch(From<Ticket>().orderBy(.ascending(\.title)))
      #expect(Set(found.map(\.token)).count == 5 && Set(found.map(\.number)).count == 5)
    }
  }
}
