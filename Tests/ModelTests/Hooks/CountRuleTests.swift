import Cambium
import Foundation
import GraphTestSupport
import TestSupport
import Testing

@testable import GraphContext

private enum Club {
  @Model final class Team {
    var name: String
    @Relationship(deleteRule: .cascade, inverse: \Player.team, minimumModelCount: 2, maximumModelCount: 3)
    var players: [Player] = []
    init(_ name: String) { self.name = name }
  }
  @Model final class Player {
    var number: Int
    @Relationship var team: Team?
    @Relationship(inverse: \Badge.players, maximumModelCount: 2) var badges: [Badge] = []
    init(_ number: Int) { self.number = number }
  }
  @Model final class Badge {
    var name: String
    @Relationship(minimumModelCount: 1) var players: [Player] = []
    init(_ name: String) { self.name = name }
  }

  static func open() async throws -> PersistentContainer {
    try await PersistentContainer("Club", models: [Team.self, Player.self, Badge.self], at: .inMemory)
  }
}

/// Bounds of the counts of to-many relationships.
struct CountRuleTests {
  private let club: PersistentContainer

  init() async throws {
    club = try await Club.open()
    try await club.write { context in
      let team = Club.Team("A")
      context.insert(team)
      for number in 1...3 { team.players.append(Club.Player(number)) }
    }
  }

  /// The messages of a save that is refused; empty when it passes.
  private func refusals(
    _ body: @Sendable @escaping (ManagedObjectContext) throws -> Void
  ) async throws -> [String] {
    do {
      try await club.write(body)
      return []
    } catch let error as ContextError {
      #expect(error.failures.allSatisfy { $0.code == .validationFailed && $0.context.properties.count == 1 })
      return error.failures.map(\.message)
    }
  }

  @Test func newObjectsHaveTheirMembers() async throws {
    let messages = try await refusals { context in
      context.insert(Club.Team("B"))
      context.insert(Club.Badge("gold"))
      let team = Club.Team("C")
      context.insert(team)
      for number in 0..<4 { team.players.append(Club.Player(number)) }
    }
    #expect(
      messages.sorted() == [
        "Badge.players of object 1 has 0 members and must have at least 1",
        "Team.players of object 2 has 0 members and must have 2 to 3",
        "Team.players of object 3 has 4 members and must have 2 to 3",
      ]
    )
    #expect(try await club.query { try $0.count(From<Club.Team>()) } == 1)
  }

  @Test func bothEndsOfALinkAreCounted() async throws {
    #expect(
      try await refusals { context in
        let player = try #require(try context.fetch(From<Club.Player>()).first)
        for name in ["a", "b", "c"] {
          let badge = Club.Badge(name)
          context.insert(badge)
          badge.players = [player]
        }
      } == ["Player.badges of object 1 has 3 members and must have at most 2"]
    )
    #expect(
      try await refusals { context in
        let players = try context.fetch(From<Club.Player>())
        let badge = Club.Badge("a")
        context.insert(badge)
        for player in players { player.badges = [badge] }
      } == []
    )
    #expect(
      try await refusals { context in
        for player in try context.fetch(From<Club.Player>()) { player.badges = [] }
      } == ["Badge.players of object 4 has 0 members and must have at least 1"]
    )
  }

  @Test func deletionsAreCounted() async throws {
    #expect(try await refusals { try $0.delete($0.fetch(From<Club.Player>())[0]) } == [])
    #expect(
      try await refusals { try $0.delete($0.fetch(From<Club.Player>())[0]) }
        == ["Team.players of object 1 has 1 member and must have 2 to 3"]
    )
    let error = await #expect(throws: ContextError.self) {
      try await club.batchDelete(From<Club.Player>().where { $0.number == 2 })
    }
    #expect(error?.code == .validationFailed)
    // A team may be deleted together with its members.
    #expect(try await refusals { try $0.delete($0.fetch(From<Club.Team>())[0]) } == [])
    #expect(try await club.query { try $0.count(From<Club.Player>()) } == 0)
  }

  /// Each of two contexts shows an allowed count. The save checks the count that the store would have.
  @Test func twoContextsTogetherDoNotExceedTheCount() async throws {
    _ = try await refusals { try $0.delete($0.fetch(From<Club.Player>())[0]) }
    let contexts = [try club.context(), try club.context()]
    defer { contexts.forEach { $0.end() } }
    for context in contexts {
      let team = try #require(try context.fetch(From<Club.Team>()).first)
      team.players.append(Club.Player(9))
    }
    try contexts[0].save()
    #expect(throws: ContextError.self) { try contexts[1].save() }
    #expect(try await club.query { try $0.count(From<Club.Player>()) } == 3)
    #expect(try await club.verify() == [])
  }

  @Test func aChildIsCheckedWhenTheStoreIsSavedTo() async throws {
    let context = try club.context()
    defer { context.end() }
    let child = context.makeChild()
    child.insert(Club.Team("B"))
    try child.save()
    #expect(throws: ContextError.self) { try context.save() }
    context.rollback()
    #expect(!context.hasChanges)
  }

  /// Random members, compared with the rules of an oracle.
  @Test func randomMembersKeepTheirRules() async throws {
    var random = SeededGenerator()
    let seed = random.seed
    let context = try club.context()
    defer { context.end() }
    var saves = (passed: 0, refused: 0)
    for step in 0..<400 {
      let (teams, players) = (try context.fetch(From<Club.Team>()), try context.fetch(From<Club.Player>()))
      switch random.number(in: 0...4) {
      case 0 where teams.count < 4: context.insert(Club.Team("t\(step)"))
      case 1, 2:
        let player = Club.Player(step)
        context.insert(player)
        player.team = teams.isEmpty ? nil : random.pick(teams)
      case 3: if !players.isEmpty { random.pick(players).team = teams.isEmpty ? nil : random.pick(teams) }
      default: if let player = players.last { context.delete(player) }
      }
      guard random.chance(1, in: 2) else { continue }
      let isAllowed = try context.fetch(From<Club.Team>()).allSatisfy { (2...3).contains($0.players.count) }
      do {
        try context.save()
        #expect(isAllowed, "seed \(seed), step \(step)")
        saves.passed += 1
      } catch {
        #expect(!isAllowed && error.code == .validationFailed, "seed \(seed), step \(step): \(error)")
        saves.refused += 1
        if random.chance(1, in: 3) { context.rollback() }
      }
    }
    #expect(saves.passed > 0 && saves.refused > 0, "seed \(seed): \(saves)")
  }
}
