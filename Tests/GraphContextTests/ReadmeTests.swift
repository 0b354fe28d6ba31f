import Cambium
import GraphTestSupport
import Testing

struct ReadmeTests {
  @MainActor @Test func theReadmeTellsTheTruth() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("cambium-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let url = folder.appendingPathComponent("music.cambium")

    // Quoted in README.md
    let music = try await PersistentContainer("Music", models: Song.self, Album.self, at: url)  // A file URL.

    // Write: one atomic, durable commit. IDs cross threads; objects can't, and the compiler says so.
    let blue = try await music.performBackgroundTask { context in
      let album = Album(title: "Blue", year: 1971)
      context.insert(album)
      album.songs.append(Song(isrc: "US-A", title: "Carey", track: 4, seconds: 182))
      album.songs.append(Song(isrc: "US-B", title: "River", track: 8, seconds: 244))
      try context.save()
      return album.objectID
    }

    // Read: five spellings of a query, of which four here; all become the same kind of plan.
    let context = music.viewContext
    let request = From<Song>().where { $0.seconds > 180 && $0.album.year < 1980 }.orderBy(.ascending(\.title))
      .limit(20)
    let long = try context.fetch(request)
    let carey = try context.fetch(From<Song>().where(\.seconds > 180 && \.title == "Carey"))
    let listed = try context.fetch(From<Song>().where(["seconds": 180..., "title": ["Carey", "River"]]))
    let same = try context.fetch(
      From<Song>().where(format: "seconds > %d AND title BEGINSWITH[c] %@", 180, "car")
    )
    print(try context.explain(request))  // the plan, with exact row counts
    let count = try context.count(From<Song>().where { $0.seconds > 180 })  // O(log n)
    // End of quotation

    #expect(long.map(\.title) == ["Carey", "River"])
    #expect(long.map { $0.album?.title } == ["Blue", "Blue"])
    #expect(long.first?.album?.objectID == blue)
    #expect(carey.count == 1 && carey.first === long.first)
    #expect(same == carey)
    #expect(Set(listed.map(\.title)) == ["Carey", "River"])
    #expect(count == 2)
    let plan = try context.explain(From<Song>().where { $0.seconds > 180 })
    #expect("\(plan)".contains("seconds"))
    try await music.close()
  }
}
