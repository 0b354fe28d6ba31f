import Cambium
import Foundation
import Testing

// Quoted in Docs/History.md
@Model final class Contact {
  @Attribute(.preserveValueOnDeletion) var uuid: UUID
  var name: String
  var mail: String?

  init(name: String) {
    uuid = UUID()
    self.name = name
  }
}
// End of quotation

/// What is sent to a server.
actor Outbox {
  private(set) var lines: [String] = []
  func send(_ line: String) { lines.append(line) }
}

// Quoted in Docs/History.md
/// Sends what has changed since the last time, but not what came from the server.
func upload(_ contacts: PersistentContainer, to server: Outbox) async throws {
  var token = try await contacts.registerHistoryConsumer("upload")
  let query = HistoryQuery(after: token, entities: [Contact.entityName], excludingAuthors: ["server"])
  for transaction in try await contacts.history(query) {
    for change in transaction.changes {
      switch change.kind {
      case .inserted: await server.send("new \(change.objectID.number)")
      case .updated: await server.send("changed \(change.properties) of \(change.objectID.number)")
      case .deleted: await server.send("deleted \(change.tombstone["uuid", default: .null])")
      }
    }
    token = transaction.token
  }
  try await contacts.acknowledgeHistory(through: token, by: "upload")
}
// End of quotation

// Quoted in Docs/History.md
/// The changes since a token that an earlier run has kept; nil if everything has to be read anew.
@MainActor func changes(
  since token: HistoryToken,
  in contacts: PersistentContainer
) async throws -> ObjectChanges? {
  do {
    return try contacts.viewContext.merge(try await contacts.history(HistoryQuery(after: token)))
  } catch {
    guard error.code == .historyExpired else { throw error }
    return nil
  }
}
// End of quotation

struct HistoryGuideTests {
  @Test @MainActor func theGuideDoesWhatItSays() async throws {
    // Quoted in Docs/History.md
    let contacts = try await PersistentContainer("Contacts", models: Contact.self, at: .inMemory)
    try await contacts.keepHistory()
    let token = try contacts.newestHistoryToken()
    try await contacts.write { context in
      (context.author, context.name) = ("editor", "main window")
      context.insert(Contact(name: "Ada"))
    }
    // End of quotation
    try await contacts.write { context in
      context.author = "server"
      context.insert(Contact(name: "Grace"))
    }
    try await contacts.write {
      try $0.fetch(From<Contact>().where { $0.name == "Ada" }).first?.mail = "a@b.c"
    }
    let uuid = try await contacts.query { try $0.fetch(From<Contact>()).first?.uuid }
    try await contacts.batchDelete(From<Contact>().where { $0.name == "Ada" })
    let server = Outbox()
    try await upload(contacts, to: server)
    let lines = await server.lines
    #expect(lines.count == 3 && lines[0] == "new 1" && lines[1] == "changed [\"mail\"] of 1")
    #expect(uuid.map { lines[2].contains($0.uuidString) } == true, "\(lines)")
    try await upload(contacts, to: server)
    #expect(await server.lines.count == 3)

    let merged = try #require(try await changes(since: token, in: contacts))
    #expect(merged.inserted.count == 1 && merged.updated.isEmpty && merged.deleted.isEmpty)
    try await contacts.pruneHistory(before: contacts.newestHistoryToken())
    #expect(try await changes(since: token, in: contacts) == nil)
  }
}
