import Cambium
import Foundation
import GraphTestSupport
import Testing

@testable import GraphContext

@Model final class Shift {
  var start: Int
  var end: Int
  var note: String = ""

  init(_ start: Int, _ end: Int) {
    self.start = start
    self.end = end
  }

  func validateForInsert() throws {
    if end < start { throw ValidationError("ends before it starts", properties: ["start", "end"]) }
  }
}

@Model final class Purse {
  var name: String
  var balance: Int = 0
  @Relationship(inverse: \Booking.purse) var bookings: [Booking] = []

  init(_ name: String) { self.name = name }

  func validateForUpdate() throws {
    if balance != bookings.map(\.amount).reduce(0, +) {
      throw ValidationError("sum", properties: ["balance"])
    }
  }
}

@Model final class Booking {
  var amount: Int
  @Relationship var purse: Purse?

  init(_ amount: Int, in purse: Purse?) {
    self.amount = amount
    self.purse = purse
  }
}

/// An object that two contexts change is validated with the values that it gets from both.
struct MergedValidationTests {
  private let store: PersistentContainer
  private let mine: ManagedObjectContext
  private let theirs: ManagedObjectContext
  private let shift: Shift
  private let same: Shift

  init() async throws {
    store = try await PersistentContainer("Shifts", models: [Shift.self], at: .inMemory)
    (mine, theirs) = (try store.context(), try store.context())
    shift = Shift(1, 10)
    mine.insert(shift)
    try mine.save()
    try theirs.refresh()
    same = try theirs.existingObject(Shift.self, with: shift.objectID)
  }

  @Test(arguments: [MergePolicy.error, .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump])
  func editsThatDoNotFitTogetherAreRefused(_ policy: MergePolicy) throws {
    mine.mergePolicy = policy
    same.start = 8
    try theirs.save()
    shift.end = 5
    let error = #expect(throws: ContextError.self) { try mine.save() }
    #expect(error?.code == .validationFailed && error?.context.properties == ["start", "end"])
    #expect(error?.context.objectID == shift.objectID)
    #expect(shift.end == 5 && shift.start == 1 && mine.hasChanges)
    // The context sees the other context's value, and corrects its own.
    try mine.refresh()
    #expect(shift.start == 8)
    shift.end = 9
    try mine.save()
    #expect(try store.verify().map(\.description) == [])
  }

  @Test func editsThatFitTogetherAreStored() throws {
    same.start = 8
    try theirs.save()
    shift.end = 9
    try mine.save()
    #expect((shift.start, shift.end) == (8, 9))
  }

  @Test func whatADecisionMakesIsValidated() throws {
    mine.mergePolicy = .custom { $0.resolve(\Shift.end) { _, mine, theirs in min(mine, theirs) - 5 } }
    (same.start, same.end) = (6, 12)
    try theirs.save()
    shift.end = 9
    let error = #expect(throws: ContextError.self) { try mine.save() }
    #expect(error?.code == .validationFailed)
  }

  /// The validation sees everything that the save stores, also new objects, other changes and deletions.
  @Test func theRestOfTheSaveIsThereToo() async throws {
    let purses = try await PersistentContainer("Purses", models: Purse.self, Booking.self, at: .inMemory)
    let (mine, theirs) = (try purses.context(), try purses.context())
    defer { [mine, theirs].forEach { $0.end() } }
    let purse = Purse("p")
    for amount in [1, 2] { mine.insert(Booking(amount, in: purse)) }
    purse.balance = 3
    try mine.save()
    try theirs.refresh()
    let same = try theirs.existingObject(Purse.self, with: purse.objectID)
    same.name = "theirs"
    try theirs.save()
    let bookings = purse.bookings.sorted { $0.amount < $1.amount }
    mine.delete(bookings[0])
    bookings[1].amount = 10
    mine.insert(Booking(5, in: purse))
    purse.balance = 14
    let error = #expect(throws: ContextError.self) { try mine.save() }
    #expect(error?.code == .validationFailed)
    purse.balance = 15
    try mine.save()
    #expect(purse.name == "theirs" && purse.balance == 15)
    // A state that the context already showed when it validated the object isn't validated again.
    same.balance = 0
    theirs.rollback()
    try theirs.refresh()
    same.name = "again"
    try theirs.save()
    mine.mergePolicy = .mergeByPropertyObjectTrump
    purse.name = "mine"
    mine.insert(Booking(1, in: purse))
    purse.balance = 16
    try mine.refresh()
    try mine.save()
    #expect(purse.name == "mine")
    #expect(try await purses.verify().map(\.description) == [])
  }

  /// The store refuses a save that can't be shown for validation, with the store's own reason.
  @Test func aSaveThatCanNotBeShownSaysWhatIsWrong() async throws {
    let purses = try await PersistentContainer("Purses", models: Purse.self, Booking.self, at: .inMemory)
    let (mine, theirs) = (try purses.context(), try purses.context())
    defer { [mine, theirs].forEach { $0.end() } }
    let (purse, gone, booking) = (Purse("p"), Purse("gone"), Booking(0, in: nil))
    for object in [purse, gone, booking] as [any ManagedObject] { mine.insert(object) }
    try mine.save()
    try theirs.refresh()
    try theirs.existingObject(Purse.self, with: purse.objectID).name = "theirs"
    theirs.delete(try theirs.existingObject(Purse.self, with: gone.objectID))
    try theirs.save()
    booking.purse = gone
    purse.balance = 1
    mine.insert(Booking(1, in: purse))
    let error = #expect(throws: ContextError.self) { try mine.save() }
    #expect(error?.code == .missingDestination)
    booking.purse = nil
    try mine.save()
    #expect(purse.name == "theirs")
  }

  /// A value of another kind is refused before any validation could read it.
  @Test func aDecisionOfAnotherKindIsRefused() throws {
    mine.mergePolicy = .custom { conflict in
      for property in conflict.properties { conflict.resolve(property.name, with: "x") }
    }
    same.end = 12
    try theirs.save()
    shift.end = 9
    let error = #expect(throws: ContextError.self) { try mine.save() }
    #expect(error?.code != .corrupt && error != nil)
    #expect(shift.end == 9)
  }

  /// Many writers of one object all finish, although each of them makes the others validate again.
  @Test func writersOfOneObjectDoNotStarve() async throws {
    let id = shift.objectID
    try await withThrowingTaskGroup(of: Void.self) { group in
      for writer in 0..<4 {
        let background = try store.newBackgroundContext()
        group.addTask {
          for round in 0..<20 {
            try await background.perform { context in
              let shift = try context.existingObject(Shift.self, with: id)
              if writer == 0 { shift.start = -round } else if writer == 1 { shift.end = 10 + round }
              if writer > 1 { shift.note = "\(round)" }
              context.mergePolicy = .mergeByPropertyObjectTrump
              try context.save()
            }
          }
        }
      }
      try await group.waitForAll()
    }
    try mine.refresh()
    #expect((shift.start, shift.end) == (-19, 29))
  }
}
