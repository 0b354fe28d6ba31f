import Cambium
import GraphTestSupport
import TestSupport
import Testing

@testable import GraphContext

/// Random imports with random policies, next to dictionaries by the unique values.
struct RandomUniqueTests {
  /// The number of programs that are run.
  private static let programCount = TestEffort.times(4, long: 8)

  /// The objects that the store should have.
  private struct Oracle: Equatable {
    struct Track: Equatable {
      var title = ""
      var plays = 0
      var rating: Int?
      var album: String?
      var sleeve: String?
      var tags: Set<String> = []

      /// Takes the values of a new track that the policy allows.
      mutating func take(_ new: Track, _ policy: UniquePolicy) {
        if policy == .replace {
          (title, plays, rating, album) = (new.title, new.plays, new.rating, new.album)
        }
        if policy == .merge {
          if new.title != "" { title = new.title }
          if new.plays != 0 { plays = new.plays }
          rating = new.rating ?? rating
          album = new.album ?? album
        }
        sleeve = new.sleeve ?? sleeve
        tags.formUnion(new.tags)
      }
    }
    var tracks: [String: Track] = [:]
    var albums: [String: Int] = [:]

    mutating func insert(_ code: String, _ new: Track, _ policy: UniquePolicy) {
      if tracks[code] == nil { tracks[code] = new } else { tracks[code]?.take(new, policy) }
    }

    mutating func insert(album title: String, year: Int, _ policy: UniquePolicy) {
      let isTaken = policy == .replace || policy == .merge && year != 0
      if albums[title] == nil || isTaken { albums[title] = year }
    }

    init() {}

    init(_ context: ManagedObjectContext) throws {
      for album in try context.fetch(From<UniqueAlbum>()) { albums[album.title] = album.year }
      for track in try context.fetch(From<UniqueTrack>()) {
        tracks[track.code ?? ""] = Track(
          title: track.title,
          plays: track.plays,
          rating: track.rating,
          album: track.album?.title,
          sleeve: track.sleeve?.name,
          tags: Set(track.tags.map(\.word))
        )
        if let sleeve = track.sleeve { #expect(sleeve.track === track) }
        for tag in track.tags { #expect(tag.tracks.contains(track)) }
        if let album = track.album { #expect(album.tracks.contains(track)) }
      }
    }
  }

  @Test func importsStoreWhatThePoliciesSay() async throws {
    var random = SeededGenerator()
    for _ in 0..<Self.programCount { try await run(&random) }
  }

  private func run(_ random: inout SeededGenerator) async throws {
    let store = try await Tracks.open()
    let contexts = [try store.context(), try store.context()]
    defer { contexts.forEach { $0.end() } }
    var oracle = Oracle()
    for step in 0..<30 {
      let context = random.pick(contexts)
      try context.refresh()
      let policy = random.pick([UniquePolicy.keep, .merge, .replace])
      if random.chance(1, in: 2) {
        // Another context imports first, and this context doesn't see the imported objects.
        let other = try store.context()
        defer { other.end() }
        let others = random.pick([UniquePolicy.keep, .merge, .replace])
        for number in 0..<random.number(in: 1...8) {
          insert("\(step).\(number) before", &oracle, others, in: other, &random)
        }
        try other.save(ifExists: others)
      } else {
        try edit(&oracle, in: context, &random)
      }
      for number in 0..<random.number(in: 1...8) {
        insert("\(step).\(number)", &oracle, policy, in: context, &random)
      }
      try context.save(ifExists: policy)
      #expect(try Oracle(context) == oracle)
      let reader = try store.context()
      #expect(try Oracle(reader) == oracle)
      #expect(
        try reader.fetch(From<UniqueSleeve>()).count { $0.track != nil }
          == oracle.tracks.count { $1.sleeve != nil }
      )
      reader.end()
    }
    #expect(try await store.verify().map(\.description) == [])
  }

  /// Changes or deletes a stored track before an import.
  private func edit(
    _ oracle: inout Oracle,
    in context: ManagedObjectContext,
    _ random: inout SeededGenerator
  ) throws {
    let tracks = try context.fetch(From<UniqueTrack>().orderBy(.ascending(\.code)))
    guard !tracks.isEmpty, random.chance(1, in: 2) else { return }
    let track = random.pick(tracks)
    let code = track.code ?? ""
    switch random.number(in: 0...3) {
    case 0:
      context.delete(track)
      oracle.tracks[code] = nil
    case 1:
      let free = "free \(random.next())"
      track.code = free
      oracle.tracks[free] = oracle.tracks.removeValue(forKey: code)
    default:
      track.plays = random.number(in: 3...9)
      oracle.tracks[code]?.plays = track.plays
    }
  }

  private func insert(
    _ name: String,
    _ oracle: inout Oracle,
    _ policy: UniquePolicy,
    in context: ManagedObjectContext,
    _ random: inout SeededGenerator
  ) {
    let code = "c\(random.number(in: 0...11))"
    var new = Oracle.Track()
    new.title = random.pick(["", "t", "u"])
    new.plays = random.number(in: 0...2)
    if random.chance(1, in: 2) { new.rating = random.number(in: 0...2) }
    let track = UniqueTrack(code, new.title, plays: new.plays, rating: new.rating)
    context.insert(track)
    if random.chance(1, in: 2) {
      let album = UniqueAlbum("a\(random.number(in: 0...3))", year: random.number(in: 0...2))
      track.album = album
      new.album = album.title
      oracle.insert(album: album.title, year: album.year, policy)
    }
    if random.chance(1, in: 3) {
      track.sleeve = UniqueSleeve(name)
      new.sleeve = name
    }
    for word in ["x", "y", "z"] where random.chance(1, in: 4) {
      track.tags.insert(UniqueTag(word))
      new.tags.insert(word)
    }
    oracle.insert(code, new, policy)
  }
}
