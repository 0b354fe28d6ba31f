import Foundation
import Predicates
import TestSupport
import Testing

@testable import GraphContext

/// Counts that come from ranges of one index, without a plan, against plain arrays.
struct RangeCountTests {
  @Test func countsOfOneColumnAreThoseOfPlainArrays() async throws {
    let container = try await PersistentContainer("fetch", models: Item.self, Shelf.self, at: .inMemory)
    let seed = SeededGenerator().seed
    try await container.performBackgroundTask { context throws in
      var random = SeededGenerator(seed: seed)
      var world = FetchWorld()
      try world.change(context, 400, &random)
      try context.save()
      let items = world.items
      for _ in 0..<300 {
        let (n, d) = (random.number(in: -4...12), Double(random.number(in: -4...12)) / 2)
        let text = ["", "a", "ab", "zebra"][random.number(in: 0...3)]
        let questions: [(Where<Item>, (Item) -> Bool)] = [
          (Where { $0.n >= n }, { $0.n.map { $0 >= n } ?? false }),
          (Where { $0.n == n }, { $0.n == n }),
          (Where { $0.n != n }, { $0.n != n }),
          (Where { $0.n == nil }, { $0.n == nil }),
          (Where { [n, n + 2, n + 5].contains($0.n) }, { [n, n + 2, n + 5].contains($0.n) }),
          (!Where { [n, n + 3].contains($0.n) }, { ![n, n + 3].contains($0.n) }),
          (Where { $0.d < d }, { $0.d.map { $0 < d } ?? false }),
          (!Where { $0.d < d }, { !($0.d.map { $0 < d } ?? false) }),
          (Where { $0.t == text }, { $0.t.map { Array($0.utf8) } == Array(text.utf8) }),
          (Where { $0.m > 3 }, { $0.m.map { $0 > 3 } ?? false }),
        ]
        for (condition, holds) in questions {
          let expected = items.count(where: holds)
          let (limit, offset) = (random.number(in: 0...40), random.number(in: 0...40))
          let whole = From<Item>().where(condition)
          let part = whole.offset(offset).limit(limit)
          #expect(try context.count(whole) == expected, "\(whole), CAMBIUM_SEED=\(seed)")
          #expect(
            try context.count(part) == min(limit, max(0, expected - offset)),
            "\(part), CAMBIUM_SEED=\(seed)"
          )
          #expect(try context.exists(whole) == (expected > 0), "\(whole), CAMBIUM_SEED=\(seed)")
        }
      }
    }
  }
}
