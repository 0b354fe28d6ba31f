import Cambium
import Foundation
import GraphTestSupport
import PageStore
import TestSupport
import Testing

@testable import GraphContext

/// Random operations on a context and on plain values side by side.
struct RandomGraphTests {
  @Test(arguments: [true, false])
  func aContextDoesWhatPlainValuesDo(_ isInMemory: Bool) async throws {
    let folder = try TemporaryFolder()
    let library = try await Library.open(at: isInMemory ? nil : folder.file("library.cambium"))
    var run = try RandomLibraryRun(library, SeededGenerator())
    for _ in 0..<(isInMemory ? 3_000 : 400) { try run.step() }
    try run.finish()
  }

  @Test func racingContextsLoseNoUpdateAndLeaveAWholeGraph() async throws {
    let library = try await Library.open()
    var generator = SeededGenerator()
    let contexts = [try library.context(), try library.context()]
    let publisher = Publisher("Ace")
    contexts[0].insert(publisher)
    let writers = (0..<6).map { Writer("w\($0)", email: "\($0)") }
    for writer in writers { contexts[0].insert(writer) }
    try contexts[0].save()
    let ids = writers.map(\.objectID)
    var raised = 0
    var pending = [0, 0]
    var saves = [0, 0]
    for _ in 0..<2_000 {
      let which = generator.number(in: 0...1)
      let context = contexts[which]
      if generator.chance(1, in: 3) { try context.refresh() }
      let known = ids.compactMap { try? context.existingObject(Writer.self, with: $0) }
      guard let writer = known.isEmpty ? nil : generator.pick(known), !writer.isDeleted else { continue }
      switch generator.number(in: 0...9) {
      case 0...3:
        writer.rank += 1
        pending[which] += 1
      case 4:
        if let own = try? context.existingObject(Publisher.self, with: publisher.objectID) {
          writer.books.append(Book("b", publisher: own))
        }
      case 5: if let book = Array(writer.books).first { context.delete(book) }
      case 6: writer.email = "\(generator.number(in: 0...8))"
      case 7: writer.desk = Desk(1)
      default:
        if let error = failure(ofSaving: context) {
          #expect([.conflict, .notUnique, .missingDestination].contains(error.code), "\(error)")
          context.rollback()
          try context.refresh()
        } else {
          raised += pending[which]
          saves[which] += 1
        }
        pending[which] = 0
        #expect(try await library.verify().map(\.description) == [])
      }
    }
    #expect(saves.allSatisfy { $0 > 0 })
    let fresh = try library.context()
    let ranks = try ids.map { try fresh.existingObject(Writer.self, with: $0).rank }
    #expect(ranks.reduce(0, +) == raised)
    for context in contexts + [fresh] { context.end() }
  }
}

private func failure(ofSaving context: ManagedObjectContext) -> ContextError? {
  do throws(ContextError) { try context.save() } catch { return error }
  return nil
}

/// One run: a context, the values it should have, and those that were saved last.
private struct RandomLibraryRun {
  private let library: PersistentContainer
  private let context: ManagedObjectContext
  private var generator: SeededGenerator
  private var oracle = LibraryOracle()
  private var saved = LibraryOracle()
  /// Objects that the test holds: the others are faults again when they are next looked for.
  private var held: [AnyObject] = []
  private var saveCount = 0

  init(_ library: PersistentContainer, _ generator: SeededGenerator) throws {
    self.library = library
    self.generator = generator
    context = try library.context()
  }

  mutating func step() throws {
    if generator.chance(1, in: 5) { held.removeAll() }
    switch generator.number(in: 0...19) {
    case 0...4: try insert()
    case 5...8: try changeBook()
    case 9...10: try changeWriter()
    case 11...12: try seat()
    case 13...14: try changePairs()
    case 15: try changeReader()
    case 16: try delete()
    case 17: try save()
    case 18: if generator.chance(1, in: 4) { rollback() }
    default: try compare(context)
    }
  }

  mutating func finish() throws {
    rollback()
    try compare(context)
    // The number of refused saves depends on the generator. At least one save has to succeed.
    #expect(saveCount > 0)
    context.end()
  }

  // MARK: Objects

  private func id(_ entity: String, _ number: ObjectNumber) -> ManagedObjectID {
    ManagedObjectID(entityName: entity, number: number, storeID: library.storeID)
  }

