import Cambium
import Foundation
import GraphTestSupport
import Testing

/// Aggregates of members in conditions have the types of all other aggregates: sums of short integers are Ints, averages of Decimals are Decimals.
struct ElementAggregateTests {
  @Test func sumsAndAveragesHaveTypesOfTheirOwn() async throws {
    let container = try await DerivedModels.open()
    try await container.performBackgroundTask { context in
      let (first, second) = (DerivedModels.Album("A"), DerivedModels.Album("B"))
      context.insert(first)
      context.insert(second)
      for weight: Int8 in [100, 101, 127] {
        let tag = DerivedModels.Tag(weight)
        context.insert(tag)
        first.tags.append(tag)
      }
      for number in 1...3 {
        let price = Decimal(number) / 10
        let seconds: Int16? = number == 2 ? nil : 30_000
        let song = DerivedModels.Song(
          "\(number)",
          seconds: seconds,
          rating: Double(number),
          price: price,
          in: second
        )
        context.insert(song)
      }
      typealias Albums = From<DerivedModels.Album>
      func titles(_ request: Albums) throws -> [String] { try context.fetch(request).map(\.title) }
      for _ in 0..<2 {
        #expect(try titles(Albums().where { $0.tags.sum(\.weight) > 300 }) == ["A"])
        #expect(try titles(Albums().where { $0.songs.sum(\.seconds) == 60_000 }) == ["B"])
        #expect(try titles(Albums().where { $0.songs.sum(\.price) == Decimal(6) / 10 }) == ["B"])
        #expect(try titles(Albums().where { $0.songs.average(\.price) == Decimal(2) / 10 }) == ["B"])
        #expect(try titles(Albums().where { $0.songs.average(\.seconds) == 30_000.0 }) == ["B"])
        #expect(try titles(Albums().where { $0.songs.median(\.rating) == 2 }) == ["B"])
        #expect(try titles(Albums().where { $0.tags.median(\.weight) == 101 }) == ["A"])
        try context.save()
      }
    }
  }

  @Test func listsHaveThemToo() async throws {
    let container = try await PersistentContainer("Marks", models: MarkedList.self, at: .inMemory)
    try await container.performBackgroundTask { context in
      context.insert(MarkedList("a", [100, 101, 127]))
      context.insert(MarkedList("b", []))
      let lists = From<MarkedList>()
      #expect(try context.fetch(lists.where { $0.marks.sum() > 300 }).map(\.name) == ["a"])
      #expect(try context.fetch(lists.where { $0.marks.sum() == 0 }).map(\.name) == ["b"])
      #expect(try context.fetch(lists.where { $0.marks.average() > 109 }).map(\.name) == ["a"])
      #expect(try context.fetch(lists.where { $0.marks.median() == 101 }).map(\.name) == ["a"])
      try context.save()
      #expect(try context.fetch(lists.where { $0.marks.sum() > 300 }).map(\.name) == ["a"])
    }
  }
}

@Model final class MarkedList {
  var name: String
  var marks: [Int8]

  init(_ name: String, _ marks: [Int8]) { (self.name, self.marks) = (name, marks) }
}
