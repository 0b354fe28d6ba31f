import Testing

/// Data races with objects don't compile. Each case is a program that the tests compile.
struct SendabilityTests {
  @Test func anIDCanBeSent() throws {
    let messages = try Compiler.messages(
      for: """
        func use(_ id: ManagedObjectID) async -> ObjectNumber {
          let task = Task { id.number }
          return await task.value
        }
        """
    )
    #expect(messages.isEmpty, "\(messages)")
  }

  @Test func anObjectCannotBeCapturedByATask() throws {
    let messages = try Compiler.messages(
      for: """
        func use(_ thing: Thing) {
          Task { print(thing.name) }
        }
        """
    )
    #expect(
      messages.contains { $0.contains("data race") || $0.contains("'Thing' is unavailable") },
      "\(messages)"
    )
  }

  @Test func anObjectCannotBeTheResultOfATask() throws {
    let messages = try Compiler.messages(
      for: """
        func make(_ thing: Thing) async -> Thing {
          await withCheckedContinuation { continuation in
            Task.detached { continuation.resume(returning: thing) }
          }
        }
        """
    )
    #expect(!messages.isEmpty)
  }

  @Test func anObjectIsNotSendable() throws {
    let messages = try Compiler.messages(
      for: """
        func needsSendable(_ value: some Sendable) {}
        func use(_ thing: Thing) { needsSendable(thing) }
        """
    )
    #expect(
      messages.contains { $0.contains("conformance of 'Thing' to 'Sendable' is unavailable") },
      "\(messages)"
    )
  }

  @Test func aContextIsNotSendable() throws {
    let messages = try Compiler.messages(
      for: """
        func needsSendable(_ value: some Sendable) {}
        func use(_ context: ObjectHost) { needsSendable(context) }
        """
    )
    #expect(messages.contains { $0.contains("Sendable") }, "\(messages)")
  }

  @Test func anObjectThatIsStillInNoContextCanMoveAway() throws {
    let messages = try Compiler.messages(
      for: """
        func use() {
          let thing = Thing(name: "new")
          Task { print(thing.name) }
        }
        """
    )
    #expect(messages.isEmpty, "\(messages)")
  }
}
