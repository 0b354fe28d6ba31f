import Cambium
import Foundation
import GraphTestSupport
import PageStore
import TestSupport
import Testing

@testable import GraphContext

/// Contexts that insert, link, unlink and delete at random, each on its own snapshot, and save at random times.
struct RacingContextsTests {
  @Test(arguments: [2, 4])
  func everySaveLeavesAWholeGraphAndEveryContextCatchesUp(_ contextCount: Int) async throws {
    let library = try await Library.open()
    var generator = SeededGenerator()
    var racers: [Racer] = []
    for _ in 0..<contextCount { racers.append(try Racer(library)) }
    var outcomes: [String: Int] = [:]
    for _ in 0..<TestEffort.times(800) {
      let racer = generator.pick(racers)
      guard generator.chance(1, in: 6) else {
        try racer.change(&generator)
        continue
      }
      outcomes[racer.save(), default: 0] += 1
      #expect(try await library.verify().map(\.description) == [])
      try racer.catchUp()
      let fresh = try library.context()
      #expect(try Racer.describe(racer.context) == Racer.describe(fresh))
      fresh.end()
    }
    for racer in racers { racer.context.end() }
    // Most saves passed, and some conflicted with changes of other contexts.
    #expect(outcomes["saved", default: 0] > 50, "\(outcomes)")
    #expect(outcomes["conflict", default: 0] > 0, "\(outcomes)")
    let expected: Set = [
      "saved", "conflict", "missingDestination", "deletionDenied", "missingValue", "notUnique",
      "objectNotFound",
    ]
    #expect(Set(outcomes.keys).isSubset(of: expected), "\(outcomes)")
  }
}

private struct Racer {
  let library: PersistentContainer
  let context: ManagedObjectContext

  init(_ library: PersistentContainer) throws {
    self.library = library
    context = try library.context()
  }

  func change(_ generator: inout SeededGenerator) throws {
    switch generator.number(in: 0...13) {
    case 0:
      context.insert(Writer("w", email: generator.chance(1, in: 2) ? "\(generator.number(in: 0...30))" : nil))
    case 1: context.insert(Publisher("p"))
    case 2: context.insert(Reader("r"))
    case 3: context.insert(Desk(generator.number(in: 0...9)))
    case 4...6:
      guard let publisher = pick(Publisher.self, &generator) else { return }
      let book = Book("b", pages: generator.number(in: 0...99), publisher: publisher)
      context.insert(book)
      book.writer = pick(Writer.self, &generator)
    case 7: pick(Book.self, &generator)?.writer = pick(Writer.self, &generator)
    case 8: pick(Desk.self, &generator)?.writer = pick(Writer.self, &generator)
    case 9: pick(Reader.self, &generator)?.favourite = pick(Book.self, &generator)
    case 10:
      guard let reader = pick(Reader.self, &generator), let writer = pick(Writer.self, &generator) else {
        return
      }
      if reader.idols.contains(writer) { reader.idols.remove(writer) } else { reader.idols.insert(writer) }
    case 11: pick(Writer.self, &generator)?.rank += 1
    case 12: if let writer = pick(Writer.self, &generator) { context.delete(writer) }
    default:
      if generator.chance(1, in: 2) {
        if let publisher = pick(Publisher.self, &generator) { context.delete(publisher) }
      } else if let book = pick(Book.self, &generator) {
        context.delete(book)
      }
    }
  }

  /// Saves, and returns the outcome. A save that failed leaves no changes behind.
  func save() -> String {
    do throws(ContextError) { try context.save() } catch {
      context.rollback()
      return error.code.description
    }
    return "saved"
  }

  func catchUp() throws { try context.refresh() }

  private func pick<Object: ManagedObject>(_ type: Object.Type, _ generator: inout SeededGenerator) -> Object?
  {
    guard let numbers = try? Self.numbers(of: type, in: context), !numbers.isEmpty else { return nil }
    let id = ManagedObjectID(
      entityName: type.entityName,
      number: generator.pick(numbers),
      storeID: library.storeID
    )
    return try? context.existingObject(type, with: id)
  }

  private static func numbers(
    of type: any ManagedObject.Type,
    in context: ManagedObjectContext
  ) throws -> [ObjectNumber] {
    guard let tree = try context.view.records(of: context.entity(of: type)) else { return [] }
    var numbers: [ObjectNumber] = []
    var cursor = tree.cursor()
    while try cursor.next() { numbers.append(KeyCoder.number(ending: try cursor.key()) ?? 0) }
    return numbers
  }

  /// Describes all values and links that a context shows of the objects of its snapshot.
  static func describe(_ context: ManagedObjectContext) throws -> [String] {
    func objects<Object: ManagedObject>(_ type: Object.Type) throws -> [Object] {
      try Self.numbers(of: type, in: context).map { number in
        let id = ManagedObjectID(entityName: type.entityName, number: number, storeID: context.storeID)
        return try context.existingObject(type, with: id)
      }
    }
    func numbers(_ objects: some Sequence<some ManagedObject>) -> String {
      "\(objects.map(\.objectID.number).sorted())"
    }
    func number(_ object: (some ManagedObject)?) -> String { object.map { "\($0.objectID.number)" } ?? "-" }
    var lines: [String] = []
    for writer in try objects(Writer.self) {
      lines.append("\(writer.id) \(writer.name) \(writer.email ?? "-") \(writer.rank) \(number(writer.desk))")
      lines.append(numbers(writer.books) + numbers(writer.fans))
    }
    for book in try objects(Book.self) {
      lines.append("\(book.id) \(book.pages) \(number(book.writer)) \(number(book.publisher))")
    }
    for publisher in try objects(Publisher.self) {
      lines.append("\(publisher.id) \(numbers(publisher.books))")
    }
    for desk in try objects(Desk.self) { lines.append("\(desk.id) \(number(desk.writer))") }
    for reader in try objects(Reader.self) {
      lines.append("\(reader.id) \(numbers(reader.idols)) \(number(reader.favourite))")
    }
    try context.checkUsable()
    return lines
  }
}