  private mutating func object<Object: ManagedObject>(
    _ type: Object.Type,
    _ number: ObjectNumber
  ) throws -> Object {
    let object = try context.existingObject(type, with: id(type.entityName, number))
    held.append(object)
    return object
  }

  private mutating func pick(_ numbers: some Sequence<ObjectNumber>) -> ObjectNumber? {
    let sorted = numbers.sorted()
    return sorted.isEmpty ? nil : generator.pick(sorted)
  }

  // MARK: Operations

  private mutating func insert() throws {
    switch generator.number(in: 0...5) {
    case 0:
      let writer = Writer("w")
      context.insert(writer)
      oracle.writers[writer.objectID.number] = .init()
    case 1:
      let publisher = Publisher("p")
      context.insert(publisher)
      oracle.publishers.insert(publisher.objectID.number)
    case 2:
      let desk = Desk(1)
      context.insert(desk)
      oracle.desks[desk.objectID.number] = .some(nil)
    case 3:
      let reader = Reader("r")
      context.insert(reader)
      oracle.readers[reader.objectID.number] = .some(nil)
    default:
      guard let publisher = pick(oracle.publishers) else { return }
      let book = Book(
        "t\(generator.number(in: 0...9))",
        pages: 1,
        publisher: try object(Publisher.self, publisher)
      )
      let writer = generator.chance(1, in: 2) ? pick(oracle.writers.keys) : nil
      if let writer { try object(Writer.self, writer).books.append(book) } else { context.insert(book) }
      oracle.books[book.objectID.number] = .init(
        title: book.title,
        pages: 1,
        writer: writer,
        publisher: publisher
      )
    }
  }

  private mutating func changeBook() throws {
    guard let number = pick(oracle.books.keys) else { return }
    let book = try object(Book.self, number)
    switch generator.number(in: 0...5) {
    case 0:
      book.pages += 1
      oracle.books[number]?.pages += 1
    case 1:
      let (shelf, place) = (generator.pick(["a", "b", nil]), generator.pick([1, 2, 3, 4, 5, 6, nil]))
      (book.shelf, book.place) = (shelf, place)
      oracle.books[number]?.shelf = shelf
      oracle.books[number]?.place = place
    case 2:
      guard let publisher = pick(oracle.publishers) else { return }
      book.publisher = try object(Publisher.self, publisher)
      oracle.books[number]?.publisher = publisher
    case 3:
      let writer = pick(oracle.writers.keys)
      book.writer = try writer.map { try object(Writer.self, $0) }
      oracle.books[number]?.writer = writer
    case 4:
      guard let writer = oracle.books[number]?.writer else { return }
      try object(Writer.self, writer).books.remove(book)
      oracle.books[number]?.writer = nil
    default:
      guard let publisher = pick(oracle.publishers), generator.chance(1, in: 3) else { return }
      // Replaces the books of the publisher: its previous books have no publisher any more.
      try object(Publisher.self, publisher).books = [book]
      for other in oracle.books(from: publisher) { oracle.books[other]?.publisher = nil }
      oracle.books[number]?.publisher = publisher
    }
  }

  private mutating func changeWriter() throws {
    guard let number = pick(oracle.writers.keys) else { return }
    let writer = try object(Writer.self, number)
    let email = generator.chance(1, in: 4) ? nil : "\(generator.number(in: 0...40))"
    writer.email = email
    writer.rank += 1
    oracle.writers[number]?.email = email
    oracle.writers[number]?.rank += 1
  }

  private mutating func seat() throws {
    guard let desk = pick(oracle.desks.keys) else { return }
    let writer = generator.chance(1, in: 4) ? nil : pick(oracle.writers.keys)
    let object = try writer.map { try self.object(Writer.self, $0) }
    if let object, generator.chance(1, in: 2) {
      object.desk = try self.object(Desk.self, desk)
    } else {
      try self.object(Desk.self, desk).writer = object
    }
    oracle.seat(writer, at: desk)
  }

