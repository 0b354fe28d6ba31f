import Cambium
import Foundation
import GraphTestSupport
import TestSupport
import Testing

@testable import GraphContext

/// Queries without the unsaved changes of their context.
struct SavedStateFetchTests {
  @Test func everyQueryCanLeaveUnsavedChangesOut() async throws {
    var random = SeededGenerator()
    let library = try await Library.open()
    let context = try library.context()
    var writers = (0..<30).map { Writer("w\($0)", rank: $0 % 5) }
    for writer in writers { context.insert(writer) }
    try context.save()
    let requests = [
      From<Writer>().orderBy(.ascending(\.name)),
      From<Writer>().where { $0.rank >= 2 }.orderBy(.descending(\.rank)).limit(7).offset(1),
      From<Writer>().where { $0.name == "w3" },
    ]
    for _ in 0..<10 {
      let writer = random.pick(writers)
      switch random.number(in: 0...2) {
      case 0 where !writer.isDeleted: context.delete(writer)
      case 1 where !writer.isDeleted: (writer.rank, writer.name) = (9, "changed")
      default:
        writers.append(Writer("new", rank: 3))
        context.insert(writers[writers.count - 1])
      }
      let child = context.makeChild()
      child.insert(Writer("child", rank: 4))
      let fresh = try library.context()
      for request in requests {
        let saved = request.includingUnsavedChanges(false)
        #expect("\(saved)" == "\(request) without unsaved changes")
        let expected = try fresh.fetch(request).map(\.objectID)
        #expect(try context.fetch(saved).map(\.objectID) == expected)
        #expect(try context.fetchIDs(saved) == expected && context.count(saved) == expected.count)
        #expect(try context.exists(saved) == !expected.isEmpty)
        #expect(try context.fetch(saved.select(\.name)) == fresh.fetch(request.select(\.name)))
        #expect(
          try context.fetch(request).map(\.objectID)
            == child.fetch(request.includingUnsavedChanges(false)).map(\.objectID)
        )
        var batched: [ManagedObjectID] = []
        try context.forEach(saved, inBatchesOf: 3) { batched.append($0.objectID) }
        #expect(try batched == expected.filter { try !context.object(Writer.self, with: $0).isDeleted })
      }
      let all = From<Writer>().includingUnsavedChanges(false)
      let groups = try context.fetch(all.groupBy(\.rank).aggregate(.count)).map { "\($0)" }
      #expect(groups == (try fresh.fetch(From<Writer>().groupBy(\.rank).aggregate(.count)).map { "\($0)" }))
      #expect(try context.explain(all, analyze: true).measurement?.rowsMatched == 30)
      for writer in try context.fetch(all) where writer.name == "changed" { #expect(writer.rank == 9) }
      fresh.end()
      child.end()
    }
  }
}
