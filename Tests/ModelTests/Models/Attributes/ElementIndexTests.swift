import Cambium
import Foundation
import GraphTestSupport
import TestSupport
import Testing

@testable import GraphContext

/// Indexes with an entry for each element of a list.
struct ElementIndexTests {
  @Model final class Song {
    #Index<Song>([\.tags, \.title], [\.marks])
    #Index<Song>([\.tags], folding: [.case, .diacritics])
    var title: String
    var tags: [String] = []
    var marks: Set<Int>?
    init(_ title: String) { self.title = title }
  }

  let folder: TemporaryFolder
  let container: PersistentContainer

  init() async throws {
    folder = try TemporaryFolder()
    let url = URL(fileURLWithPath: folder.file("songs.cambium"))
    container = try await PersistentContainer("Songs", models: Song.self, at: url)
  }

  private struct Plain: Equatable {
    var title: String
    var tags: [String]
    var marks: Set<Int>?
  }

  /// Random changes, beside plain values. Every condition finds the objects that a test of the plain values finds,
  /// with and without unsaved changes.
  @Test func theIndexAgreesWithTheLists() async throws {
    var random = SeededGenerator()
    let words = ["jazz", "Jazz", "jäzz", "live", "", "bebop", "\u{0}\u{1}", "jazz rock"]
    var plain: [Int: Plain] = [:]
    var next = 0
    for round in 0..<30 {
      let context = try container.newBackgroundContext()
      var (known, number) = (plain, next)
      for _ in 0..<Int.random(in: 1...20, using: &random) {
        let tags = (0..<Int.random(in: 0...4, using: &random)).map { _ in words.randomElement(using: &random)!
        }
        let marks =
          Bool.random(using: &random) ? nil : Set((0..<3).map { _ in Int.random(in: -3...3, using: &random) })
        let choice = Int.random(in: 0..<4, using: &random)
        let victim = known.keys.sorted().randomElement(using: &random)
        let (created, title) = (number, "S\(number)")
        if choice < 2 || victim == nil {
          try await context.perform { context in
            let song = Song(title)
            (song.tags, song.marks) = (tags, marks)
            context.insert(song)
          }
          known[created] = Plain(title: title, tags: tags, marks: marks)
          number += 1
        } else if let victim {
          let title = known[victim]!.title
          try await context.perform { context in
            let song = try context.fetch(From<Song>().where { $0.title == title })[0]
            if choice == 2 { context.delete(song) } else { (song.tags, song.marks) = (tags, marks) }
          }
          known[victim] = choice == 2 ? nil : Plain(title: title, tags: tags, marks: marks)
        }
      }
      let state = known
      try await context.perform { context in try Self.check(context, state) }
      if round % 5 == 4 {
        try await context.perform { $0.rollback() }
        continue
      }
      try await context.perform { try $0.save() }
      (plain, next) = (known, number)
      let saved = plain
      try await context.perform { context in try Self.check(context, saved) }
    }
    #expect(try await container.verify().isEmpty)
    try await container.batchDelete(From<Song>().where { $0.tags.contains("live") })
    plain = plain.filter { !$0.value.tags.contains("live") }
    let rest = plain
    try await container.performBackgroundTask { context in try Self.check(context, rest) }
    #expect(try await container.verify().isEmpty)
  }

