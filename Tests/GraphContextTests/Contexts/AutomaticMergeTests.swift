import Cambium
import Foundation
import GraphTestSupport
import Testing

@testable import GraphContext

/// When a context moves to the newest commit by itself.
struct AutomaticMergeTests {
  @Model final class Stranger {
    var name: String
    init(_ name: String) { self.name = name }
  }

  /// A library with two writers of rank 0, and their IDs.
  private func library() async throws -> (PersistentContainer, [ManagedObjectID]) {
    let library = try await Library.open()
    let ids = try await library.performBackgroundTask { context throws in
      let writers = [Writer("A"), Writer("B")]
      for writer in writers { context.insert(writer) }
      try context.save()
      return writers.map(\.objectID)
    }
    return (library, ids)
  }

  /// What a context of its own saves.
  private func setRank(of id: ManagedObjectID, to rank: Int, in library: PersistentContainer) async throws {
    try await library.performBackgroundTask { context throws in
      try context.existingObject(Writer.self, with: id).rank = rank
      try context.save()
    }
  }

  @Test func aBlockBeginsAtTheNewestCommitWithWhatIsUnsaved() async throws {
    let (library, ids) = try await library()
    let background = try library.newBackgroundContext()
    try await background.perform { context throws in
      #expect(context.automaticallyMergesChangesFromParent)
      try context.existingObject(Writer.self, with: ids[0]).name = "mine"
    }
    try await setRank(of: ids[1], to: 5, in: library)
    try await background.perform { context throws in
      #expect(context.hasChanges)
      #expect(try context.existingObject(Writer.self, with: ids[0]).name == "mine")
      #expect(try context.existingObject(Writer.self, with: ids[1]).rank == 5)
      #expect(try context.fetch(From<Writer>().where(\.rank == 5).select(\.name)) == ["B"])
      try context.save()
    }
    let names = try await library.performBackgroundTask { try $0.fetch(From<Writer>().select(\.name)) }
    #expect(names == ["mine", "B"])
  }

  @Test func aChangeOfTheSamePropertyIsAConflictStill() async throws {
    let (library, ids) = try await library()
    let background = try library.newBackgroundContext()
    try await background.perform { try $0.existingObject(Writer.self, with: ids[0]).rank = 7 }
    try await setRank(of: ids[0], to: 5, in: library)
    try await background.perform { context throws in
      let writer = try context.existingObject(Writer.self, with: ids[0])
      #expect(writer.rank == 7)
      let error = #expect(throws: ContextError.self) { try context.save() }
      #expect(error?.code == .conflict)
      context.rollback()
      #expect(writer.name == "A" && writer.rank == 5)
    }
  }

  @Test func aContextStaysPutWhenItIsToldTo() async throws {
    let (library, ids) = try await library()
    let background = try library.newBackgroundContext()
    try await background.perform { $0.automaticallyMergesChangesFromParent = false }
    try await setRank(of: ids[0], to: 5, in: library)
    try await background.perform { context throws in
      #expect(!context.automaticallyMergesChangesFromParent)
      let writer = try context.existingObject(Writer.self, with: ids[0])
      #expect(writer.rank == 0)
      #expect(try context.count(From<Writer>().where(\.rank == 5)) == 0)
      try context.refresh()
      #expect(writer.rank == 5)
    }
    try await setRank(of: ids[0], to: 6, in: library)
    try await background.perform { context throws in
      #expect(try context.existingObject(Writer.self, with: ids[0]).rank == 5)
      context.automaticallyMergesChangesFromParent = true
      #expect(try context.existingObject(Writer.self, with: ids[0]).rank == 5)
    }
    #expect(try await background.perform { try $0.existingObject(Writer.self, with: ids[0]).rank } == 6)
  }

  @Test @MainActor func aChildHasTheValueOfTheOutermostContext() async throws {
    let (library, ids) = try await library()
    let context = library.viewContext
    let child = context.makeChild()
    let grandchild = child.makeChild()
    let all = [context, child, grandchild]
    #expect(all.allSatisfy { $0.automaticallyMergesChangesFromParent })
    grandchild.automaticallyMergesChangesFromParent = false
    #expect(all.allSatisfy { !$0.automaticallyMergesChangesFromParent })
    let writer = try grandchild.existingObject(Writer.self, with: ids[0])
    #expect(writer.rank == 0)
    try await setRank(of: ids[0], to: 5, in: library)
    for _ in 0..<10 { await Task.yield() }
    #expect(writer.rank == 0)
    child.automaticallyMergesChangesFromParent = true
    #expect(all.allSatisfy { $0.automaticallyMergesChangesFromParent })
    try await setRank(of: ids[0], to: 6, in: library)
    for _ in 0..<1_000 where writer.rank != 6 { await Task.yield() }
    #expect(writer.rank == 6)
  }

  @Test func nothingMovesAContextInTheMiddleOfABlock() async throws {
    let (library, ids) = try await library()
    let background = try library.newBackgroundContext()
    let block: @Sendable (ManagedObjectContext) throws -> Void = { context in
      #expect(context.automaticallyMergesChangesFromParent)
      let before = try context.existingObject(Writer.self, with: ids[0]).rank
      let other = try library.context()
      try other.existingObject(Writer.self, with: ids[0]).rank += 1
      try other.save()
      #expect(try context.existingObject(Writer.self, with: ids[0]).rank == before)
      #expect(try context.count(From<Writer>().where { $0.rank == before + 1 }) == 0)
      try context.refresh()
      #expect(try context.existingObject(Writer.self, with: ids[0]).rank == before + 1)
      other.end()
    }
    try await background.perform(block)
    try await library.performBackgroundTask(block)
  }

  @Test func aBlockCanRollBackWhatAnEarlierOneHasDone() async throws {
    let (library, _) = try await library()
    let background = try library.newBackgroundContext()
    for _ in 0..<2 {
      let error = await #expect(throws: ContextError.self) {
        try await background.perform { context in context.insert(Stranger("A")) }
      }
      #expect(error?.code == .unknownEntity)
    }
    let again = await #expect(throws: ContextError.self) {
      try await background.perform { try $0.count(From<Writer>()) }
    }
    #expect(again?.code == .unknownEntity)
    try await background.perform { $0.rollback() }
    #expect(try await background.perform { try $0.count(From<Writer>()) } == 2)
  }
}
