import Cambium
import Testing

@testable import GraphContext

/// A context learns by an event what its own save has derived.
struct DerivedEventTests {
  @Test func aSaveTellsWhatItHasDerived() async throws {
    let container = try await Derived.open()
    let context = try container.context()
    defer { context.end() }
    var told: [[ManagedObjectID: [String]]] = []
    let subscription = context.onObjectsDidChange { changes in
      if changes.origin == .store { told.append(changes.changedProperties) }
    }
    let (first, tag) = (Derived.Album("A"), Derived.Tag(3))
    context.insert(first)
    context.insert(tag)
    context.insert(Derived.Song("x", in: first))
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
    context.insert(Derived.Song("y", in: first))
    try context.save()
    #expect(told == [[first.objectID: ["lastTitle", "songCount"]]])
    withExtendedLifetime(subscription) {}
  }

  @Test(arguments: [true, false]) func listsAndCountsFollow(isIndexed: Bool) async throws {
    let container = try await Derived.open()
    let context = try container.context()
    defer { context.end() }
    let withSongs = From<Derived.Album>().where { $0.songCount > 0 }
    let byTitle =
      isIndexed
      ? From<Derived.Album>().orderBy(\.canonicalTitle)
      : From<Derived.Album>().orderBy(\.canonicalTitle, \.seconds)
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
    let (beta, alpha) = (Derived.Album("Beta"), Derived.Album("Alpha"))
    context.insert(beta)
    context.insert(alpha)
    context.insert(Derived.Song("x", in: alpha))
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
