import Cambium
import GraphTestSupport
import Testing

@testable import GraphContext

@Model final class NicknamedContact {
  var nickname: String?
  var rank: Int = 0
  @Attribute(.derived("nickname[cd]")) var sortName: String?

  init(_ nickname: String?) { self.nickname = nickname }
}

/// An event tells a context which values its own save has derived.
struct DerivedEventTests {
  @Test func aSaveTellsWhatItHasDerived() async throws {
    let container = try await DerivedModels.open()
    let context = try container.context()
    defer { context.end() }
    context.author = "editor"
    var told: [[ManagedObjectID: [String]]] = []
    let subscription = context.onObjectsDidChange { changes in
      guard changes.origin == .store else { return }
      #expect(changes.author == "editor")
      told.append(changes.changedProperties)
    }
    let (first, tag) = (DerivedModels.Album("A"), DerivedModels.Tag(3))
    context.insert(first)
    context.insert(tag)
    context.insert(DerivedModels.Song("x", in: first))
    try context.save()
    #expect(told == [[first.objectID: ["canonicalTitle", "lastTitle", "songCount"]]])
    told = []
    first.title = "a"
    tag.weight = 4
    try context.save()
    #expect(told == [], "nothing is derived otherwise")
    first.title = "B"
    try context.save()
    #expect(told == [[first.objectID: ["canonicalTitle"]]])
    told = []
    context.insert(DerivedModels.Song("y", in: first))
    try context.save()
    #expect(told == [[first.objectID: ["lastTitle", "songCount"]]])
    withExtendedLifetime(subscription) {}
  }

  /// The copy is nil until the save makes it empty.
  @Test func anEmptyCopyThatWasNilIsTold() async throws {
    let container = try await PersistentContainer("C", models: [NicknamedContact.self], at: .inMemory)
    let context = try container.context()
    defer { context.end() }
    let unnamed = From<NicknamedContact>().where { $0.sortName == nil }
    let list = try FetchedResults(unnamed.orderBy(\.rank), in: context)
    let counter = try CountObserver(unnamed, in: context)
    for name in ["", nil, "A"] { context.insert(NicknamedContact(name)) }
    try context.save()
    #expect(list.count == 1 && counter.count == 1)
    #expect(try context.count(unnamed) == 1)
  }

  /// An object that an undo brings back has no derived values until they are derived again.
  @Test func whatAnUndoBringsBackHasNoDerivedValues() async throws {
    let container = try await DerivedModels.open()
    let context = try container.context()
    defer { context.end() }
    context.undoManager = ContextUndoManager()
    let album = DerivedModels.Album("AB")
    context.insert(album)
    context.insert(DerivedModels.Song("x", in: album))
    try context.save()
    let named = From<DerivedModels.Album>().where { $0.canonicalTitle != "" }
    let list = try FetchedResults(named.orderBy(\.canonicalTitle, \.seconds), in: context)
    #expect(list.count == 1)
    context.delete(album)
    try context.save()
    #expect(list.isEmpty)
    #expect(context.undo())
    #expect(album.canonicalTitle == "" && album.songCount == 0 && list.isEmpty)
    album.title = ""
    context.processPendingChanges()
    try context.save()
    #expect(try list.isEmpty && context.count(named) == 0)
    album.title = "C"
    try context.save()
    #expect(list.count == 1 && album.canonicalTitle == "c")
  }

  @Test(arguments: [true, false]) func listsAndCountsFollow(isIndexed: Bool) async throws {
    let container = try await DerivedModels.open()
    let context = try container.context()
    defer { context.end() }
    let withSongs = From<DerivedModels.Album>().where { $0.songCount > 0 }
    let byTitle =
      isIndexed
      ? From<DerivedModels.Album>().orderBy(\.canonicalTitle)
      : From<DerivedModels.Album>().orderBy(\.canonicalTitle, \.seconds)
    let counter = try CountObserver(withSongs, in: context)
    let list = try FetchedResults(byTitle, in: context)
    #expect(list.isRanked == isIndexed)
    var mirror: [ManagedObjectID] = []
    let subscription = list.onChange { mirror = $0.applied(to: mirror) { $0 } ?? [] }
    func check(_ titles: [String], _ comment: Comment) throws {
      let expected = try context.fetchIDs(byTitle)
      #expect(mirror == expected, comment)
      #expect(list.map(\.objectID) == expected, comment)
      #expect(list.map(\.title) == titles, comment)
    }
    let (beta, alpha) = (DerivedModels.Album("Beta"), DerivedModels.Album("Alpha"))
    context.insert(beta)
    context.insert(alpha)
    context.insert(DerivedModels.Song("x", in: alpha))
    try context.save()
    #expect(counter.count == 1)
    try check(["Alpha", "Beta"], "after the insertion")
    alpha.title = "Zeta"
    try context.save()
    try check(["Beta", "Zeta"], "after the renaming")
    let child = context.makeChild()
    let inChild = try FetchedResults(byTitle, in: child)
    beta.title = "Zulu"
    try context.save()
    try check(["Zeta", "Zulu"], "after another one")
    #expect(inChild.map(\.title) == ["Zeta", "Zulu"])
    withExtendedLifetime(subscription) {}
  }
}
