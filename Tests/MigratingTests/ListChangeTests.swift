import Cambium
import Foundation
import TestSupport
import Testing

private enum First {
  @Model final class Song {
    #Index<Song>([\.marks])
    var title: String
    var marks: [Int16] = []
    init(_ title: String) { self.title = title }
  }
}

private enum Second {
  @Model final class Song {
    #Index<Song>([\.marks], [\.tags])
    var title: String
    var marks: [Double] = []
    var tags: Set<String> = ["new"]
    init(_ title: String) { self.title = title }
  }
}

private enum Third {
  @Model final class Song {
    var title: String
    var marks: [String] = []
    init(_ title: String) { self.title = title }
  }
}

private enum Narrow {
  @Model final class Song {
    var title: String
    var marks: [Int8]? = nil
    init(_ title: String) { self.title = title }
  }
}

private enum Unique {
  @Model final class Song {
    var title: String
    var marks: Set<Int8>? = nil
    init(_ title: String) { self.title = title }
  }
}

private enum FirstVersion: VersionedSchema {
  static let version = Schema.Version(1)
  static let models: [any ManagedObject.Type] = [First.Song.self]
}

private enum NarrowVersion: VersionedSchema {
  static let version = Schema.Version(2)
  static let models: [any ManagedObject.Type] = [Narrow.Song.self]
}

private enum TextVersion: VersionedSchema {
  static let version = Schema.Version(2)
  static let models: [any ManagedObject.Type] = [Third.Song.self]
}

private enum UniqueVersion: VersionedSchema {
  static let version = Schema.Version(2)
  static let models: [any ManagedObject.Type] = [Unique.Song.self]
}

private struct Facts: CodableAttribute {
  var year = 1971
}

private enum Coded {
  @Model final class Song {
    var title: String
    var marks: Facts = Facts()
    init(_ title: String) { self.title = title }
  }
}

/// Lists of values in a schema that changes.
struct ListChangeTests {
  let folder: TemporaryFolder
  let url: URL

  init() async throws {
    folder = try TemporaryFolder()
    url = URL(fileURLWithPath: folder.file("songs.cambium"))
    let container = try await PersistentContainer("Songs", models: First.Song.self, at: url)
    try await container.performBackgroundTask { context in
      for number in 0..<50 {
        let song = First.Song("S\(number)")
        song.marks = [Int16(number), Int16(-number), 1_000]
        context.insert(song)
      }
      try context.save()
    }
    try await container.close()
  }

  @Test func elementsAreWidenedAndIndexesBuilt() async throws {
    let container = try await PersistentContainer("Songs", models: Second.Song.self, at: url)
    try await container.performBackgroundTask { context in
      let songs = From<Second.Song>()
      let (seven, new, many) = (
        songs.where { $0.marks.contains(-7) }, songs.where { $0.tags.contains("new") },
        songs.where { $0.marks.contains(1_000) }
      )
      #expect(try context.fetch(seven).map(\.title) == ["S7"])
      #expect(try context.fetch(seven)[0].marks == [7, -7, 1_000])
      #expect(try context.count(new) == 50)
      #expect(try context.count(many) == 50)
      try context.fetch(seven)[0].marks.append(0.5)
      try context.save()
      let half = songs.where { $0.marks.any { $0 > 0.1 && $0 < 0.9 } }
      #expect(try context.fetch(half).map(\.title) == ["S7"])
    }
    #expect(try await container.verify() == [])
    try await container.close()
  }