  private mutating func changePairs() throws {
    guard let reader = pick(oracle.readers.keys), let writer = pick(oracle.writers.keys) else { return }
    let pair = LibraryOracle.Pair(reader: reader, writer: writer)
    let (fan, idol) = (try object(Reader.self, reader), try object(Writer.self, writer))
    if oracle.pairs.contains(pair) {
      if generator.chance(1, in: 2) { fan.idols.remove(idol) } else { idol.fans.removeAll { $0 === fan } }
      oracle.pairs.remove(pair)
    } else {
      if generator.chance(1, in: 2) { fan.idols.insert(idol) } else { idol.fans.append(fan) }
      oracle.pairs.insert(pair)
    }
  }

  private mutating func changeReader() throws {
    guard let number = pick(oracle.readers.keys) else { return }
    let book = generator.chance(1, in: 4) ? nil : pick(oracle.books.keys)
    try object(Reader.self, number).favourite = try book.map { try object(Book.self, $0) }
    oracle.readers[number] = .some(book)
  }

  private mutating func delete() throws {
    switch generator.number(in: 0...4) {
    case 0:
      guard let number = pick(oracle.writers.keys) else { return }
      context.delete(try object(Writer.self, number))
      oracle.deleteWriter(number)
    case 1:
      // The deletion of a publisher that was never saved would leave its books without a publisher.
      guard let number = pick(oracle.publishers.intersection(saved.publishers)) else { return }
      context.delete(try object(Publisher.self, number))
      oracle.publishers.remove(number)
      oracle.doomedPublishers.insert(number)
    case 2:
      guard let number = pick(oracle.desks.keys) else { return }
      context.delete(try object(Desk.self, number))
      oracle.desks[number] = nil
    case 3:
      guard let number = pick(oracle.readers.keys) else { return }
      context.delete(try object(Reader.self, number))
      oracle.deleteReader(number)
    default:
      guard let number = pick(oracle.books.keys) else { return }
      context.delete(try object(Book.self, number))
      oracle.deleteBook(number)
    }
  }

  private mutating func save() throws {
    let objections = oracle.objections
    if let error = failure(ofSaving: context) {
      #expect(objections.contains(error.code.description), "\(error)")
      try compare(context)
      rollback()
    } else {
      #expect(objections == [])
      oracle.doomedPublishers = []
      saved = oracle
      saveCount += 1
    }
    #expect(try library.verify().map(\.description) == [])
    let fresh = try library.context()
    try Self.compare(fresh, saved, library.storeID)
    fresh.end()
  }

  private mutating func rollback() {
    context.rollback()
    oracle = saved
  }

  // MARK: Comparison

  private func compare(_ context: ManagedObjectContext) throws {
    try Self.compare(context, oracle, library.storeID)
  }

  private static func compare(_ context: ManagedObjectContext, _ oracle: LibraryOracle, _ store: UUID) throws
  {
    func object<Object: ManagedObject>(_ type: Object.Type, _ number: ObjectNumber) throws -> Object {
      let id = ManagedObjectID(entityName: type.entityName, number: number, storeID: store)
      return try context.existingObject(type, with: id)
    }
    func numbers(_ objects: some Sequence<some ManagedObject>) -> [ObjectNumber] {
      objects.map(\.objectID.number).sorted()
    }
    for (number, expected) in oracle.writers {
      let writer = try object(Writer.self, number)
      #expect(LibraryOracle.Writer(email: writer.email, rank: writer.rank) == expected)
      #expect(writer.desk?.objectID.number == oracle.desk(of: number))
      #expect(numbers(writer.books) == oracle.books(of: number))
      #expect(writer.books.count == oracle.books(of: number).count)
      #expect(numbers(writer.fans) == oracle.fans(of: number))
    }
    for (number, expected) in oracle.books {
      let book = try object(Book.self, number)
      let found = LibraryOracle.Book(
        title: book.title,
        pages: book.pages,
        shelf: book.shelf,
        place: book.place,
        writer: book.writer?.objectID.number,
        publisher: expected.publisher == nil ? nil : book.publisher.objectID.number
      )
      #expect(found == expected)
    }
    for number in oracle.publishers {
      #expect(numbers(try object(Publisher.self, number).books) == oracle.books(from: number))
    }
    for (number, writer) in oracle.desks {
      #expect(try object(Desk.self, number).writer?.objectID.number == writer)
    }
    for (number, favourite) in oracle.readers {
      let reader = try object(Reader.self, number)
      #expect(reader.favourite?.objectID.number == favourite)
      #expect(numbers(reader.idols) == oracle.idols(of: number))
    }
    try context.checkUsable()
  }
}
