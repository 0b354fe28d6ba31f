import Cambium
import Foundation
import GraphTestSupport
import Testing

@testable import GraphContext

/// Requirements on every source and every engine: lists with an order, hierarchies, and saves that unify new objects
/// with objects that other contexts have saved.
struct EngineKindConformanceTests {
  // MARK: Ordered lists

  @Test(arguments: SourceUnderTest.allCases) func listsKeepTheirOrder(_ source: SourceUnderTest) throws {
    let library = try source.library(of: [Playlist.self, Track.self])
    let context = try library.context()
    let (list, other) = (Playlist("L"), Playlist("M"))
    context.insert(list)
    context.insert(other)
    list.queued.append(contentsOf: ["a", "b", "c", "d", "e"].map(Track.init))
    list.tracks = ["x", "y", "z"].map(Track.init)
    try library.save(context)
    var (expected, taken) = (["a", "b", "c", "d", "e"], [String]())
    func check(_ context: ManagedObjectContext) throws {
      let shown = try context.existingObject(Playlist.self, with: list.objectID)
      #expect(shown.queuedTitles == expected)
      #expect(shown.queued.count == expected.count && shown.titles == ["z", "x", "y"])
      for (position, title) in expected.enumerated() { #expect(shown.queued[position].title == title) }
      #expect(try context.existingObject(Playlist.self, with: other.objectID).queuedTitles == taken)
    }
    list.tracks = [list.tracks[2], list.tracks[0], list.tracks[1]]
    try check(context)
    // Each step is saved every other time, so that places meet stored and unsaved neighbours.
    for step in 0..<24 {
      let (from, to) = (step * 7 % expected.count, step * 5 % expected.count)
      list.queued.move(from: from, to: to)
      expected.insert(expected.remove(at: from), at: to)
      if step % 6 == 5 {
        let position = step % expected.count
        list.queued.insert(Track("n\(step)"), at: position)
        expected.insert("n\(step)", at: position)
      }
      if step == 15 {
        other.queued.append(list.queued[1])
        taken.append(expected.remove(at: 1))
      }
      try check(context)
      if step % 2 == 0 {
        try library.save(context)
        try check(library.context())
      }
    }
    context.delete(list.queued[0])
    expected.removeFirst()
    try library.save(context)
    try check(context)
    try check(library.context())
  }

  // MARK: Hierarchies

  @Test(arguments: SourceUnderTest.allCases) func objectsHaveTheirOwnClasses(_ source: SourceUnderTest) throws
  {
    let library = try source.library(of: [Animal.self, Keeper.self])
    let context = try library.context()
    let keeper = Keeper("Ada")
    context.insert(keeper)
    let (rex, bit) = (Dog("Rex", age: 4, breed: "Collie"), Puppy("Bit", breed: "Collie", weeks: 5))
    let tom = Cat("Tom", age: 9, whiskers: 12)
    keeper.animals = [rex, bit, tom]
    keeper.guardDog = bit
    keeper.walkedDogs = [rex, bit]
    rex.enemy = tom
    func check(_ context: ManagedObjectContext, _ names: [String]) throws {
      let animals = try context.fetch(From<Animal>().orderBy(.ascending(\.name)))
      #expect(animals.map(\.name) == names)
      for animal in animals {
        switch animal.name {
        case "Bit": #expect((animal as? Puppy)?.weeks == 5 && animal.objectID.entityName == "Puppy")
        case "Tom": #expect((animal as? Cat)?.whiskers == 12 && animal.objectID.entityName == "Cat")
        default: #expect(type(of: animal) == Dog.self)
        }
      }
      let dogs = animals.compactMap { $0 as? Dog }
      #expect(try context.fetch(From<Dog>().orderBy(.ascending(\.name))) == dogs)
      #expect(try context.count(From<Dog>()) == dogs.count)
      #expect(try context.count(From<Cat>()) == animals.count { $0 is Cat })
      #expect(try context.count(From<Animal>().where(format: "TYPE == 'Puppy'")) == 1)
      let shown = try context.existingObject(Keeper.self, with: keeper.objectID)
      #expect(Set(shown.animals) == Set(animals) && Set(shown.walkedDogs) == Set(dogs))
      #expect(shown.guardDog is Puppy)
    }
    try check(context, ["Bit", "Rex", "Tom"])
    try library.save(context)
    try check(library.context(), ["Bit", "Rex", "Tom"])
    let other = try library.context()
    other.insert(Dog("Bit", age: 1, breed: "Pug"))
    // A name is unique among all animals, whatever their class.
    #expect(library.failure(ofSaving: other) == .notUnique)
    context.delete(tom)
    try check(context, ["Bit", "Rex"])
    try library.save(context)
    #expect(rex.enemy == nil)
    try check(library.context(), ["Bit", "Rex"])
  }

  // MARK: Derived values

  @Test(arguments: SourceUnderTest.allCases) func derivedValuesAreThoseOfTheMembers(
    _ source: SourceUnderTest
  ) throws {
    let library = try source.library(
      of: [DerivedModels.Album.self, DerivedModels.Song.self, DerivedModels.Tag.self]
    )
    let context = try library.context()
    let albums = ["Cafe", "B", "C"].map(DerivedModels.Album.init)
    let tags = (1...4).map(DerivedModels.Tag.init)
    for album in albums { context.insert(album) }
    for tag in tags { context.insert(tag) }
    var songs: [DerivedModels.Song] = []
    for number in 0..<20 {
      let seconds: Int16? = number % 5 == 0 ? nil : Int16(number * 10)
      let (rating, price) = (Double(number) / 4, Decimal(number) / 10)
      let album = albums[number % 2]
      songs.append(
        DerivedModels.Song("s\(number)", seconds: seconds, rating: rating, price: price, in: album)
      )
    }
    for song in songs { context.insert(song) }
    func save() throws {
      try library.save(context)
      let reader = try library.context()
      try DerivedModels.expectExact(reader)
      #expect(try reader.count(From<DerivedModels.Album>()) == 3)
    }
    try save()
    for (number, song) in songs.enumerated() where number % 3 == 0 { song.album = albums[2] }
    (albums[0].tags, albums[1].tags) = ([tags[0], tags[1]], [tags[1], tags[3]])
    try save()
    for song in songs.prefix(4) { song.seconds = 7 }
    for song in songs.suffix(3) { context.delete(song) }
    (tags[1].weight, albums[0].title) = (9, "ETE")
    try save()
    #expect(try library.context().count(From<DerivedModels.Album>().where { $0.tagCount == 2 }) == 2)
    context.delete(tags[1])
    for song in songs.prefix(9) { song.album = nil }
    try save()
  }

  // MARK: Policies

  @Test(arguments: SourceUnderTest.allCases) func policiesMergeWhatOthersHaveSaved(
    _ source: SourceUnderTest
  ) throws {
    let library = try source.library()
    let context = try library.context()
    context.insert(Writer("Woolf", rank: 1))
    try library.save(context)
    let mine = try library.context()
    for context in [mine, mine.parent].compactMap(\.self) {
      context.mergePolicy = .mergeByPropertyObjectTrump
    }
    let writer = try #require(try mine.fetchOne(From<Writer>()))
    let theirs = try #require(try context.fetchOne(From<Writer>()))
    (theirs.rank, theirs.email) = (5, "theirs")
    try library.save(context)
    (writer.rank, writer.name) = (7, "Mine")
    try library.save(mine)
    try mine.refresh()
    #expect(writer.rank == 7 && writer.name == "Mine" && writer.email == "theirs")
    let reader = try library.context()
    let stored = try #require(try reader.fetchOne(From<Writer>()))
    #expect(stored.rank == 7 && stored.name == "Mine" && stored.email == "theirs")
  }

  @Test(arguments: SourceUnderTest.allCases) func newObjectsAreUnifiedWithThoseOfTheirUniqueValues(
    _ source: SourceUnderTest
  ) throws {
    let library = try source.library(of: [
      UniqueAlbum.self, UniqueTrack.self, UniqueSleeve.self, UniqueTag.self,
    ])
    let context = try library.context()
    let old = UniqueTrack("A", "old", plays: 5, rating: 3)
    context.insert(old)
    try library.save(context)
    let mine = try library.context()
    let new = UniqueTrack("A", "new", plays: 1)
    mine.insert(new)
    new.album = UniqueAlbum("X")
    try library.save(mine)
    let reader = try library.context()
    let track = try #require(try reader.fetchOne(From<UniqueTrack>()))
    #expect(try reader.count(From<UniqueTrack>()) == 1)
    #expect(track.objectID == old.objectID && track.title == "new")
    #expect(track.plays == 1 && track.rating == 3)
    #expect(track.album?.title == "X")
  }
}
