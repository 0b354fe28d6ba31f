import Cambium
import Foundation
import GraphTestSupport
import Predicates
import TestSupport
import Testing

@testable import GraphContext

/// Every error of a query is a `ContextError`, also in the types that the compiler checks.
struct TypedErrorTests {
  /// The code of the first failure, and which query failed; nil if none did. The compiler takes every error for a `ContextError`.
  private static func failures(_ request: From<Item>, in context: ManagedObjectContext) -> [ContextError] {
    var errors: [ContextError] = []
    func note(_ query: () throws(ContextError) -> Void) {
      do throws(ContextError) { try query() } catch { errors.append(error) }
    }
    note { () throws(ContextError) in _ = try context.fetch(request) }
    note { () throws(ContextError) in _ = try context.fetchOne(request) }
    note { () throws(ContextError) in _ = try context.fetchIDs(request) }
    note { () throws(ContextError) in _ = try context.count(request) }
    note { () throws(ContextError) in _ = try context.exists(request) }
    note { () throws(ContextError) in _ = try context.explain(request, analyze: true) }
    note { () throws(ContextError) in _ = try context.sum(of: \.m, in: request) }
    note { () throws(ContextError) in _ = try context.average(of: \.m, in: request) }
    note { () throws(ContextError) in _ = try context.min(of: \.d, in: request) }
    note { () throws(ContextError) in _ = try context.max(of: \.d, in: request) }
    note { () throws(ContextError) in _ = try context.median(of: \.m, in: request) }
    note { () throws(ContextError) in _ = try context.aggregate(.count(\.d), .sum(\.m), in: request) }
    note { () throws(ContextError) in _ = try context.explain(.sum(\.m), in: request, analyze: true) }
    note { () throws(ContextError) in _ = try context.fetch(request.select(\.d)) }
    note { () throws(ContextError) in _ = try context.fetch(request.select(\.d, \.m)) }
    note { () throws(ContextError) in _ = try context.fetch(request.select(\.d, \.m).distinct()) }
    note { () throws(ContextError) in _ = try context.explain(request.select(\.d), analyze: true) }
    note { () throws(ContextError) in _ = try context.fetch(request.groupBy(\.d).aggregate(.sum(\.m))) }
    note { () throws(ContextError) in
      _ = try context.explain(request.groupBy(\.d).aggregate(.sum(\.m)), analyze: true)
    }
    return errors
  }
  private static let queryCount = 19

  private func open(_ count: Int = 0) async throws -> PersistentContainer {
    let container = try await PersistentContainer("errors", models: Item.self, Shelf.self, at: .inMemory)
    try await container.performBackgroundTask { context throws in
      Self.insert(count, in: context); try context.save()
    }
    return container
  }

  private static func insert(_ count: Int, in context: ManagedObjectContext) {
    for n in 0..<count {
      context.insert(
        Item(n: n, m: 1, t: "needle \(n)", d: Double(n), w: nil, u: nil, flag: true, shelf: nil)
      )
    }
  }

  @Test func aMistakeIsAnInvalidQuery() async throws {
    let container = try await open()
    try await container.performBackgroundTask { context throws in
      let text = "n == 1 AND colour == 2"
      let errors = Self.failures(From<Item>().where(format: text), in: context)
      #expect(errors.count == Self.queryCount)
      for error in errors {
        #expect(error.code == .invalidQuery)
        #expect(error.queryError?.code == .unknownName && error.queryError?.source == text)
        // The text of the error shows the position of the mistake.
        #expect(error.description == "invalidQuery: \(try #require(error.queryError))")
        #expect(error.message.contains(text) && error.message.hasSuffix("^"))
      }
      #expect(Self.failures(From<Item>(), in: context).isEmpty)
    }
  }

  @Test func aMistakeInAQueryInWordsIsOneToo() async throws {
    let container = try await open()
    let store = try DynamicStore(container.store)
    let wrong = DynamicQuery("Item", where: try PredicateTree(format: "colour == 1"))
    #expect(expectMistake { try store.rows(of: wrong) }?.keyPath == "colour")
    #expect(expectMistake { try store.count(wrong) }?.code == .unknownName)
    #expect(expectMistake { try store.explain(wrong) }?.code == .unknownName)
    #expect(expectMistake { try store.forEach(wrong) { _ in true } }?.code == .unknownName)
    var groups = wrong
    groups.groupBy = ["n"]
    #expect(expectMistake { try store.groups(of: groups) }?.code == .unknownName)
    #expect(expectMistake { try store.columns(of: groups) }?.code == .unknownName)
    #expect(expectMistake { try store.columns(of: DynamicQuery("Nothing")) }?.code == .unknownName)
  }

