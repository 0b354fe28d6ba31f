import Cambium
import GraphTestSupport
import Synchronization
import TestSupport
import Testing

@testable import GraphContext

/// Thousands of objects that are deleted by batch, and one by one.
struct LargeDeletionTests {
  /// The number of items before the deletion.
  private static let objectCount = TestEffort.times(2_000)

  @Test func aBatchDeletesWhatDeletingOneByOneDoes() async throws {
    let count = Self.objectCount
    var generator = SeededGenerator()
    let seed = generator.next()
    let (batch, single) = (try await open(), try await open())
    try await fill(batch, count, SeededGenerator(seed: seed))
    try await fill(single, count, SeededGenerator(seed: seed))
    let watcher = try Watcher(batch)
    let other = try Watcher(single)

    let ranked = From<StockItem>().where { $0.rank < 5 }
    let labelled = From<StockCrate>().where { $0.label.hasPrefix("a") }
    // The key paths of a model are followed once, over objects that exist only for that.
    _ = try await batch.query { try ($0.count(ranked), $0.count(labelled)) }

    let made = StockCounts.freed.load(ordering: .relaxed)
    let items = try await batch.batchDelete(ranked)
    let crates = try await batch.batchDelete(labelled)
    #expect(StockCounts.freed.load(ordering: .relaxed) == made, "no object was made")
    try await single.performBackgroundTask { context in
      let found = try context.fetch(ranked)
      #expect(found.map(\.objectID.number) == items.map(\.number))
      for item in found { context.delete(item) }
      try context.save()
      let emptied = try context.fetch(labelled)
      #expect(emptied.map(\.objectID.number) == crates.map(\.number))
      for crate in emptied { context.delete(crate) }
      try context.save()
    }
    #expect(StockCounts.freed.load(ordering: .relaxed) > made, "one by one they are")

    let (changes, expected) = (try watcher.changes(), try other.changes())
    #expect(changes.deleted.count > count / 2 && changes.deleted.count < count * 11 / 10)
    #expect(changes.deleted.map(\.number) == expected.deleted.map(\.number))
    #expect(changes.updated.map(\.number) == expected.updated.map(\.number))
    #expect(try await dump(batch) == dump(single))
    #expect(try await batch.verify() == [])
    #expect(try await single.verify() == [])
  }

  private func open() async throws -> PersistentContainer {
    try await PersistentContainer(
      "Stock",
      models: StockCrate.self,
      StockItem.self,
      StockNote.self,
      at: .inMemory
    )
  }

  /// Crates of ten items each, and notes about some of them.
  private func fill(_ container: PersistentContainer, _ count: Int, _ seeded: SeededGenerator) async throws {
    try await container.performBackgroundTask { context in
      var random = seeded
      for first in stride(from: 0, to: count, by: 5_000) {
        let note = StockNote("\(first)")
        context.insert(note)
        for number in first..<min(count, first + 5_000) where number % 10 == 0 {
          let crate = StockCrate(random.pick(["a", "b"]) + "\(number)")
          context.insert(crate)
          for code in number..<number + 10 {
            let item = StockItem(code, rank: random.number(in: 0...9))
            item.crate = crate
            if random.chance(1, in: 8) { note.items.insert(item) }
            if random.chance(1, in: 8) { crate.favourite = item }
          }
        }
        try context.save()
        context.reset()
      }
    }
  }

  private func dump(_ container: PersistentContainer) async throws -> [String] {
    try await container.query { context in
      var lines: [String] = []
      for crate in try context.fetch(From<StockCrate>()) {
        let items = crate.items.map(\.objectID.number)
        lines.append("\(crate.objectID.number) \(crate.label) \(items) \(crate.favourite?.code ?? -1)")
      }
      for item in try context.fetch(From<StockItem>()) {
        lines.append("\(item.objectID.number) \(item.code) \(item.rank) \(item.crate?.label ?? "none")")
      }
      for note in try context.fetch(From<StockNote>()) {
        lines.append("\(note.text) \(note.items.map(\.code).sorted())")
      }
      return lines
    }
  }
}

/// A context that keeps the last event about its deleted and changed objects.
private final class Watcher {
  private let context: ManagedObjectContext
  private var subscription: ContextSubscription?
  private var told = ObjectChanges(origin: .store, contextName: nil)

  init(_ container: PersistentContainer) throws {
    context = try container.context()
    subscription = context.onObjectsDidChange { [unowned self] in told = $0 }
  }

  deinit { context.end() }

  /// Moves the context to the newest commit, and returns the changes that its event reports.
  func changes() throws -> ObjectChanges {
    try context.refresh()
    return told
  }
}

enum StockCounts {
  /// The number of items that were in memory and have been freed.
  static let freed = Atomic(0)
}

@Model final class StockCrate {
  var label: String
  @Relationship(deleteRule: .cascade, inverse: \StockItem.crate) var items: [StockItem] = []
  @Relationship var favourite: StockItem?

  init(_ label: String) { self.label = label }
}

@Model final class StockItem {
  #Index<StockItem>([\.rank])
  #Unique<StockItem>([\.code])
  var code: Int
  var rank: Int
  @Relationship var crate: StockCrate?
  @Relationship(inverse: \StockNote.items) var notes: [StockNote] = []

  init(_ code: Int, rank: Int) {
    self.code = code
    self.rank = rank
  }

  deinit { StockCounts.freed.add(1, ordering: .relaxed) }
}

@Model final class StockNote {
  var text: String
  @Relationship var items: Set<StockItem> = []

  init(_ text: String) { self.text = text }
}
