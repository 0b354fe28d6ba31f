import Cambium
import Foundation
import TestSupport
import Testing

// Quoted in Docs/Errors.md
@Model final class User {
  #Unique<User>([\.email], folding: .case)
  var email: String
  var name: String

  init(email: String, name: String) {
    self.email = email
    self.name = name
  }
}
// End of quotation

// Quoted in Docs/Errors.md
func register(_ user: User, in context: ManagedObjectContext) throws -> Bool {
  context.insert(user)
  do {
    try context.save()
    return true
  } catch {
    guard error.code == .notUnique else { throw error }
    print("\(error.context.values) belong to \(error.context.otherID, default: "another")")
    context.delete(user)
    return false
  }
}
// End of quotation

// Quoted in Docs/Errors.md
func problems(ofSaving context: ManagedObjectContext) -> [String] {
  do {
    try context.save()
    return []
  } catch {
    return error.failures.map { "\($0.code): \($0.message)" }
  }
}
// End of quotation

// Quoted in Docs/Errors.md
func search(_ text: String, in context: ManagedObjectContext) throws(ContextError) -> [User] {
  do {
    return try context.fetch(From<User>().where(format: text))
  } catch {
    guard let mistake = error.queryError else { throw error }
    print(mistake)
    return []
  }
}
// End of quotation

// Quoted in Docs/Errors.md
func openUsers(at url: URL) async throws -> PersistentContainer? {
  do {
    return try await PersistentContainer("Users", models: User.self, at: url)
  } catch {
    guard let refusal = error.refusal else { throw error }
    print("The users in \(url.path) don't fit the models:\n\(refusal)")
    return nil
  }
}
// End of quotation

// Quoted in Docs/Errors.md
func isCancellation(_ error: any Error) -> Bool {
  error is CancellationError || (error as? ContextError)?.code == .cancelled
}
// End of quotation

private enum Numbered {
  @Model final class User {
    var email: Int
    var name: String

    init(email: Int, name: String) {
      self.email = email
      self.name = name
    }
  }
}

@MainActor struct ErrorsGuideTests {
  private let guide: Document

  init() throws { guide = try Document("Docs/Errors.md") }

  @Test func aSaveThatIsRefused() async throws {
    let users = try await PersistentContainer("Users", models: User.self, at: .inMemory)
    let context = users.viewContext
    #expect(try register(User(email: "ada@example.org", name: "Ada"), in: context))
    #expect(try !register(User(email: "Ada@Example.org", name: "Another Ada"), in: context))
    #expect(!context.hasChanges)
    #expect(try context.fetch(From<User>()).map(\.name) == ["Ada"])
    try await users.close()
  }

  @Test func aSaveListsAllThatIsWrong() async throws {
    let users = try await PersistentContainer("Users", models: User.self, at: .inMemory)
    let context = users.viewContext
    for number in 0..<6 { context.insert(User(email: "\(number / 2)@example.org", name: "\(number)")) }
    let problems = problems(ofSaving: context)
    #expect(problems.count == 3 && problems.allSatisfy { $0.hasPrefix("notUnique: ") })
    context.rollback()
    try await users.close()
  }

  @Test func aMistakeInAQuery() async throws {
    let users = try await PersistentContainer("Users", models: User.self, at: .inMemory)
    let context = users.viewContext
    #expect(try register(User(email: "ada@example.org", name: "Ada"), in: context))
    #expect(try search("name BEGINSWITH 'A'", in: context).count == 1)
    let text = "name BEGINSWITH 'A' AND emial != nil"
    #expect(try search(text, in: context).isEmpty)
    let error = #expect(throws: ContextError.self) {
      try context.fetch(From<User>().where(format: text))
    }
    let message = try "\(#require(error?.queryError))\n"
    #expect(guide.blocks.contains { $0.language == "text" && $0.text == message }, "\(message)")
    try await users.close()
  }

  @Test func aStoreOfOtherModels() async throws {
    let folder = try TemporaryFolder()
    let url = URL(fileURLWithPath: folder.file("numbered.cambium"))
    let numbered = try await PersistentContainer("Users", models: Numbered.User.self, at: url)
    try await numbered.performBackgroundTask { context in
      context.insert(Numbered.User(email: 1, name: "Ada"))
      try context.save()
    }
    try await numbered.close()
    let before = try Data(contentsOf: url)
    #expect(try await openUsers(at: url) == nil)
    let refused = await #expect(throws: ContextError.self) {
      try await PersistentContainer("Users", models: User.self, at: url)
    }
    #expect(refused?.code == .schemaMismatch)
    let sentence = "\(try #require(refused?.refusal))"
    #expect(guide.text.contains("`\(sentence)`"), "\(sentence)")
    #expect(try Data(contentsOf: url) == before)
    let users = try await openUsers(at: URL(fileURLWithPath: folder.file("users.cambium")))
    try await #require(users).close()
    let letter = URL(fileURLWithPath: folder.file("letter.txt"))
    try Data("Dear Ada,\n".utf8).write(to: letter)
    let refusal = await #expect(throws: ContextError.self) { try await openUsers(at: letter) }
    #expect(refusal?.code == .store)
    #expect(try String(contentsOf: letter, encoding: .utf8) == "Dear Ada,\n")
  }

  @Test(arguments: [true, false]) func aCancellationIsRecognised(_ checks: Bool) async throws {
    let users = try await PersistentContainer("Users", models: User.self, at: .inMemory)
    let context = try users.newBackgroundContext()
    try await context.perform { context in
      for number in 0..<3 { context.insert(User(email: "\(number)@example.org", name: "Ada")) }
      try context.save()
    }
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await context.perform { context in
        if checks { try Task.checkCancellation() }
        try context.forEach(From<User>(), inBatchesOf: 1) { _ in }
      }
    }
    do {
      try await task.value
      Issue.record("the query went on")
    } catch {
      #expect(isCancellation(error), "\(error)")
      #expect((error is CancellationError) == checks)
    }
    #expect(!isCancellation(CocoaError(.fileNoSuchFile)))
    try await users.close()
  }

  /// Every code that the library can throw has a row, and no other.
  @Test(arguments: [
    ("ContextError", "GraphContext/ContextError.swift"), ("StoreError", "PageStore/StoreError.swift"),
    ("QueryError", "Predicates/QueryError.swift"),
  ])
  func everyCodeIsDescribed(_ type: String, _ file: String) throws {
    let url = Document.root.appendingPathComponent("Sources").appendingPathComponent(file)
    let source = try String(contentsOf: url, encoding: .utf8)
    let codes = source.matches(of: #/ = Code\("([a-zA-Z]+)"\)/#).map { String($0.output.1) }
    #expect(codes.count >= 6)
    let heading = "\(type).Code"
    let rows = guide.rows(heading, "meaning", "what to do") + guide.rows(heading, "meaning")
    #expect(Set(rows.map { $0[0] }) == Set(codes))
  }
}
