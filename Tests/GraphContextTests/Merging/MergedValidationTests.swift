import Cambium
import Foundation
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
    // The context sees the other's value, and mends its own.
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
    mine.mergePolicy = .custom { $0.settle(\Shift.end) { _, mine, theirs in min(mine, theirs) - 5 } }
    (same.start, same.end) = (6, 12)
    try theirs.save()
    shift.end = 9
    let error = #expect(throws: ContextError.self) { try mine.save() }
    #expect(error?.code == .validationFailed)
  }

  /// Many writers of one object come to an end, although each of them makes the others validate again.
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
