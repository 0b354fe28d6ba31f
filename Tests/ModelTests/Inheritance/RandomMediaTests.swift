import Cambium
import Foundation
import GraphTestSupport
import TestSupport
import Testing

@testable import GraphContext

/// Random changes of a hierarchy whose classes have derived values, ordered lists, external values, lists with indexes and unique values: by two
/// contexts, a child, batches, undoing and redoing, over several openings of the store.
struct RandomMediaTests {
  /// The number of steps.
  private static let stepCount = TestEffort.times(250, long: 400)

  @Test func aHierarchyOfEveryKindIsWhatPlainValuesAre() async throws {
    let folder = try TemporaryFolder()
    let url = URL(fileURLWithPath: folder.file("media.cambium"))
    let run = try await MediaRun(url, SeededGenerator())
    for step in 0..<Self.stepCount {
      try await run.step()
      if step % 10 == 9 {
        let problems = try await run.container.verify().map(\.description)
        try #require(problems == [], "step \(step)")
      }
    }
    try await run.reopenAndFinish()
  }

  /// Four tasks save at a time; `verify` recomputes what the store derives, indexes and orders.
  @Test func racingSavesKeepAHierarchyWhole() async throws {
    let container = try await Media.open()
    try container.inContext { (context: ManagedObjectContext) throws -> Void in
      for name in ["A", "B", "C"] { context.insert(Media.Shelf(name)) }
      try context.save()
    }
    let random = SeededGenerator()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for writer in 0..<4 {
        group.addTask {
          var random = SeededGenerator(seed: random.seed &+ UInt64(writer))
          for round in 0..<Self.stepCount / 8 {
            let (code, dice) = (writer * 100_000 + round, random.number(in: 0...9))
            let (one, other) = (random.number(in: 0...99), random.number(in: 0...99))
            try await container.performBackgroundTask { context in
              context.mergePolicy = .mergeByPropertyObjectTrump
              try Self.change(context, code, dice, one, other)
              // An object that another task has deleted meanwhile can't be changed.
              do { try context.save() } catch { context.rollback() }
            }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try await container.verify().map(\.description) == [])
  }

  private static func change(
    _ context: ManagedObjectContext,
    _ code: Int,
    _ dice: Int,
    _ one: Int,
    _ other: Int
  ) throws {
    let shelves = try context.fetch(From<Media.Shelf>().orderBy(\.name))
    let items = try context.fetch(From<Media.Item>().orderBy(\.code))
    let shelf = shelves[one % shelves.count]
    let item = items.isEmpty ? nil : items[other % items.count]
    switch (dice, item) {
    case (0...3, _), (_, nil):
      let new = PlainMedium(PlainMedium.Kind.allCases[one % 3], code).makeObject()
      new.tags = ["x", "\(one % 3)"]
      new.title = "T\(one)"
      context.insert(new)
      shelf.items.insert(new, at: other % (shelf.items.count + 1))
    case (4, let item?): context.delete(item)
    case (5, let item?): item.shelf = shelf
    case (6, let book as Media.Book): book.notes.insert(PlainMedium.note("n\(one)"), at: 0)
    case (6, let disc as Media.Disc): context.insert(Media.Tune(one, on: disc))
    case (7, let book as Media.Book):
      book.fans = [shelf]
      book.words = ["w\(other % 5)"]
    case (8, _): if shelf.items.count > 1 { shelf.items.move(from: 0, to: one % shelf.items.count) }
    default:
      item?.title = "Ä\(other)"
      item?.tags = []
    }
  }
}
