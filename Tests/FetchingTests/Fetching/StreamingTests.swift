import Cambium
import Foundation
import GraphTestSupport
import TestSupport
import Testing

@testable import GraphContext

/// Results in batches.
struct StreamingTests {
  @Test func batchesAreTheFetchCutUp() async throws {
    let container = try await PersistentContainer("stream", models: Item.self, Shelf.self, at: .inMemory)
    let seed = SeededGenerator().seed
    try await container.performBackgroundTask { context throws in
      var random = SeededGenerator(seed: seed)
      var world = FetchWorld()
      for round in 0..<2 {
        try world.change(context, 300, &random)
        if round == 0 { try context.save() }
        for _ in 0..<40 {
          let condition = world.condition(depth: random.number(in: 0...1), &random)
          let tree = try PredicateTree(format: condition.text, arguments: condition.arguments)
          var request = From<Item>().where(Where(tree)).orderBy(world.order(&random).0)
          if random.chance(1, in: 2) {
            request = request.limit(random.number(in: 0...40)).offset(random.number(in: 0...20))
          }
          var found: [Item] = []
          try context.forEach(request, inBatchesOf: random.pick([1, 7, 1_000])) { found.append($0) }
          let expected = try context.fetch(request)
          #expect(found.map(\.objectID) == expected.map(\.objectID), "\(request)")
          #expect(zip(found, expected).allSatisfy { $0 === $1 })
          var values: [Int?] = []
          try context.forEach(request.select(\.n)) { values.append($0) }
          #expect(values == expected.map(\.n))
        }
      }
    }
  }

  /// As a fetch finds it.
  @Test func anObjectThatItsUnsavedChangesKeepIsInABatch() async throws {
    let library = try await Library.open()
    let (context, other) = (try library.context(), try library.context())
    let writers = ["Woolf", "Zola"].map { Writer($0) }
    for writer in writers { context.insert(writer) }
    try context.save()
    writers[0].rank = 5
    try other.refresh()
    other.delete(try other.existingObject(Writer.self, with: writers[0].objectID))
    try other.save()
    try context.refresh()
    for shown in [context, context.makeChild()] {
      var names: [String] = []
      try shown.forEach(From<Writer>().orderBy(\.name), inBatchesOf: 1) { names.append($0.name) }
      #expect(try names == shown.fetch(From<Writer>().orderBy(\.name)).map(\.name))
    }
    #expect(try context.count(From<Writer>()) == 2)
  }