  private static func check(_ context: ManagedObjectContext, _ plain: [Int: Plain]) throws {
    func titles(_ request: From<Song>) throws -> [String] { try context.fetch(request).map(\.title).sorted() }
    func expect(_ request: From<Song>, _ holds: (Plain) -> Bool) throws {
      let wanted = plain.values.filter(holds).map(\.title).sorted()
      #expect(try titles(request) == wanted, "\(request)")
      #expect(try context.count(request) == wanted.count, "\(request)")
    }
    let songs = From<Song>()
    for word in ["jazz", "", "live", "nothing", "\u{0}\u{1}"] {
      try expect(songs.where { $0.tags.contains(word) }) { $0.tags.contains(word) }
      try expect(songs.where { !$0.tags.contains(word) }) { !$0.tags.contains(word) }
      try expect(songs.where { $0.tags.any { $0.hasPrefix(word) } }) {
        $0.tags.contains { $0.hasPrefix(word) }
      }
      try expect(songs.where { $0.tags.contains(word) || $0.marks.contains(2) }) {
        $0.tags.contains(word) || $0.marks?.contains(2) == true
      }
      try expect(songs.where { $0.tags.contains(word) && $0.tags.contains("jazz") && $0.title > "S3" }) {
        $0.tags.contains(word) && $0.tags.contains("jazz") && $0.title > "S3"
      }
      let first = try context.fetch(
        songs.where { $0.tags.contains(word) }.orderBy(.descending(\.title)).limit(3)
      )
      let wanted = plain.values.filter { $0.tags.contains(word) }.map(\.title).sorted(by: >).prefix(3)
      #expect(first.map(\.title) == Array(wanted))
    }
    try expect(songs.where(format: "ANY tags IN {'jazz', 'live'}")) {
      $0.tags.contains("jazz") || $0.tags.contains("live")
    }
    try expect(songs.where(format: "ANY tags ==[cd] 'JAZZ'")) {
      $0.tags.contains { ["jazz", "Jazz", "jäzz"].contains($0) }
    }
    try expect(songs.where(format: "ANY tags BEGINSWITH[cd] 'JA'")) {
      $0.tags.contains { ["jazz", "Jazz", "jäzz", "jazz rock"].contains($0) }
    }
    try expect(songs.where(format: "ALL marks > 0")) { ($0.marks ?? []).allSatisfy { $0 > 0 } }
    try expect(songs.where(format: "ANY marks BETWEEN {-1, 1}")) {
      ($0.marks ?? []).contains { (-1...1).contains($0) }
    }
    try expect(songs.where(format: "NONE marks = 3")) { !($0.marks ?? []).contains(3) }
  }

  @Test func thePlanReadsTheIndex() async throws {
    try await container.performBackgroundTask { context in
      for number in 0..<3_000 {
        let song = Song("S\(number)")
        song.tags = number % 2 == 0 ? ["even", "n\(number)"] : ["odd"]
        song.marks = [number % 100, -1]
        context.insert(song)
      }
      try context.save()
      func expect(_ request: From<Song>, _ part: String) throws {
        let plan = try context.explain(request, analyze: true).description
        #expect(plan.contains(part), "\(plan)")
      }
      let songs = From<Song>()
      let even = songs.where { $0.tags.contains("even") }
      try expect(
        songs.where { $0.tags.contains("n4") },
        "index tags,title, ANY tags == \"n4\": 1 row (exact)"
      )
      try expect(even.orderBy(.ascending(\.title)).limit(5), "order: in index order")
      try expect(even.orderBy(.ascending(\.title)).limit(5), "entries walked 5;")
      try expect(
        songs.where { $0.tags.any { $0.hasPrefix("n12") } },
        "first Song by index tags,title, ANY tags BEGINSWITH \"n12\": 56 rows (exact)"
      )
      try expect(
        songs.where { $0.marks.contains(7) && $0.tags.contains("odd") },
        "index marks, ANY marks == 7: 30 rows (exact)"
      )
      try expect(
        songs.where { $0.tags.contains("n4") || $0.marks.contains(12) },
        "union of index ranges, 31 rows"
      )
      // An index in which objects have several entries or none serves no other condition and no order.
      try expect(songs.where { $0.tags.isEmpty }, "full scan")
      try expect(songs.orderBy(.ascending(\.title)), "full scan")
      #expect(try context.count(songs) == 3_000)
      #expect(try context.count(even) == 1_500)
    }
  }

  @Test func aListThatIsNoneIsReported() async throws {
    try await container.performBackgroundTask { context in
      let song = Song("A")
      song.tags = ["jazz"]
      context.insert(song)
      try context.save()
    }
    let entity = try #require(container.coordinator.schema.entity(named: "Song"))
    try await container.store.write { transaction in
      let tree = try transaction.tree(entity.treeName)
      let key = KeyCoder.key(of: 1)
      var record = try #require(try tree.value(for: key))
      let start = try #require(record.firstRange(of: Array("[\"jazz\"]".utf8))?.lowerBound)
      record[start] = UInt8(ascii: "{")
      _ = try tree.put(key, record)
    }
    let problems = try await container.verify().map(\.message)
    #expect(problems.contains { $0.hasSuffix("is not a valid list") }, "\(problems)")
    await #expect(throws: ContextError.self) {
      try await container.performBackgroundTask { context in
        _ = try context.fetch(From<Song>().where(format: "ANY tags LIKE '*z'"))
      }
    }
  }
}
