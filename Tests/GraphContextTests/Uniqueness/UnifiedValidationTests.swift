import Cambium
import GraphTestSupport
import Testing

@testable import GraphContext

@Model final class UniqueTicket {
  @Attribute(.unique(ifExists: .merge)) var code: String
  var price: Int = 0
  var limit: Int = 100
  var seat: String?

  init(_ code: String, price: Int = 0) {
    self.code = code
    self.price = price
  }

  func validateForUpdate() throws {
    TicketCalls.current?.list.append("\(code) \(price) \(changedValues.keys.sorted())")
    TicketCalls.current?.action?()
    if price > limit { throw ValidationError("too much", properties: ["price"]) }
  }
}

/// The calls of a validation in one test.
// Sendable: a test is one task, and its hooks run in it.
final class TicketCalls: @unchecked Sendable {
  @TaskLocal static var current: TicketCalls?
  var list: [String] = []
  var action: (() -> Void)?
}

/// An existing object that a policy changes is validated with the values that it gets.
struct UnifiedValidationTests {
  private let store: PersistentContainer
  private let context: ManagedObjectContext
  private let calls = TicketCalls()

  init() async throws {
    store = try await PersistentContainer("Tickets", models: [UniqueTicket.self], at: .inMemory)
    context = try store.context()
    context.insert(UniqueTicket("A", price: 10))
    try context.save()
  }

  private func save(_ tickets: UniqueTicket..., ifExists policy: UniquePolicy? = nil) throws {
    for ticket in tickets { context.insert(ticket) }
    try TicketCalls.$current.withValue(calls) { try context.save(ifExists: policy) }
  }

  private func prices() throws -> [String: Int] {
    let reader = try store.context()
    defer { reader.end() }
    return Dictionary(
      uniqueKeysWithValues: try reader.fetch(From<UniqueTicket>()).map { ($0.code, $0.price) }
    )
  }

  @Test func itSeesTheMergedValues() throws {
    try save(UniqueTicket("A", price: 20), UniqueTicket("B", price: 1))
    #expect(calls.list == ["A 20 [\"price\"]"])
    #expect(try prices() == ["A": 20, "B": 1])
    // The existing ticket doesn't change.
    try save(UniqueTicket("A", price: 30), ifExists: .keep)
    #expect(calls.list.count == 1)
  }

  @Test func itRefusesTheSaveAmongOtherFailures() throws {
    let ticket = UniqueTicket("A", price: 200)
    let error = #expect(throws: ContextError.self) { try save(ticket, UniqueTicket("C", price: 3)) }
    #expect(error?.code == .validationFailed && error?.context.properties == ["price"])
    #expect(error?.context.objectID?.number == 1 && ticket.isInserted)
    #expect(try prices() == ["A": 10])
    ticket.price = 50
    try save()
    #expect(calls.list.count == 2)
    #expect(try prices() == ["A": 50, "C": 3])
  }

  /// Changes that a validation makes in the saving context are saved, and their hooks are called. A save from the
  /// validation is refused.
  @Test func aValidationMayChangeTheContextAndNotSaveIt() throws {
    let other = UniqueTicket("B", price: 5)
    try save(other)
    var codes: [ContextError.Code] = []
    calls.action = { [calls, context] in
      calls.action = nil
      other.limit = -1
      do throws(ContextError) { try context.save() } catch { codes.append(error.code) }
    }
    let error = #expect(throws: ContextError.self) { try save(UniqueTicket("A", price: 20)) }
    #expect(codes == [.saveNotAllowed])
    #expect(error?.code == .validationFailed && error?.context.objectID == other.objectID)
    #expect(try prices() == ["A": 10, "B": 5])
  }