  @Test func otherElementsAreRefused() async throws {
    let error = await #expect(throws: ContextError.self) {
      _ = try await PersistentContainer("Songs", models: Third.Song.self, at: url)
    }
    #expect(
      error?.description.contains("Song.marks is [int16] in the store and [string] in the model") == true
    )
  }

  @Test func aCodedValueIsNoList() async throws {
    let folder = try TemporaryFolder()
    let url = URL(fileURLWithPath: folder.file("coded.cambium"))
    let container = try await PersistentContainer("Songs", models: Coded.Song.self, at: url)
    try await container.write { context in context.insert(Coded.Song("S")) }
    try await container.close()
    let error = await #expect(throws: ContextError.self) {
      _ = try await PersistentContainer("Songs", models: Second.Song.self, at: url)
    }
    #expect(error?.code == .schemaMismatch && error?.context.properties == ["marks"])
    #expect(
      error?.description.contains("Song.marks is coded in the store and [double] in the model") == true
    )
  }

  @Test func aProgramWithoutTheClassesKnowsTheElements() async throws {
    let container = try await PersistentContainer("Songs", at: url)
    try await container.performBackgroundTask { context in
      let found = try context.fetch(
        DynamicQuery("Song", where: try PredicateTree(format: "ANY marks = 7 AND marks.@count = 3"))
      )
      #expect(found.count == 1)
      let song = try #require(found.first)
      #expect(try song["marks"] == .string("[7,-7,1000]"))
      try song.set("marks", to: .string("[8, 9]"))
      #expect(throws: ContextError.self) { try song.set("marks", to: .string("[\"a\"]")) }
      #expect(throws: ContextError.self) { try song.set("marks", to: .string("{}")) }
      try song.set("marks", to: [Int16(8)])
      try context.save()
      #expect(
        try context.fetch(DynamicQuery("Song", where: try PredicateTree(format: "8 IN marks"))).count == 2
      )
    }
    #expect(try await container.verify() == [])
    try await container.close()
  }

  // MARK: Conversions

  private func converting(
    to version: any VersionedSchema.Type,
    _ rule: ConversionRule
  ) async throws -> PersistentContainer {
    let plan = MigrationPlan(
      [FirstVersion.self, version],
      stages: [.custom(from: FirstVersion.self, to: version, .converting("marks", of: "Song", rule))]
    )
    return try await PersistentContainer("Songs", plan: plan, at: url)
  }

  /// Expects the lists of the first songs.
  private func expectMarks(_ migrated: PersistentContainer, _ marks: [AttributeValue]) async throws {
    try await migrated.close()
    let container = try await PersistentContainer("Songs", at: url)
    try await container.performBackgroundTask { context in
      let songs = try context.fetch(DynamicQuery("Song"))
      #expect(songs.count == 50)
      for (song, marks) in zip(songs, marks) { #expect(try song["marks"] == marks) }
    }
    #expect(try await container.verify() == [])
    try await container.close()
  }

  @Test func elementsOfOtherKindsAreConverted() async throws {
    let container = try await converting(to: TextVersion.self, .refusing)
    try await expectMarks(container, [.string(#"["0","0","1000"]"#), .string(#"["1","-1","1000"]"#)])
  }

  @Test func anElementThatDoesNotFitMakesTheListNil() async throws {
    try await expectMarks(try await converting(to: NarrowVersion.self, .orNil), [.null, .null])
  }

  @Test func elementsAreClamped() async throws {
    let container = try await converting(to: NarrowVersion.self, .clamping)
    try await expectMarks(container, [.string("[0,0,127]"), .string("[1,-1,127]")])
  }

  @Test func equalElementsOfASetAreOne() async throws {
    let container = try await converting(to: UniqueVersion.self, .clamping)
    try await container.performBackgroundTask { context in
      let songs = try context.fetch(From<Unique.Song>())
      #expect(songs[0].marks == [0, 127] && songs[1].marks == [-1, 1, 127])
    }
    try await container.close()
  }

  @Test func aRefusalListsTheObjectsBeforeAnythingIsDone() async throws {
    let error = await #expect(throws: ContextError.self) {
      _ = try await converting(to: NarrowVersion.self, .refusing)
    }
    #expect(error?.code == .wrongValue && error?.refusal?.offenders.isEmpty == false)
    #expect(error?.refusal?.offenders.allSatisfy { $0.rule == .conversion } == true)
    let container = try await PersistentContainer("Songs", models: First.Song.self, at: url)
    try await expectMarks(container, [.string("[0,0,1000]")])
  }
}
