import Cambium
import Foundation
import GraphTestSupport
import Predicates
import TestSupport
import Testing

@testable import GraphContext

/// Queries over unsaved changes, with further changes after each query.
struct UnsavedFetchTests {
  private static func encodingCount(_ context: ManagedObjectContext) throws -> Int {
    try #require(context.encodedChanges(of: context.entity(of: Writer.self))).encodingCount
  }

  @Test func aQueryEncodesOnlyWhatHasChangedSinceTheLastOne() async throws {
    let library = try await Library.open()
    let context = try library.context()
    for number in 0..<300 {
      let email = "\(number % 200)@example.org"
      if let known = try context.fetchOne(From<Writer>().where(\.email == email)) {
        known.rank += 1
        known.name = "twice"
      } else {
        context.insert(Writer("W", email: email))
      }
    }
    #expect(try context.count(From<Writer>()) == 200)
    #expect(try context.count(From<Writer>().where(\.rank == 1)) == 100)
    #expect(try Self.encodingCount(context) == 300)
    try context.save()
    #expect(try context.count(From<Writer>().where(\.name == "twice")) == 100)
    context.end()
  }

  @Test func whatIsEncodedAgainAndAgainTakesBoundedMemory() async throws {
    let library = try await Library.open()
    let context = try library.context()
    let writer = Writer("A")
    context.insert(writer)
    for rank in 1...3_000 {
      writer.rank = rank
      #expect(try context.count(From<Writer>().where(\.rank == rank)) == 1)
      #expect(try Self.encodingCount(context) <= 1_100)
    }
    context.end()
  }

  @Test func everyWayToChangeAnObjectIsSeenByTheNextQuery() async throws {
    let library = try await Library.open()
    let context = try library.context()
    let (saved, new) = (Writer("saved", rank: 1), Writer("new", rank: 2))
    let (desk, other) = (Desk(1), Desk(2))
    context.insert(saved)
    context.insert(desk)
    try context.save()
    func found(_ condition: Where<Writer>) throws -> [String] {
      try context.fetch(From<Writer>().where(condition).orderBy(.ascending(\.name))).map(\.name)
    }
    func seated() throws -> [Int] {
      try context.fetch(From<Desk>().where { $0.writer.rank > 0 }.orderBy(.ascending(\.number))).map(\.number)
    }
    context.insert(new)
    #expect(try found(\.rank > 0) == ["new", "saved"])
    saved.rank = 5
    #expect(try found(\.rank > 2) == ["saved"])
    saved.rank = 1
    new.rank = 3
    #expect(try found(\.rank > 2) == ["new"])
    // The other end of a relationship is set.
    saved.desk = desk
    #expect(try seated() == [1])
    new.desk = desk
    #expect(try seated() == [1] && saved.desk == nil)
    other.writer = new
    context.insert(other)
    #expect(try seated() == [2])
    // A deletion takes references away.
    context.delete(new)
    #expect(try seated() == [])
    #expect(try found(\.rank > 0) == ["saved"])
    context.delete(saved)
    #expect(try found(\.rank > 0) == [])
    #expect(try context.count(From<Writer>()) == 0)
    context.rollback()
    #expect(try found(\.rank > 0) == ["saved"] && seated() == [])
    saved.rank = 9
    #expect(try found(\.rank == 9) == ["saved"])
    context.refresh(saved)
    #expect(try found(\.rank == 9) == ["saved"])
    new.name = "again"
    context.insert(new)
    new.rank = 9
    #expect(try found(\.rank == 9) == ["again", "saved"])
    try context.save()
    saved.rank = 8
    #expect(try found(\.rank == 9) == ["again"])
    context.end()
  }

  @Test func whatOthersSaveIsSeenInObjectsWithUnsavedChanges() async throws {
    let library = try await Library.open()
    let (context, other) = (try library.context(), try library.context())
    let writer = Writer("old", rank: 1)
    context.insert(writer)
    try context.save()
    writer.rank = 2
    #expect(try context.count(From<Writer>().where { $0.rank == 2 && $0.name == "old" }) == 1)
    try other.refresh()
    try other.existingObject(Writer.self, with: writer.objectID).name = "new"
    try other.save()
    try context.refresh()
    #expect(try context.count(From<Writer>().where { $0.rank == 2 && $0.name == "new" }) == 1)
    #expect(try context.count(From<Writer>().where { $0.name == "old" }) == 0)
    context.end()
    other.end()
  }

  @Test func anUnsavedObjectWithATakenKeyCountsForTheOffset() async throws {
    let library = try await Library.open()
    let context = try library.context()
    let stored = Writer("W", email: "a")
    stored.rank = 7
    context.insert(stored)
    try context.save()
    context.insert(Writer("W", email: "a"))
    let request = From<Writer>().where { $0.email == "a" }.orderBy(.ascending(\.rank))
    #expect(try context.fetch(request.offset(1)) == [stored])
    #expect(try context.fetch(request.offset(2)) == [])
    context.end()
  }

  @Test func aKeyFindsWhatPlainArraysFind() async throws {
    var random = SeededGenerator()
    let library = try await Library.open()
    let context = try library.context()
    var writers: [Writer] = []
    let emails = [nil, "", "a", "A", "ab", "\u{0}", "a\u{0}", "\u{1}", "é", "e\u{301}", "z"]
    for step in 0..<3_000 {
      switch random.number(in: 0...19) {
      case 0, 1:
        let writer = Writer("W", email: random.pick(emails))
        context.insert(writer)
        writers.append(writer)
      case 2 where !writers.isEmpty:
        context.delete(writers.remove(at: random.number(in: 0...writers.count - 1)))
      case 3, 4: writers.randomElement(using: &random)?.email = random.pick(emails)
      case 5: writers.randomElement(using: &random)?.rank = step
      case 6 where random.chance(1, in: 4):
        // Saves only where the uniqueness constraint allows it.
        let taken = writers.compactMap { $0.email.map { Array($0.utf8) } }
        if Set(taken).count == taken.count { try context.save() }
      default: break
      }
      try Self.checkKey(random.pick(emails), in: writers, context, &random)
    }
    #expect(try context.fetch(From<Writer>().where(\.email == String(repeating: "a", count: 10_000))) == [])
    context.end()
  }

  private static func checkKey(
    _ email: String?,
    in writers: [Writer],
    _ context: ManagedObjectContext,
    _ random: inout SeededGenerator
  ) throws {
    var request = From<Writer>().where { $0.email == email }
    let bytes = email.map { Array($0.utf8) }
    var expected = writers.filter { $0.email.map { Array($0.utf8) } == bytes }
      .sorted { $0.objectID.number < $1.objectID.number }
    if random.chance(1, in: 3) {
      request = request.orderBy(.ascending(\.rank))
      expected.sort { ($0.rank, $0.objectID.number) < ($1.rank, $1.objectID.number) }
    }
    let (offset, limit) = (random.pick([0, 0, 0, 1, 2]), random.pick([nil, nil, 0, 1, 2]))
    request = request.offset(offset)
    if let limit { request = request.limit(limit) }
    expected = Array(expected.dropFirst(offset).prefix(limit ?? .max))
    try #require(try context.fetch(request) == expected, "\(request)")
    #expect(try context.fetchIDs(request) == expected.map(\.objectID))
    #expect(try context.count(request) == expected.count)
    #expect(try context.exists(request) == !expected.isEmpty)
    #expect(try context.fetchOne(request) === expected.first)
  }
}