  /// If another context changes the object after its validation, the object is validated again.
  @Test(arguments: [1, 2 * SaveValidations.roundLimit]) func itIsValidatedAgainAfterACommitInBetween(
    times: Int
  ) throws {
    let other = try store.context()
    defer { other.end() }
    var rest = times
    calls.action = {
      if rest == 0 { return }
      rest -= 1
      TicketCalls.$current.withValue(nil) {
        #expect(throws: Never.self) {
          try other.refresh()
          try other.fetch(From<UniqueTicket>().where { $0.code == "A" })[0].seat = "\(rest)"
          try other.save()
        }
      }
    }
    if times == 1 {
      try save(UniqueTicket("A", price: 20))
      #expect(calls.list == ["A 20 [\"price\"]", "A 20 [\"price\"]"])
      #expect(try prices() == ["A": 20])
    } else {
      let error = #expect(throws: ContextError.self) { try save(UniqueTicket("A", price: 20)) }
      #expect(error?.code == .conflict && calls.list.count == SaveValidations.roundLimit)
    }
  }

  @MainActor @Test func aSaveThatDoesNotBlockValidatesToo() async throws {
    let view = store.viewContext
    view.insert(UniqueTicket("A", price: 200))
    let error = await #expect(throws: ContextError.self) { try await view.saveWithoutBlocking() }
    #expect(error?.code == .validationFailed)
  }

  /// Of two equal new objects the first counts as the existing one, and gets values of the other.
  @Test func newObjectsThatAreMixedAreValidated() async throws {
    let store = try await PersistentContainer("Rotas", models: Rota.self, RotaWeek.self, at: .inMemory)
    let context = try store.context()
    defer { context.end() }
    let (first, second) = (Rota("x", 50, 100), Rota("x", 0, 10))
    context.insert(first)
    context.insert(second)
    let error = #expect(throws: ContextError.self) { try context.save() }
    #expect(error?.code == .validationFailed && error?.context.objectID == first.objectID)
    #expect(first.isInserted && second.isInserted && (first.start, second.end) == (50, 10))
    second.end = 60
    try context.save()
    let reader = try store.context()
    defer { reader.end() }
    #expect(try reader.fetch(From<Rota>()).map { [$0.start, $0.end] } == [[50, 60]])
  }

  /// A new object leads to an existing object, which replaces the new object that it led to.
  @Test func newObjectsThatAreLedElsewhereAreValidated() async throws {
    let store = try await PersistentContainer("Rotas", models: Rota.self, RotaWeek.self, at: .inMemory)
    let context = try store.context()
    defer { context.end() }
    context.insert(Rota("x", 50, 60))
    try context.save()
    let week = RotaWeek(at: 10)
    context.insert(week)
    week.rota = Rota("x", 0, 100)
    let error = #expect(throws: ContextError.self) { try context.save() }
    #expect(error?.code == .validationFailed && error?.context.objectID == week.objectID)
    week.hour = 55
    try context.save()
    #expect(try context.fetch(From<RotaWeek>()).count == 1 && week.rota?.start == 50)
  }

  /// A validation sets a value in the context that only previews the save. This value is dropped.
  @Test func aValidationThatSetsAValueFailsNoSave() async throws {
    let store = try await PersistentContainer("Labels", models: Tidied.self, at: .inMemory)
    let context = try store.context()
    defer { context.end() }
    context.insert(Tidied("a", "x"))
    try context.save()
    context.insert(Tidied("a", " y "))
    try context.save()
    #expect(try context.fetch(From<Tidied>()).map(\.text) == ["y"])
  }

  /// Another context saves between an attempt and its validation. The validation sees the saved values.
  @Test func anOutcomeCountsForTheValuesThatWereSeen() throws {
    let other = try store.context()
    defer { other.end() }
    try context.fetch(From<UniqueTicket>())[0].price = 20
    let request = try ChangeEncoder(context, SaveFailures()).encode()
    let key = ObjectKey(entity: 0, number: 1)
    let attempted = try request.validatedObjects([key], in: context.source)
    try other.fetch(From<UniqueTicket>())[0].limit = 15
    try other.save()
    var (validations, failures) = (SaveValidations(), SaveFailures())
    try validations.validate(attempted, savedBy: request, context.coordinator)
    let commit = request.baseCommit
    #expect(validations.unknown(among: attempted, on: commit, &failures).count == 1 && failures.isEmpty)
    let shown = try request.validatedObjects([key], in: other.source)
    #expect(validations.unknown(among: shown, on: commit, &failures).isEmpty && !failures.isEmpty)
  }

  /// Values that depend on other objects, such as derived values, aren't compared, and neither are the values of
  /// those objects.
  @Test func anOutcomeCountsWhileMembersCome() async throws {
    let store = try await DerivedModels.open()
    let (context, other) = (try store.context(), try store.context())
    let album = DerivedModels.Album("a")
    context.insert(album)
    try context.save()
    album.title = "b"
    let request = try ChangeEncoder(context, SaveFailures()).encode()
    let key = ObjectKey(entity: context.entity(of: album).ordinal, number: album._$state.number)
    let before = try request.validatedObjects([key], in: context.source)
    try other.refresh()
    let theirs = try other.existingObject(DerivedModels.Album.self, with: album.objectID)
    other.insert(DerivedModels.Song("s", seconds: 3, in: theirs))
    try other.save()
    #expect(theirs.songCount == 1)
    let after = try request.validatedObjects([key], in: other.source)
    #expect(before[0].values == after[0].values && before[0].values.contains(.string("b")))
  }

  /// One validation sets a value, which is dropped. The next validation reads the object.
  @Test func aDroppedValueFailsNoOtherValidation() async throws {
    let store = try await PersistentContainer("Labels", models: Tidied.self, TidiedLabel.self, at: .inMemory)
    let context = try store.context()
    defer { context.end() }
    context.insert(Tidied("a", "x"))
    context.insert(TidiedLabel("a", "x"))
    try context.save()
    context.insert(Tidied("a", " y "))
    context.insert(TidiedLabel("a", "y"))
    try context.save()
    #expect(try context.fetch(From<TidiedLabel>()).map(\.text) == ["y"])
  }
}

@Model final class Tidied {
  @Attribute(.unique(ifExists: .merge)) var code: String
  var text: String
  var checks: Int = 0

  init(_ code: String, _ text: String) { (self.code, self.text) = (code, text) }

  func validateForInsert() throws {
    checks += 1
    text = text.filter { $0 != " " }
  }
}

@Model final class Rota {
  @Attribute(.unique(ifExists: .merge)) var code: String
  var start: Int = 0
  var end: Int = 100

  init(_ code: String, _ start: Int, _ end: Int) {
    (self.code, self.start, self.end) = (code, start, end)
  }

  func validateForInsert() throws {
    if end < start { throw ValidationError("ends before it starts", properties: ["end"]) }
  }
}

@Model final class RotaWeek {
  var hour: Int
  @Relationship var rota: Rota?

  init(at hour: Int) { self.hour = hour }

  func validateForInsert() throws {
    if let rota, hour < rota.start { throw ValidationError("too early", properties: ["hour"]) }
  }
}

/// Sorted behind `Tidied`, whose validation sets a value.
@Model final class TidiedLabel {
  @Attribute(.unique(ifExists: .merge)) var code: String
  var text: String

  init(_ code: String, _ text: String) { (self.code, self.text) = (code, text) }

  func validateForUpdate() throws {
    if try context?.count(From<TidiedLabel>()) != 1 { throw ValidationError("isn't alone") }
  }
}