  @Test func aCancelledTaskCancelsItsQueries() async throws {
    let container = try await open(5_000)
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await container.performBackgroundTask { context throws in
        #expect(try context.count(From<Item>()) == 5_000)
        let errors = Self.failures(From<Item>().where(\.t == "x"), in: context)
        // Nothing matches, so that every query goes through thousands of rows.
        #expect(errors.count == Self.queryCount)
        #expect(errors.allSatisfy { $0.code == .cancelled && $0.storeError == nil })
      }
    }
    try await task.value
  }

  @Test func aDamagedRecordIsCorrupt() async throws {
    let container = try await open(3)
    let tree = try #require(container.coordinator.schema.entity(named: "Item")).treeName
    try await container.store.write { transaction in
      _ = try transaction.tree(tree).put(KeyCoder.key(of: 1), [1, 2, 3])
    }
    try await container.performBackgroundTask { context throws in
      let errors = Self.failures(From<Item>().where(\.u == nil), in: context)
      #expect(errors.count == Self.queryCount)
      for error in errors {
        #expect(error.code == .corrupt && error.context.entity == "Item", "\(error)")
      }
    }
  }

  @Test func aDamagedPageIsTheStoresError() async throws {
    let folder = try TemporaryFolder()
    let url = URL(fileURLWithPath: folder.file("items.cambium"))
    let models: [any ManagedObject.Type] = [Item.self, Shelf.self]
    let whole = try await PersistentContainer("errors", models: models, at: .file(url))
    try await whole.performBackgroundTask { context throws in
      Self.insert(50, in: context); try context.save()
    }
    try await whole.close()
    var bytes = try Data(contentsOf: url)
    let needle = Data("needle".utf8)
    while let place = bytes.range(of: needle) { bytes[place.lowerBound] = 0 }
    try bytes.write(to: url)
    let damaged = try await PersistentContainer("errors", models: models, at: .file(url))
    try await damaged.performBackgroundTask { context throws in
      let errors = Self.failures(From<Item>().where(\.u == nil), in: context)
      #expect(errors.count == Self.queryCount)
      #expect(errors.allSatisfy { $0.code == .store && $0.storeError?.code == .corrupt })
      let lookup = #expect(throws: ContextError.self) { try context.fetch(From<Item>().where(\.n == 7)) }
      #expect(lookup?.storeError?.code == .corrupt)
    }
  }

  /// An error that the program's body throws is rethrown unchanged, whatever its type is.
  @Test func whatABodyThrowsIsThrownAsItIs() async throws {
    let container = try await open(3)
    let store = try DynamicStore(container.store)
    struct Stop: Error {}
    try await container.performBackgroundTask { context throws in
      var count = 0
      func stop() throws {
        count += 1
        throw count % 2 == 0 ? Stop() as any Error : QueryError(.syntax, "no")
      }
      for number in 1...8 {
        let error = #expect(throws: (any Error).self) {
          switch (number - 1) / 2 {
          case 0: try context.forEach(From<Item>()) { _ in try stop() }
          case 1: try context.forEach(From<Item>().select(\.n)) { _ in try stop() }
          case 2: try context.forEach(From<Item>().select(\.n, \.m)) { _, _ in try stop() }
          default:
            try store.forEach(DynamicQuery("Item")) { _ in
              try stop()
              return true
            }
          }
        }
        #expect(count == number)
        #expect(number % 2 == 0 ? error is Stop : error is QueryError)
      }
      // The iteration also stops when the body returns false.
      var rowCount = 0
      try store.forEach(DynamicQuery("Item")) { _ in
        rowCount += 1
        return rowCount < 2
      }
      #expect(rowCount == 2)
    }
  }

  @MainActor @Test func batchesFailWithTheSameType() async throws {
    let container = try await open(25)
    let context = container.viewContext
    func failure(_ batches: ObjectBatches<Item>) async -> ContextError? {
      do throws(ContextError) {
        for try await _ in batches {}
        return nil
      } catch {
        return error
      }
    }
    #expect(await failure(context.fetch(From<Item>(), inBatchesOf: 10)) == nil)
    let mistake = await failure(context.fetch(From<Item>().where(format: "n =="), inBatchesOf: 10))
    #expect(mistake?.code == .invalidQuery && mistake?.queryError?.code == .syntax)
    #expect(await failure(context.fetch(From<Item>(), inBatchesOf: 0))?.queryError?.code == .arguments)
    let task = Task { @MainActor in
      withUnsafeCurrentTask { $0?.cancel() }
      return await failure(context.fetch(From<Item>(), inBatchesOf: 10))
    }
    #expect(await task.value?.code == .cancelled)
  }
}
