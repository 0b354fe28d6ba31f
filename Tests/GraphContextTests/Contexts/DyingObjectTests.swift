import Cambium
import Testing

@Model
final class DyingOwner {
  var name: String
  @Relationship(inverse: \DyingMember.owner) var members: [DyingMember] = []

  init(_ name: String) { self.name = name }
}

/// Reads its properties while it is freed.
@Model
final class DyingMember {
  var number: Int
  @Relationship var owner: DyingOwner?

  init(_ number: Int) { self.number = number }

  deinit { lastRead.note(owner?.members.count, number) }
}

/// Keeps the values that the members read, so that the compiler doesn't remove the reads.
private let lastRead = LastRead()

private final class LastRead: Sendable {
  func note(_ count: Int?, _ number: Int) { #expect((count ?? 0) >= 0) }
}

/// A model's `deinit` is code of the program. It may read properties, no matter which code frees the object.
struct DyingObjectTests {
  private let container: PersistentContainer

  init() async throws {
    container = try await PersistentContainer(
      "Dying",
      models: DyingOwner.self,
      DyingMember.self,
      at: .inMemory
    )
    try await container.performBackgroundTask { context throws in
      let owner = DyingOwner("o")
      context.insert(owner)
      for number in 0..<1_500 {
        let member = DyingMember(number)
        context.insert(member)
        member.owner = owner
      }
      try context.save()
    }
  }

  @Test func atTheEndOfItsContext() async throws {
    try await container.performBackgroundTask { context throws in
      #expect(try context.fetch(From<DyingMember>()).count == 1_500)
    }
  }

  @Test func whenItsContextIsReset() async throws {
    try await container.performBackgroundTask { context throws in
      let held = try context.fetch(From<DyingMember>().limit(700))
      #expect(held.last?.number == 699)
      _ = try context.fetch(From<DyingMember>())
      context.reset()
      #expect(try context.fetch(From<DyingMember>().limit(3)).map(\.owner?.name) == ["o", "o", "o"])
    }
  }

  @Test func whenItsContextMakesRoomForOthers() async throws {
    try await container.performBackgroundTask { context throws in
      let half = From<DyingMember>().where { $0.number < 800 }
      let others = From<DyingMember>().where { $0.number >= 800 }
      for _ in 0..<3 {
        #expect(try context.fetch(half).map(\.number) == Array(0..<800))
        #expect(try context.fetch(others).map(\.number) == Array(800..<1_500))
      }
      let held = try context.fetch(half)
      #expect(try context.fetch(others).allSatisfy { $0.owner?.name == "o" })
      #expect(held[0].owner?.members.count == 1_500)
    }
  }
}
