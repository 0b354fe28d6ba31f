import Cambium
import Foundation
import GraphTestSupport
import TestSupport
import Testing

private enum OlderTickets {
  final class Ticket: StoredObject {
    @Stored var code: Int = 0
  }
}

private enum NewerTickets {
  final class Ticket: StoredObject {
    @Stored var code: Int = 0
    @Stored(.perInsert { "new" }) var origin: String = "old"
  }
}

/// Beside `.perInsert`, the initial value of a property with a wrapper is that of older objects alone.
struct WrappedFirstValueTests {
  @Test func theClosureMakesTheValueOfNewObjects() async throws {
    let folder = try TemporaryFolder()
    let url = URL(fileURLWithPath: folder.file("tickets.cambium"))
    let older = try await PersistentContainer("Tickets", models: OlderTickets.Ticket.self, at: url)
    try await older.batchInsert(OlderTickets.Ticket.self, from: 0..<1, .set(\.code) { $0 })
    try await older.close()
    let newer = try await PersistentContainer("Tickets", models: NewerTickets.Ticket.self, at: url)
    try await newer.batchInsert(NewerTickets.Ticket.self, from: 1..<2, .set(\.code) { $0 })
    let context = try newer.context()
    let tickets = (2..<5).map { code in
      let ticket = NewerTickets.Ticket()
      ticket.code = code
      return ticket
    }
    #expect(tickets[0].origin == "new")
    tickets[1].origin = "mine"
    for ticket in tickets { context.insert(ticket) }
    try context.save()
    let all = try context.fetch(From<NewerTickets.Ticket>().orderBy(.ascending(\.code)))
    #expect(all.map(\.origin) == ["old", "new", "new", "mine", "new"])
  }
}
