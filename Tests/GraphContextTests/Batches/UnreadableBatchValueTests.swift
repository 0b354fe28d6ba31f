import Cambium
import Testing

/// A batch refuses a value that its type can't read back, as other ways to write do: the next fetch would throw
/// `corrupt`.
struct UnreadableBatchValueTests {
  private let container: PersistentContainer
  private let good: PickyMail
  private let bad: PickyMail

  init() async throws {
    container = try await PersistentContainer("Mails", models: MailTaker.self, at: .inMemory)
    good = try #require(PickyMail(rawValue: "a@b.c"))
    var bad = good
    bad.rawValue = "oops"
    self.bad = bad
  }

  private func mails() async throws -> [String] {
    try await container.query { context in try context.fetch(From<MailTaker>()).map(\.mail.rawValue) }
  }

  @Test func insertionRefusesIt() async throws {
    let rows = [good, bad, good, bad]
    let error = await #expect(throws: ContextError.self) {
      try await container.batchInsert(MailTaker.self, from: rows, .set(\.mail) { $0 })
    }
    #expect(error?.code == .wrongValue && error?.failures.count == 2)
    #expect(error?.context.properties == ["mail"])
    #expect(try await mails() == [])
    try await container.batchInsert(MailTaker.self, from: [good], .set(\.mail) { $0 })
    #expect(try await mails() == ["a@b.c"])
  }

  @Test func insertionOfValuesRefusesIt() async throws {
    let values = [MailTaker.Values(mail: good), MailTaker.Values(mail: bad)]
    let error = await #expect(throws: ContextError.self) { try await container.batchInsert(values) }
    #expect(error?.code == .wrongValue)
    #expect(try await mails() == [])
  }

  @Test func anUpdateRefusesIt() async throws {
    try await container.batchInsert(MailTaker.self, from: [good], .set(\.mail) { $0 })
    let error = await #expect(throws: ContextError.self) {
      try await container.batchUpdate(From<MailTaker>(), .set(\.mail, to: bad))
    }
    #expect(error?.code == .wrongValue && error?.context.properties == ["mail"])
    #expect(try await mails() == ["a@b.c"])
  }
}
