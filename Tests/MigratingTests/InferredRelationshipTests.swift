import Foundation
import GraphTestSupport
import Predicates
import Testing

@testable import GraphContext

/// Changes of relationships that opening a store infers.
struct InferredRelationshipTests {
  private let store: ChangingStore
  private let name = attribute("name", .string)

  init() throws { store = try ChangingStore() }

  private func strings(_ text: String) -> [[AttributeValue]] {
    text.split(separator: " ", omittingEmptySubsequences: false).map { $0.map { .string(String($0)) } }
  }

  private func schema(_ songs: [PropertyDescription], _ albums: [PropertyDescription]) throws -> Schema {
    try Schema(entities: [entity("Song", [name] + songs), entity("Album", [name] + albums)])
  }

  /// Songs a, b and c and albums x, y and z; a and b are on x, c is on z.
  private func fill(_ songs: [PropertyDescription], _ albums: [PropertyDescription]) async throws {
    try await store.open(schema(songs, albums)) { context throws in
      let songs = try ["a", "b", "c"].map { try context.make("Song", ["name": .string($0)]) }
      let albums = try ["x", "y", "z"].map { try context.make("Album", ["name": .string($0)]) }
      for (song, album) in [(0, 0), (1, 0), (2, 2)] {
        try songs[song].setObject("album", to: albums[album])
      }
    }
  }

  private let album = link("album", to: "Album", inverse: "songs")
  private let songs = link("songs", to: "Song", .many, inverse: "album")

