import Foundation
import GraphTestSupport
import Predicates
import Testing

@testable import GraphContext

/// The amount of memory that records keep after they were read.
struct KeptRecordsTests {
  /// Shelves with long notes, of `notesByteCount` bytes each.
  private func withShelves<R: Sendable>(
    _ count: Int,
    notesByteCount: Int,
    _ body: @Sendable @escaping (ManagedObjectContext) throws -> R
  ) async throws -> R {
    let container = try await PersistentContainer("kept", models: Item.self, Shelf.self, at: .inMemory)
    return try await container.performBackgroundTask { context in
      for place in 0..<count {
        let shelf = Shelf(code: String(format: "%05d", place), height: place, next: nil)
        shelf.notes = String(repeating: "n", count: notesByteCount)
        context.insert(shelf)
      }
      try context.save()
      context.reset()
      return try body(context)
    }
  }

  @Test func fetchesOneAfterTheOtherDoNotFillTheMemory() async throws {
    try await withShelves(1_000, notesByteCount: 10_000) { context throws in
      for _ in 0..<30 {
        #expect(try context.fetch(From<Shelf>()).count == 1_000)
        #expect(context.view.keptByteCount < 60 << 20)
      }
      // The objects of the last fetch have their records.
      let shelves = try context.fetch(From<Shelf>())
      let kept = context.view.keptByteCount
      #expect(shelves.allSatisfy { $0.notes?.utf8.count == 10_000 })
      #expect(context.view.keptByteCount == kept)
    }
  }

  @Test func theObjectsOfALargeFetchKeepTheirRecordsOverSmallOnes() async throws {
    try await withShelves(5_000, notesByteCount: 10_000) { context throws in
      let shelves = try context.fetch(From<Shelf>())
      for place in 0..<500 {
        let code = String(format: "%05d", place)
        #expect(try context.fetchOne(From<Shelf>().where { $0.code == code }) != nil)
      }
      let kept = context.view.keptByteCount
      #expect(kept > 50 << 20)
      #expect(shelves.allSatisfy { $0.notes?.utf8.count == 10_000 })
      #expect(context.view.keptByteCount == kept)
    }
  }

  @Test func objectsLookedUpByIDDoNotFillTheMemory() async throws {
    try await withShelves(100, notesByteCount: 10_000) { context throws in
      let ids = try context.fetchIDs(From<Shelf>())
      for round in 0..<100 {
        for id in ids {
          #expect(try context.existingObject(Shelf.self, with: id).notes?.utf8.count == 10_000)
        }
        if round % 10 == 0 { #expect(context.view.keptByteCount < 40 << 20) }
      }
    }
  }

  @Test func theFirstOfManyInAnotherOrderAreAllThatIsKept() async throws {
    try await withShelves(2_000, notesByteCount: 10_000) { context throws in
      // Each row of the scan comes before all earlier ones in the requested order.
      let request = From<Shelf>().orderBy(.descending(\.height)).limit(5).offset(3)
      let best = try context.fetch(request)
      #expect(best.map(\.height) == [1_996, 1_995, 1_994, 1_993, 1_992])
      #expect(best.allSatisfy { $0.notes?.utf8.count == 10_000 })
      #expect(context.view.keptByteCount < 1 << 20)
      // The same with unsaved changes.
      best[1].height = 0
      let new = Shelf(code: "new", height: 1_995, next: nil)
      context.insert(new)
      let changed = try context.fetch(request)
      #expect(changed.map(\.code) == ["01996", "new", "01994", "01993", "01992"])
      #expect(context.view.keptByteCount < 1 << 20)
    }
  }

  @Test func rowsThatAreReadAheadAreFewIfTheyAreLarge() async throws {
    try await withShelves(3_000, notesByteCount: 10_000) { context throws in
      let entity = context.entity(of: Shelf.self)
      let numbers = try context.fetchIDs(From<Shelf>()).map(\.number)
      var stream = try RowStream(.objects(numbers), of: entity, in: context.view, isReversed: false)
      var found: [ObjectNumber] = []
      while let row = try stream.next() {
        found.append(row.number)
        #expect(row.record?.count ?? 0 > 10_000)
        if stream.heldByteCount > 17 << 20 { Issue.record("\(stream.heldByteCount) bytes are read ahead") }
      }
      #expect(found == numbers)
    }
  }

  @Test func recordsAtTheOtherEndsOfRelationshipsAreForgottenIfTheyAreLarge() async throws {
    try await withShelves(512, notesByteCount: 100_000) { context throws in
      let entity = context.entity(of: Shelf.self)
      let schema = context.coordinator.schema.schema
      let item = try #require(context.coordinator.schema.entity(named: "Item"))
      let request = From<Item>().where(format: "shelf.notes CONTAINS 'n'")
      var paths = RowPaths(item.schema, in: schema)
      for path in try request.untyped.resolved(for: item.schema, in: schema, store: context.storeID).paths {
        _ = paths.field(for: path)
      }
      let source = ViewRecordSource(paths, in: context.view, pending: nil)
      for number in try context.fetchIDs(From<Shelf>()).map(\.number) {
        let record = try #require(try source.record(number, at: 1))
        #expect(RecordView(record, layout: entity.layout) != nil)
        #expect(source.knownByteCount < 17 << 20)
        source.releaseRecords()
      }
    }
  }
}

extension ResolvedQuery {
  fileprivate var paths: [ResolvedPath] {
    var paths: [ResolvedPath] = []
    predicate.forEachPath { paths.append($0) }
    return paths
  }
}
