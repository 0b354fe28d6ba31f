import Cambium
import PageStore
import TestSupport
import Testing

@testable import GraphContext

/// Lists over indexes whose entries are not those of the records: reading and following them may show anything or throw, and must not trap.
struct ForgedListTests {
  @Test func listsOfForgedIndexesTrapNothing() async throws {
    var random = SeededGenerator()
    var noticedCount = 0
    for _ in 0..<40 {
      let container = try await Airport.open()
      let context = try container.context()
      for _ in 0..<40 { context.insert(Departure(random.number(in: 0...200), "x")) }
      try context.save()
      let seed = random.next()
      try await container.store.write { transaction in
        var random = SeededGenerator(seed: seed)
        for _ in 0..<random.number(in: 1...12) { try Self.forge(&transaction, &random) }
      }
      noticedCount += Self.follow(container, &random) ? 1 : 0
    }
    #expect(noticedCount > 0)
  }

  /// Removes an entry of an index, or changes a byte of its key.
  private static func forge(_ transaction: inout WriteTransaction, _ random: inout SeededGenerator) throws {
    let names = transaction.treeNames.filter { $0.contains("index") || $0.hasPrefix("i") }
    guard !names.isEmpty else { throw NoIndexes() }
    let tree = try transaction.tree(random.pick(names))
    let count = try tree.count
    guard count > 0, let entry = try tree.entry(at: random.number(in: 0...count - 1)) else { return }
    if random.chance(1, in: 2) { _ = try tree.remove(entry.key) }
    if random.chance(1, in: 3) { return }
    var key = entry.key
    let place = random.number(in: 0...key.count - 1)
    key[place] = UInt8(random.number(in: 0...255))
    _ = try tree.put(key, entry.value)
  }

  private struct NoIndexes: Error {}

  /// Makes lists, and follows changes with them.
  ///
  /// - Returns: true if any call threw an error.
  private static func follow(_ container: PersistentContainer, _ random: inout SeededGenerator) -> Bool {
    do {
      let context = try container.context()
      let byMinute = From<Departure>().orderBy(\.minute)
      let lists = try [
        FetchedResults(byMinute, sectionedBy: SectionedBy(\.minute) { "\($0 / 3)" }, in: context),
        FetchedResults(
          From<Departure>().orderBy(\.hour, \.minute),
          sectionedBy: SectionedBy(\.hour),
          in: context
        ),
      ]
      for list in lists { list.sectioning?.limits = .init(sections: 2, objects: 4, chunks: 1) }
      let target = RecordingListTarget()
      let source = ListDataSource(lists[0], target: target)
      for _ in 0..<12 {
        let departures = try context.fetch(From<Departure>())
        for _ in 0..<random.number(in: 1...3) where !departures.isEmpty {
          let one = random.pick(departures)
          switch random.number(in: 0...3) {
          case 0: context.insert(Departure(random.number(in: 0...200), "y"))
          case 1: context.delete(one)
          default: if !one.isDeleted { one.minute = random.number(in: 0...200) }
          }
        }
        context.processPendingChanges()
        for list in lists {
          if !list.isEmpty { _ = list[section: 0, item: 0].minute }
          if let section = list.sections.indices.randomElement(using: &random) {
            _ = list.sections[section].map(\.minute)
          }
          if !list.isEmpty { _ = list.path(at: random.number(in: 0...list.count - 1)) }
        }
        if random.chance(1, in: 4) { try context.save() }
        try context.checkUsable()
      }
      withExtendedLifetime(source) {}
      return lists.contains { $0.failure != nil }
    } catch {
      return true
    }
  }
}
