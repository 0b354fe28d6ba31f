import Cambium
import TestSupport
import Testing

@testable import GraphContext

/// Two contexts that change the same ordered many-to-many relationships at once, and save in turns: all contexts show what the store has.
struct RacingAnthologyTests {
  private static let bookCount = 3
  /// The number of rounds.
  private static let roundCount = TestEffort.times(150, long: 300)

  @Test func contextsAgreeAfterEachSave() async throws {
    let container = try await PersistentContainer("Books", models: Anthology.self, Poem.self, at: .inMemory)
    var generator = SeededGenerator()
    func context() throws -> ManagedObjectContext {
      let source = try container.coordinator.engine.newestSource()
      let context = ManagedObjectContext(container.coordinator, showing: source)
      context.automaticallyMergesChangesFromParent = false
      context.mergePolicy = .overwrite
      return context
    }
    let contexts = [try context(), try context()]
    let ids = (0..<Self.bookCount).map { number in
      let book = Anthology("\(number)")
      contexts[0].insert(book)
      book.poems.append(contentsOf: (0..<6).map { Poem("\(number).\($0)") })
      return book
    }
    try contexts[0].save()
    let books = ids.map(\.objectID)
    try contexts[1].refresh()
    for round in 0..<Self.roundCount {
      for context in contexts {
        for _ in 0..<generator.number(in: 0...4) { try change(context, books, round, &generator) }
      }
      let first = generator.number(in: 0...1)
      for index in [first, 1 - first] {
        // A link to a poem that the other one has deleted can't be saved.
        do throws(ContextError) { try contexts[index].save() } catch {
          try #require(error.code == .missingDestination || error.code == .conflict, "\(error)")
          contexts[index].rollback()
        }
      }
      try contexts[first].refresh()
      try contexts[1 - first].refresh()
      let fresh = try self.lists(of: context(), books)
      for context in contexts {
        try #require(try lists(of: context, books) == fresh, "round \(round)")
        try #require(!context.hasChanges)
      }
    }
    #expect(try await container.verify().map(\.description) == [])
  }

  /// The titles of each book, and the books of each poem.
  private func lists(of context: ManagedObjectContext, _ books: [ManagedObjectID]) throws -> [[String]] {
    let titles = try books.map { try context.object(Anthology.self, with: $0).titles }
    let poems = try context.fetch(From<Poem>().orderBy(.ascending(\.title))).map { [$0.title] + $0.bookNames }
    withExtendedLifetime(context) {}
    return titles + poems
  }

  private func change(
    _ context: ManagedObjectContext,
    _ books: [ManagedObjectID],
    _ round: Int,
    _ generator: inout SeededGenerator
  ) throws {
    let book = try context.object(Anthology.self, with: generator.pick(books))
    let count = book.poems.count
    func position() -> Int { generator.number(in: 0...max(0, count - 1)) }
    switch generator.number(in: 0...7) {
    case 0: book.poems.insert(Poem("\(round).\(generator.next())"), at: count / 2)
    case 1, 2:
      if count > 0 { book.poems.move(from: position(), to: position()) }
    case 3:
      if count > 1 { book.poems.remove(at: position()) }
    case 4:
      let poems = try context.fetch(From<Poem>().orderBy(.ascending(\.title)))
      guard let poem = poems.randomElement(using: &generator) else { return }
      if !book.poems.contains(poem) { book.poems.insert(poem, at: generator.number(in: 0...count)) }
    case 5:
      let poems = try context.fetch(From<Poem>().orderBy(.ascending(\.title)))
      guard let poem = poems.randomElement(using: &generator), poem.books.count > 1 else { return }
      poem.books.move(from: 0, to: poem.books.count - 1)
    case 6:
      if count > 4, generator.chance(1, in: 3) { context.delete(book.poems[position()]) }
    default:
      if count > 0 { book.poems[position()].plays += 1 }
    }
  }
}