  private func song(_ name: String, _ context: ManagedObjectContext) throws -> ManagedRecord {
    try #require(
      try context.fetch(DynamicQuery("Song", where: PredicateTree(format: "name == '\(name)'"))).first
    )
  }

  private func album(_ name: String, _ context: ManagedObjectContext) throws -> ManagedRecord {
    try #require(
      try context.fetch(DynamicQuery("Album", where: PredicateTree(format: "name == '\(name)'"))).first
    )
  }

  // MARK: Added, removed, renamed

  @Test func aRelationshipIsAdded() async throws {
    try await fill([album], [songs])
    let next = try schema(
      [album, link("next", to: "Song"), link("fans", to: "Album", .many, inverse: "hits")],
      [songs, link("hits", to: "Song", .many, inverse: "fans")]
    )
    try await store.open(next) { context throws in
      #expect(try context.linked("Song", "next", "name") == strings("  "))
      #expect(try context.linked("Album", "hits", "name") == strings("  "))
      #expect(try context.linked("Album", "songs", "name") == strings("ab  c"))
      #expect(try context.numbers("Song", "next == NIL") == [1, 2, 3])
      try song("a", context).setObject("next", to: song("b", context))
      try album("y", context).add(song("c", context), to: "hits")
    }
    try await store.open(next) { context throws in
      #expect(try context.linked("Song", "next", "name") == strings("b  "))
      #expect(try context.linked("Song", "fans", "name") == strings("  y"))
      #expect(try context.linked("Song", "album", "name") == strings("x x z"))
      #expect(try context.numbers("Song", "next.name == 'b'") == [1])
    }
  }

  @Test func aRequiredRelationshipNeedsAnEmptyEntity() async throws {
    try await fill([album], [songs])
    let studio = link("studio", to: "Studio", .required)
    let error = try await store.refusal(
      of: entity("Song", [name, album, studio]),
      entity("Album", [name, songs]),
      entity("Studio", [name])
    )
    #expect(error.code == .schemaMismatch && error.context.properties == ["studio"])
  }

  @Test func aRelationshipIsRemoved() async throws {
    try await fill([album, link("single", to: "Album")], [songs])
    try await store.open(schema([link("single", to: "Album")], [])) { context throws in
      #expect(try context.values("Song", "name").count == 3)
      try song("a", context).setObject("single", to: album("y", context))
    }
    // A new relationship of the same name shows no old links.
    try await store.open(schema([link("single", to: "Album"), album], [songs])) { context throws in
      #expect(try context.linked("Song", "album", "name") == strings("  "))
      #expect(try context.linked("Album", "songs", "name") == strings("  "))
      #expect(try context.linked("Song", "single", "name") == strings("y  "))
    }
  }

  @Test(arguments: [true, false]) func aRelationshipIsRenamed(_ isToMany: Bool) async throws {
    try await fill([album], [songs])
    if isToMany { try await store.open(schema([albums], [songs])) { _ in } }
    let disc = link("disc", to: "Album", isToMany ? .many : .optional, inverse: "tracks", was: "album")
    let tracks = link("tracks", to: "Song", .many, inverse: "disc", was: "songs")
    for _ in 0..<2 {
      try await store.open(schema([disc], [tracks])) { context throws in
        #expect(try context.linked("Song", "disc", "name") == strings("x x z"))
        #expect(try context.linked("Album", "tracks", "name") == strings("ab  c"))
        #expect(try context.numbers("Song", "\(isToMany ? "ANY " : "")disc.name == 'x'") == [1, 2])
      }
    }
  }

  @Test func oneEndIsRenamed() async throws {
    try await fill([album], [songs])
    let tracks = link("tracks", to: "Song", .many, inverse: "album", was: "songs")
    let renamed = try schema([link("album", to: "Album", inverse: "tracks")], [tracks])
    try await store.open(renamed) { context throws in
      #expect(try context.linked("Album", "tracks", "name") == strings("ab  c"))
      try song("b", context).setObject("album", to: album("y", context))
    }
    try await store.open(renamed) { context throws in
      #expect(try context.linked("Album", "tracks", "name") == strings("a b c"))
    }
  }

  /// A to-many end whose links are stored in the to-one end shows them under any name.
  @Test func aToManyEndWithoutItsOriginalNameShowsTheLinksOfTheOther() async throws {
    try await fill([album], [songs])
    let renamed = try schema(
      [link("album", to: "Album", inverse: "tracks")],
      [link("tracks", to: "Song", .many, inverse: "album")]
    )
    try await store.open(renamed) { context throws in
      #expect(try context.linked("Album", "tracks", "name") == strings("ab  c"))
    }
  }

  /// The to-many end that stays determines the links of the to-one end.
  @Test func aToOneEndWithoutItsOriginalNameContinuesThatOfItsInverse() async throws {
    try await fill([album], [songs])
    let renamed = try schema(
      [link("disc", to: "Album", inverse: "songs")],
      [link("songs", to: "Song", .many, inverse: "disc")]
    )
    for _ in 0..<2 {
      try await store.open(renamed) { context throws in
        #expect(try context.linked("Song", "disc", "name") == strings("x x z"))
        #expect(try context.linked("Album", "songs", "name") == strings("ab  c"))
        #expect(try context.numbers("Song", "disc.name == 'z'") == [3])
      }
    }
  }

  @Test func aToOneEndOfOneToOneWithoutItsOriginalNameContinuesThatOfItsInverse() async throws {
    let one = link("song", to: "Song", inverse: "album")
    try await fill([link("album", to: "Album", inverse: "song")], [one])
    let before = try await store.open(
      schema([link("album", to: "Album", inverse: "song")], [one])
    ) { try $0.linked("Album", "song", "name") }
    let renamed = try schema(
      [link("album", to: "Album", inverse: "track")],
      [link("track", to: "Song", inverse: "album")]
    )
    try await store.open(renamed) { context throws in
      #expect(try context.linked("Album", "track", "name") == before)
      #expect(before.contains { !$0.isEmpty })
    }
  }

  /// A relationship that continues another one under its original name has its links. The inverse then can't have them.
  @Test func aToOneEndThatGoesOnElsewhereIsNotThatOfItsInverse() async throws {
    try await fill([album], [songs])
    let error = try await store.refusal(
      of: entity(
        "Song",
        [name, link("first", to: "Album", was: "album"), link("disc", to: "Album", inverse: "songs")]
      ),
      entity("Album", [name, link("songs", to: "Song", .many, inverse: "disc")])
    )
    #expect(error.code == .schemaMismatch)
    #expect(error.refusal?.obstacles.map(\.property) == ["songs"])
  }

  // MARK: To one and to many

  /// Checks the links at both ends, changes some, and checks again. The first end is `Song.album`.
  private func checkManyToMany(_ next: Schema, _ links: String, _ inverses: String) async throws {
    try await store.open(next) { context throws in
      #expect(try context.linked("Song", "album", "name") == strings(links))
      #expect(try context.linked("Album", "songs", "name") == strings(inverses))
      try song("a", context).add(album("y", context), to: "album")
      try album("z", context).add(song("b", context), to: "songs")
    }
    try await store.open(next) { context throws in
      let expected = zip(strings(links), strings("y z ")).map { ($0 + $1).sorted { "\($0)" < "\($1)" } }
      #expect(try context.linked("Song", "album", "name") == expected)
      #expect(try context.numbers("Song", "ANY album.name == 'y'") == [1])
      let doubles = expected.enumerated().filter { $1.count == 2 }.map { UInt64($0.offset + 1) }
      #expect(try context.numbers("Song", "album.@count == 2") == doubles)
    }
  }

  private let albums = link("album", to: "Album", .many, inverse: "songs")

  @Test func oneToManyBecomesManyToMany() async throws {
    try await fill([album], [songs])
    try await checkManyToMany(schema([albums], [songs]), "x x z", "ab  c")
  }

  @Test func aRelationshipWithoutAnInverseBecomesManyToMany() async throws {
    try await fill([link("album", to: "Album")], [])
    try await checkManyToMany(schema([albums], [songs]), "x x z", "ab  c")
  }

  @Test func oneToOneBecomesManyToMany() async throws {
    try await fill([album], [link("songs", to: "Song", inverse: "album")])
    try await checkManyToMany(schema([albums], [songs]), " x z", "b  c")
  }

  @Test func oneToOneBecomesOneToMany() async throws {
    try await fill([album], [link("songs", to: "Song", inverse: "album")])
    let next = try schema([album], [songs])
    try await store.open(next) { context throws in
      #expect(try context.linked("Album", "songs", "name") == strings("b  c"))
      try album("x", context).add(song("a", context), to: "songs")
    }
    try await store.open(next) { context throws in
      #expect(try context.linked("Album", "songs", "name") == strings("ab  c"))
      #expect(try context.linked("Song", "album", "name") == strings("x x z"))
    }
  }

  /// The other end becomes to-many: its slot is removed, and the slot of its inverse has the links.
  @Test func oneToOneBecomesManyToOne() async throws {
    try await fill([album], [link("songs", to: "Song", inverse: "album")])
    let next = try schema([albums], [link("songs", to: "Song", inverse: "album")])
    try await store.open(next) { context throws in
      #expect(try context.linked("Song", "album", "name") == strings(" x z"))
      try song("b", context).add(album("y", context), to: "album")
    }
    try await store.open(next) { context throws in
      #expect(try context.linked("Song", "album", "name") == strings(" xy z"))
      #expect(try context.linked("Album", "songs", "name") == strings("b b c"))
    }
  }

  @Test func aSpouseBecomesFriends() async throws {
    let spouse = link("spouse", to: "Person", inverse: "spouse")
    try await store.open(entity("Person", [name, spouse])) { context throws in
      let people = try ["a", "b", "c"].map { try context.make("Person", ["name": .string($0)]) }
      try people[0].setObject("spouse", to: people[2])
    }
    let friends = link("friends", to: "Person", .many, inverse: "friends", was: "spouse")
    try await store.open(entity("Person", [name, friends])) { context throws in
      #expect(try context.linked("Person", "friends", "name") == strings("c  a"))
      let people = try context.fetch(DynamicQuery("Person"))
      try people[1].add(people[0], to: "friends")
    }
    try await store.open(entity("Person", [name, friends])) { context throws in
      #expect(try context.linked("Person", "friends", "name") == strings("bc a a"))
    }
  }

  @Test func manyAreNotMadeOne() async throws {
    try await fill([album], [songs])
    let error = try await store.refusal(
      of: entity("Song", [name, album]),
      entity("Album", [name, link("songs", to: "Song", inverse: "album")])
    )
    #expect(error.code == .schemaMismatch && error.refusal?.obstacles.map(\.property) == ["songs"])
  }

  @Test func anotherDestinationIsRefused() async throws {
    try await fill([link("album", to: "Album")], [])
    let error = try await store.refusal(
      of: entity("Song", [name, link("album", to: "Song")]),
      entity("Album", [name])
    )
    #expect(error.code == .schemaMismatch && error.refusal?.obstacles.map(\.property) == ["album"])
    try await store.open(schema([link("album", to: "Album")], [])) { context throws in
      for song in try context.fetch(DynamicQuery("Song")) { context.delete(song) }
    }
    // Without objects there are no links.
    try await store.open(schema([link("album", to: "Song")], [])) { context throws in
      let song = try context.make("Song", ["name": .string("d")])
      try song.setObject("album", to: song)
    }
  }

  // MARK: Inverses

  @Test func anInverseIsNamed() async throws {
    try await fill([link("album", to: "Album")], [])
    let next = try schema([album], [songs])
    try await store.open(next) { context throws in
      #expect(try context.linked("Album", "songs", "name") == strings("ab  c"))
      try album("y", context).add(song("a", context), to: "songs")
    }
    try await store.open(next) { context throws in
      #expect(try context.linked("Song", "album", "name") == strings("y x z"))
    }
  }

  @Test(arguments: [1, 1 << 20]) func anInverseThatLeadsToOneIsNamed(chunkByteCount: Int) async throws {
    try await fill([link("album", to: "Album")], [])
    try await store.open(schema([link("album", to: "Album")], [])) { context throws in
      try self.song("a", context).setObject("album", to: nil)
    }
    let song = link("song", to: "Song", inverse: "album")
    let next = try schema(
      [link("album", to: "Album", inverse: "song")],
      [attribute("year", .int64, optional: true), song]
    )
    try await store.open(next, chunkByteCount: chunkByteCount) { context throws in
      #expect(try context.linked("Song", "album", "name") == strings(" x z"))
      #expect(try context.linked("Album", "song", "name") == strings("b  c"))
      #expect(try context.numbers("Album", "song.name == 'c'") == [3])
      // In a one-to-one relationship, each object has one partner.
      try album("y", context).setObject("song", to: self.song("c", context))
    }
    try await store.open(next) { context throws in
      #expect(try context.linked("Song", "album", "name") == strings(" x y"))
      #expect(try context.linked("Album", "song", "name") == strings("b c "))
    }
  }

  @Test func anInverseThatLeadsToOneListsObjectsThatSeveralLeadTo() async throws {
    try await fill([link("album", to: "Album")], [])
    let error = try await store.refusal(
      of: entity("Song", [name, link("album", to: "Album", inverse: "song")]),
      entity("Album", [name, link("song", to: "Song", inverse: "album")])
    )
    #expect(error.code == .notUnique)
    #expect(error.refusal?.offenders.map(\.objectID.number.rawValue) == [1])
    #expect(error.refusal?.offenders.map(\.rule) == [.severalDestinations])
  }

  @Test func aRequiredInverseListsObjectsThatNoneLeadsTo() async throws {
    try await fill([link("album", to: "Album")], [])
    let next = [
      entity("Song", [name, link("album", to: "Album", inverse: "song", rule: .cascade)]),
      entity("Album", [name, link("song", to: "Song", .required, inverse: "album", rule: .deny)]),
    ]
    let error = try await store.refusal(of: next[0], next[1])
    #expect(error.refusal?.offenders.map(\.objectID.number.rawValue) == [1, 2])
    #expect(error.refusal?.offenders.map(\.rule) == [.severalDestinations, .required])
    try await store.open(schema([link("album", to: "Album")], [])) { context throws in
      try song("a", context).setObject("album", to: album("y", context))
    }
    try await store.open(Schema(entities: next)) { context throws in
      #expect(try context.linked("Album", "song", "name") == strings("b a c"))
    }
  }

  /// One end of a many-to-many relationship gives way to a to-one end.
  @Test(arguments: [1, 1 << 20]) func manyToManyBecomesOneToMany(chunkByteCount: Int) async throws {
    let many = link("songs", to: "Song", .many, inverse: "album")
    try await store.open(schema([albums], [many])) { context throws in
      let songs = try ["a", "b", "c"].map { try context.make("Song", ["name": .string($0)]) }
      let albums = try ["x", "y"].map { try context.make("Album", ["name": .string($0)]) }
      try albums[0].add(songs[2], to: "songs")
      try albums[0].add(songs[0], to: "songs")
      try albums[1].add(songs[1], to: "songs")
    }
    let next = try schema(
      [link("home", to: "Album", inverse: "songs")],
      [link("songs", to: "Song", .many, inverse: "home")]
    )
    try await store.open(next, chunkByteCount: chunkByteCount) { context throws in
      #expect(try context.linked("Song", "home", "name") == strings("x y x"))
      #expect(try context.linked("Album", "songs", "name") == strings("ac b"))
      try song("a", context).setObject("home", to: album("y", context))
    }
    try await store.open(next) { context throws in
      #expect(try context.linked("Album", "songs", "name") == strings("c ab"))
    }
  }

  @Test func aUniqueIndexOverANewInverseOfManyIsRefused() async throws {
    let many = link("songs", to: "Song", .many, inverse: "album")
    try await store.open(schema([albums], [many])) { context throws in
      let album = try context.make("Album", ["name": .string("x")])
      for name in ["a", "b"] {
        try album.add(try context.make("Song", ["name": .string(name)]), to: "songs")
      }
    }
    let error = try await store.refusal(
      of: EntityDescription(
        name: "Song",
        properties: [name, link("home", to: "Album", inverse: "songs")],
        indexes: [IndexDescription(["home"], isUnique: true)]
      ),
      entity("Album", [name, link("songs", to: "Song", .many, inverse: "home")])
    )
    #expect(error.code == .schemaMismatch && error.context.properties == ["home"])
  }

  @Test func anInverseIsUnnamed() async throws {
    try await fill([album], [songs])
    let next = try schema([link("album", to: "Album")], [])
    for round in ["b", "c"] {
      try await store.open(next) { context throws in
        #expect(try context.linked("Song", "album", "name")[0] == [.string("x")])
        try song(round, context).setObject("album", to: album("y", context))
      }
    }
    try await store.open(next) { context throws in
      #expect(try context.linked("Song", "album", "name") == strings("x y y"))
      #expect(try context.numbers("Song", "album.name == 'y'") == [2, 3])
    }
  }

  /// One end of a one-to-one relationship alone.
  @Test func bothEndsOfOneToOneGoOnAlone() async throws {
    try await fill([album], [link("songs", to: "Song", inverse: "album")])
    let next = try schema([link("album", to: "Album")], [link("songs", to: "Song")])
    try await store.open(next) { context throws in
      #expect(try context.linked("Song", "album", "name") == strings(" x z"))
      #expect(try context.linked("Album", "songs", "name") == strings("b  c"))
      try song("b", context).setObject("album", to: nil)
    }
    try await store.open(next) { context throws in
      #expect(try context.linked("Album", "songs", "name") == strings("b  c"))
    }
  }

  /// Both ends of a many-to-many relationship get new inverses: each keeps its links.
  @Test func bothEndsOfManyToManyGetNewInverses() async throws {
    try await fill([album], [songs])
    try await store.open(schema([albums], [songs])) { _ in }
    let next = try schema(
      [
        link("album", to: "Album", .many, inverse: "hits"),
        link("shown", to: "Album", .many, inverse: "songs"),
      ],
      [link("songs", to: "Song", .many, inverse: "shown"), link("hits", to: "Song", .many, inverse: "album")]
    )
    try await store.open(next) { context throws in
      for name in ["album", "shown"] {
        #expect(try context.linked("Song", name, "name") == strings("x x z"))
      }
      for name in ["songs", "hits"] {
        #expect(try context.linked("Album", name, "name") == strings("ab  c"))
      }
      try song("a", context).add(album("y", context), to: "album")
    }
    try await store.open(next) { context throws in
      #expect(try context.linked("Album", "hits", "name") == strings("ab a c"))
      #expect(try context.linked("Album", "songs", "name") == strings("ab  c"))
    }
  }

  /// A relationship that was its own inverse gets another one.
  @Test func friendsGetFollowers() async throws {
    let friends = link("friends", to: "Person", .many, inverse: "friends")
    try await store.open(entity("Person", [name, friends])) { context throws in
      let people = try ["a", "b", "c"].map { try context.make("Person", ["name": .string($0)]) }
      try people[0].add(people[1], to: "friends")
    }
    let followed = link("friends", to: "Person", .many, inverse: "followers")
    let followers = link("followers", to: "Person", .many, inverse: "friends")
    try await store.open(entity("Person", [name, followed, followers])) { context throws in
      #expect(try context.linked("Person", "followers", "name") == strings("b a "))
      let people = try context.fetch(DynamicQuery("Person"))
      try people[2].add(people[0], to: "friends")
    }
    try await store.open(entity("Person", [name, followed, followers])) { context throws in
      #expect(try context.linked("Person", "followers", "name") == strings("bc a "))
      #expect(try context.linked("Person", "friends", "name") == strings("b a a"))
    }
  }

  // MARK: Rules

  @Test func aDeleteRuleIsChanged() async throws {
    try await fill([album], [songs])
    let cascading = link("songs", to: "Song", .many, inverse: "album", rule: .cascade)
    try await store.open(schema([album], [cascading])) { context throws in
      try context.delete(album("x", context))
      try context.save()
      #expect(try context.values("Song", "name") == [.string("c")])
    }
  }

  @Test func aRelationshipIsRequiredAndLoosened() async throws {
    try await fill([link("album", to: "Album")], [])
    let required = try schema([link("album", to: "Album", .required)], [])
    try await store.open(required) { context throws in
      #expect(try context.linked("Song", "album", "name") == strings("x x z"))
    }
    try await store.open(schema([link("album", to: "Album")], [])) { context throws in
      try song("b", context).setObject("album", to: nil)
    }
    let error = try await store.refusal(
      of: entity("Song", [name, link("album", to: "Album", .required)]),
      entity("Album", [name])
    )
    #expect(error.code == .missingValue)
    #expect(error.refusal?.offenders.map(\.objectID.number.rawValue) == [2])
  }
}
