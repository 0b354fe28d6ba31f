import Cambium
import Synchronization
import Testing

@Model final class SpareMailTaker {
  var rank: Int
  var mail: PickyMail?
  var sent: Int = 0

  init(_ rank: Int, _ mail: PickyMail?) {
    self.rank = rank
    self.mail = mail
  }
}

/// An address that counts how often one is made from its stored form.
struct CountedMail: RawRepresentable, AttributeType, Hashable {
  static let readCount = Mutex(0)

  var rawValue: String

  init?(rawValue: String) {
    Self.readCount.withLock { $0 += 1 }
    self.rawValue = rawValue
  }

  static var tracerValue: CountedMail? { CountedMail(rawValue: "nobody@example.org") }
}

@Model final class CountedMailTaker {
  var mail: CountedMail
  init(_ mail: CountedMail) { self.mail = mail }
}

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

  /// A value that all objects get is tried before the update, not once for each object.
  @Test func anUpdateTriesAConstantOnce() async throws {
    let container = try await PersistentContainer("Counted", models: CountedMailTaker.self, at: .inMemory)
    let old = try #require(CountedMail(rawValue: "a@b.c"))
    try await container.write { context in
      for _ in 0..<100 { context.insert(CountedMailTaker(old)) }
    }
    let new = try #require(CountedMail(rawValue: "d@e.f"))
    let before = CountedMail.readCount.withLock { $0 }
    let updated = try await container.batchUpdate(From<CountedMailTaker>(), .set(\.mail, to: new))
    let readCount = CountedMail.readCount.withLock { $0 } - before
    #expect(updated.count == 100 && readCount < 50)
  }

  // MARK: Values that are calculated

  private typealias Takers = ValueExpression<SpareMailTaker, SpareMailTaker>

  /// Returns a store with three objects, of which the first has an address.
  private func spares() async throws -> PersistentContainer {
    let container = try await PersistentContainer("Spares", models: SpareMailTaker.self, at: .inMemory)
    let mail = good
    try await container.write { context in
      for rank in 0..<3 { context.insert(SpareMailTaker(rank, rank == 0 ? mail : nil)) }
    }
    return container
  }

  private func stored(_ container: PersistentContainer) async throws -> [String] {
    try await container.query { context in
      try context.fetch(From<SpareMailTaker>().orderBy(\.rank)).map {
        "\($0.mail?.rawValue ?? "-") \($0.sent)"
      }
    }
  }

  @Test func anUpdateRefusesACalculatedOne() async throws {
    let (container, bad) = (try await spares(), bad)
    let calculated: (Takers) -> ValueExpression<SpareMailTaker, PickyMail> = { $0.mail ?? bad }
    let error = await #expect(throws: ContextError.self) {
      try await container.batchUpdate(From<SpareMailTaker>(), .set(\.mail, calculated), .set(\.sent, to: 1))
    }
    #expect(error?.code == .wrongValue && error?.failures.count == 2)
    #expect(error?.context.properties == ["mail"] && error?.context.objectID != nil)
    #expect(try await stored(container) == ["a@b.c 0", "- 0", "- 0"])
  }

  @Test func theChunksBeforeACalculatedOneAreStored() async throws {
    let (container, bad) = (try await spares(), bad)
    let calculated: (Takers) -> ValueExpression<SpareMailTaker, PickyMail> = { $0.mail ?? bad }
    let error = await #expect(throws: ContextError.self) {
      try await container.batchUpdate(
        From<SpareMailTaker>(),
        .set(\.mail, calculated),
        .set(\.sent, to: 1),
        chunkSize: 1
      )
    }
    #expect(error?.code == .wrongValue && error?.committedIDs.count == 1)
    #expect(try await stored(container) == ["a@b.c 1", "- 0", "- 0"])
  }

  @Test func anUpdateTakesAReadableCalculatedOne() async throws {
    let (container, good) = (try await spares(), good)
    let calculated: (Takers) -> ValueExpression<SpareMailTaker, PickyMail> = { $0.mail ?? good }
    try await container.batchUpdate(From<SpareMailTaker>(), .set(\.mail, calculated))
    #expect(try await stored(container) == ["a@b.c 0", "a@b.c 0", "a@b.c 0"])
  }
}
