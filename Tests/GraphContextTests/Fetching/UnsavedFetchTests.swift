import Cambium
import Foundation
import Predicates
import TestSupport
import Testing

@testable import GraphContext

/// Queries over unsaved changes, after which the changes go on.
@Suite struct UnsavedFetchTests {
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
}
