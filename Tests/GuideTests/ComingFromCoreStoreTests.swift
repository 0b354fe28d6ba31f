import Cambium
import CambiumImport
import Foundation
import Testing

@Model final class Player {
  #Index<Player>([\.name])
  @Attribute(.unique) var number: Int
  @Attribute(.length(1...40)) var name: String
  var score: Int = 0
  @Relationship var team: Team?

  init(_ number: Int, _ name: String) {
    self.number = number
    self.name = name
  }
}

@Model final class Team {
  var title: String
  @Relationship(deleteRule: .cascade, inverse: \Player.team) var players: [Player] = []

  init(_ title: String) { self.title = title }
}

// Quoted in Docs/ComingFromCoreStore.md
extension Player: ImportableUniqueObject {
  static var uniqueIDKeyPath: ReferenceWritableKeyPath<Player, Int> { \.number }

  static func uniqueID(from source: [String: String], in context: ManagedObjectContext) -> Int? {
    source["number"].flatMap { Int($0) }
  }

  func update(from source: [String: String], in context: ManagedObjectContext) {
    name = source["name"] ?? name
  }
}
// End of quotation

struct ComingFromCoreStoreTests {
  @Test @MainActor func theGuideDoesWhatItSays() async throws {
    let league = try await PersistentContainer("League", models: Player.self, Team.self, at: .inMemory)
    let id = try await transactions(league)
    #expect(try await league.query { try $0.existingObject(Player.self, with: id).score } == 7)
    let fetched = try await fetch(league)
    #expect(fetched.names == ["Eve", "Ada"] && fetched.points == [7])
    try await observe(league)
    let sources = [["number": "2", "name": "Eva"], ["number": "3", "name": "Bob"], ["name": "nobody"]]
    // Quoted in Docs/ComingFromCoreStore.md
    let players = try await league.importUniqueObjects(Player.self, from: sources)
    print(players.map(\.name))  // Objects of the view context.
    // End of quotation
    #expect(players.map(\.name) == ["Eva", "Bob"])
    try await league.close()
  }

  private func transactions(_ league: PersistentContainer) async throws -> ManagedObjectID {
    // Quoted in Docs/ComingFromCoreStore.md
    let id = try await league.write { context in
      context.author = "kick-off"  // The source identifier.
      let ada = Player(1, "Ada")
      ada.team = Team("Reds")  // Comes into the context with its first player.
      context.insert(ada)
      return ada.objectID
    }
    try await league.write { context, shouldSave in
      let ada = try context.existingObject(Player.self, with: id)  // What `edit` gives.
      ada.score += 7
      shouldSave = ada.score < 100  // In place of `cancel()`.
    }
    // End of quotation
    try wait(league)
    return id
  }

  private func wait(_ league: PersistentContainer) throws {
    try league.writeAndWait { context in context.insert(Player(2, "Eve")) }
  }

  private func fetch(
    _ league: PersistentContainer
  ) async throws -> (names: [String], points: [Int?]) {
    let (names, points) = try await league.query { context in
      // Quoted in Docs/ComingFromCoreStore.md
      let request = From<Player>().where(format: "score < %@", 100)
        .orderBy(OrderBy(named: "score"), .ascending(\.name))
      let names = try context.fetch(request.tweak { $0.limit = 20 }).map(\.name)
      var query = DynamicQuery("Player", where: try PredicateTree(format: "team != nil"))
      query.groupBy = ["team.title"]
      query.aggregates = [.init(.sum, "score")]
      let points = try context.groups(of: query).map { $0.value(of: "sum(score)", as: Int.self) }
      // End of quotation
      return (names, points)
    }
    return (names, points)
  }

  @MainActor private func observe(_ league: PersistentContainer) async throws {
    var told: [String] = []
    let ada = try #require(try league.viewContext.fetchOne(From<Player>().where { $0.number == 1 }))
    // Quoted in Docs/ComingFromCoreStore.md
    let byTeam = From<Player>().orderBy(\.team?.title, \.name)
    let list = try FetchedResults(byTeam, sectionedBy: SectionedBy(\.team?.title), in: league.viewContext)
    let ofList = list.onChange { changes in
      if changes.author != "this screen" { told.append("\(changes.changes.count) changed") }
    }
    let ofScore = try ada.observe(\.score) { old, new in told.append("\(old) → \(new)") }
    // End of quotation
    let id = ada.objectID
    try await league.write { try $0.existingObject(Player.self, with: id).score = 9 }
    try league.waitForViewContext()
    #expect(Set(told) == ["1 changed", "7 → 9"])
    withExtendedLifetime((ofList, ofScore)) {}
  }
}