  @Test func aStreamStaysWithTheSnapshotOfItsStart() async throws {
    try await withItems(100) { context throws in
      var seen: [Int?] = []
      try context.forEach(From<Item>(), inBatchesOf: 10) { item in
        seen.append(item.n)
        if seen.count == 1 {
          // Some objects of later batches are deleted, some are changed, and new objects are inserted.
          for other in try context.fetch(From<Item>().where(\.n >= 50)) { context.delete(other) }
          for other in try context.fetch(From<Item>().where(\.n < 50)) { other.m = 1 }
          context.insert(Item(n: 1_000, m: nil, t: nil, d: nil, w: nil, u: nil, flag: true, shelf: nil))
          try context.save()
        }
        if (item.n ?? 0) > 10 { #expect(item.m == 1) }
      }
      #expect(seen == Array(0..<50))
    }
  }

  @Test func onlyOneBatchOfRecordsIsKept() async throws {
    try await withItems(5_000) { context throws in
      var most = 0
      try context.forEach(From<Item>(), inBatchesOf: 50) { item in
        most = max(most, context.view.keptByteCount)
        #expect(item.flag)
      }
      #expect(most > 0 && most < 50 * 400)
    }
  }

  @MainActor @Test func aLoopTakesBatchesOnTheActorOfItsContext() async throws {
    let container = try await PersistentContainer("stream", models: Item.self, Shelf.self, at: .inMemory)
    let context = container.viewContext
    for n in 0..<25 {
      context.insert(Item(n: n, m: nil, t: nil, d: nil, w: nil, u: nil, flag: true, shelf: nil))
    }
    try context.save()
    var counts: [Int] = []
    for try await batch in context.fetch(From<Item>().orderBy(.descending(\.n)), inBatchesOf: 10) {
      if counts.isEmpty { #expect(batch.map(\.n) == Array((15..<25).reversed())) }
      counts.append(batch.count)
    }
    #expect(counts == [10, 10, 5])
    let mistake = await #expect(throws: ContextError.self) {
      for try await _ in context.fetch(From<Item>().where(format: "n =="), inBatchesOf: 10) {}
    }
    #expect(mistake?.code == .invalidQuery)
  }

  @MainActor @Test func aCancelledTaskGetsNoMoreBatches() async throws {
    let container = try await PersistentContainer("stream", models: Item.self, Shelf.self, at: .inMemory)
    let context = container.viewContext
    for n in 0..<25 {
      context.insert(Item(n: n, m: nil, t: nil, d: nil, w: nil, u: nil, flag: true, shelf: nil))
    }
    try context.save()
    let task = Task { @MainActor in
      var count = 0
      do throws(ContextError) {
        for try await batch in context.fetch(From<Item>(), inBatchesOf: 10) {
          count += batch.count
          withUnsafeCurrentTask { $0?.cancel() }
        }
      } catch {
        return error.code == .cancelled ? count : -1
      }
      return -1
    }
    #expect(await task.value == 10)
  }

  @Test func aLongScanEndsWhenItsTaskIsCancelled() async throws {
    let container = try await PersistentContainer("stream", models: Item.self, Shelf.self, at: .inMemory)
    try await container.performBackgroundTask { context throws in
      for n in 0..<5_000 {
        context.insert(Item(n: n, m: nil, t: nil, d: nil, w: nil, u: nil, flag: true, shelf: nil))
      }
      try context.save()
    }
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      // The block runs on a queue, outside of the task.
      return try await container.performBackgroundTask { context throws in
        #expect(try context.count(From<Item>()) == 5_000)
        #expect(code { try context.fetch(From<Item>().where(\.t == "x")) } == .cancelled)
        #expect(code { try context.fetch(From<Item>()) } == .cancelled)
        #expect(code { try context.sum(of: \Item.m) } == .cancelled)
        #expect(code { try context.fetch(From<Item>().groupBy(\.n).aggregate(.count)) } == .cancelled)
        #expect(code { try context.forEach(From<Item>()) { _ in } } == .cancelled)
        return try context.fetch(From<Item>().where(\.n < 100)).count
      }
    }
    #expect(try await task.value == 100)
  }

  @Test(.timeLimit(.minutes(60))) func elementsOfElementsEndWhenTheTaskIsCancelled() async throws {
    let container = try await Library.open()
    try await container.performBackgroundTask { context throws in
      let (writer, publisher) = (Writer("w"), Publisher("p"))
      context.insert(writer)
      context.insert(publisher)
      for pages in 0..<100 {
        let book = Book("b", pages: pages, publisher: publisher)
        context.insert(book)
        book.writer = writer
      }
      try context.save()
    }
    // One writer, and 100 to the sixth books.
    let condition = (0..<5).reduce("$x5.cover != nil") { inner, level in
      "SUBQUERY($x\(4 - level).writer.books, $x\(5 - level), \(inner)).@count > 0"
    }
    let query = From<Writer>().where(format: "SUBQUERY(books, $x0, \(condition)).@count > 0")
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await container.performBackgroundTask { context throws in
        #expect(code { try context.fetch(query) } == .cancelled)
      }
    }
    try await task.value
  }

  private func code(_ body: () throws -> some Any) -> ContextError.Code? {
    #expect(throws: ContextError.self) { try body() }?.code
  }

  private func withItems(
    _ count: Int,
    _ body: @Sendable @escaping (ManagedObjectContext) throws -> Void
  ) async throws {
    let container = try await PersistentContainer("stream", models: Item.self, Shelf.self, at: .inMemory)
    try await container.performBackgroundTask { context throws in
      for n in 0..<count {
        context.insert(Item(n: n, m: nil, t: "item \(n)", d: nil, w: nil, u: nil, flag: true, shelf: nil))
      }
      try context.save()
      try body(context)
    }
  }
}
