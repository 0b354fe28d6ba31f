import Cambium
import GraphTestSupport
import TestSupport
import Testing

@testable import GraphContext

/// Hundreds of objects that are changed or deleted in one save, by objects and by batch: neighbours in the trees and objects far apart, all of them and a few.
struct MassChangeTests {
  @Test(arguments: [false, true])
  func theStoreHasWhatAListOfRowsHas(keepsHistory: Bool) async throws {
    var random = SeededGenerator("theStoreHasWhatAListOfRowsHas \(keepsHistory)")
    for _ in 0..<TestEffort.times(2, long: 20) {
      let container = try await PersistentContainer(
        "Wares",
        models: MassShelf.self,
        MassWare.self,
        at: .inMemory
      )
      if keepsHistory { try await container.keepHistory(HistoryPolicy()) }
      var trial = MassTrial(container, random)
      try await trial.fill(600)
      for _ in 0..<10 {
        try await trial.step()
        #expect(try await container.verify() == [], "after \(trial.steps)")
        #expect(try await trial.stored() == trial.expected, "after \(trial.steps)")
      }
      random = trial.random
    }
  }

  @Test func aDeletionOfEverythingLeavesWhatCameSince() async throws {
    let container = try await PersistentContainer(
      "Wares",
      models: MassShelf.self,
      MassWare.self,
      at: .inMemory
    )
    var trial = MassTrial(container, SeededGenerator())
    try await trial.fill(100)
    let context = try container.context()
    defer { context.end() }
    for ware in try context.fetch(From<MassWare>()) { context.delete(ware) }
    // The store then has as many objects as the context deletes, but not the same ones.
    try await container.performBackgroundTask { other in
      for ware in try other.fetch(From<MassWare>().limit(1)) { other.delete(ware) }
      other.insert(MassWare("other", rank: 1))
      try other.save()
    }
    try context.save()
    #expect(try await container.verify() == [])
    #expect(try await container.query { try $0.fetch(From<MassWare>()).map(\.code) } == ["other"])
  }
}

/// A store of wares, and beside it the rows that it must have.
private struct MassTrial {
  struct Row: Equatable {
    var code: String
    var rank: Int
    var weight: Double?
    var note: String?
    var shelf: Int?
  }

  let container: PersistentContainer
  var random: SeededGenerator
  /// By code, which orders rows as their objects were made.
  private var rows: [Row] = []
  private var nextCode = 0
  private(set) var steps: [String] = []

  init(_ container: PersistentContainer, _ random: SeededGenerator) {
    self.container = container
    self.random = random
  }

  var expected: [Row] { rows }

  mutating func fill(_ count: Int) async throws {
    var added: [Row] = []
    for _ in 0..<count {
      nextCode += 1
      added.append(
        Row(
          code: "ware \(100_000 + nextCode)",
          rank: random.number(in: -3...300),
          weight: random.chance(1, in: 4) ? nil : Double(random.number(in: 0...9)),
          note: random.chance(1, in: 3) ? nil : String(repeating: "n", count: random.number(in: 0...40)),
          shelf: random.chance(1, in: 5) ? nil : random.number(in: 0...6)
        )
      )
    }
    rows += added
    steps.append("inserted \(count)")
    let new = added
    try await container.performBackgroundTask { context in
      var shelves: [Int: MassShelf] = [:]
      for shelf in try context.fetch(From<MassShelf>()) { shelves[shelf.number] = shelf }
      for row in new {
        let ware = MassWare(row.code, rank: row.rank)
        (ware.weight, ware.note) = (row.weight, row.note)
        if let number = row.shelf {
          let shelf = shelves[number] ?? MassShelf(number)
          shelves[number] = shelf
          ware.shelf = shelf
        }
        context.insert(ware)
      }
      try context.save()
    }
  }

  /// One save that changes, deletes or adds many.
  mutating func step() async throws {
    let byBatch = random.chance(1, in: 2)
    let chosen = choose()
    switch random.number(in: 0...5) {
    case 0, 1:
      steps.append("deleted \(chosen.count) of \(rows.count)\(byBatch ? " by batch" : "")")
      rows.removeAll { chosen.contains($0.code) }
      try await delete(chosen, byBatch)
    case 2:
      steps.append("ranks of \(chosen.count)\(byBatch ? " by batch" : "")")
      let difference = random.number(in: -2...400)
      change(chosen) { $0.rank += difference }
      try await update(chosen, byBatch, .set(\.rank) { $0.rank + difference }) { $0.rank += difference }
    case 3:
      steps.append("weights of \(chosen.count)\(byBatch ? " by batch" : "")")
      let weight: Double? = random.chance(1, in: 3) ? nil : Double(random.number(in: 0...9))
      change(chosen) { $0.weight = weight }
      try await update(chosen, byBatch, .set(\.weight, to: weight)) { $0.weight = weight }
    case 4:
      steps.append("notes of \(chosen.count)\(byBatch ? " by batch" : "")")
      let note = random.chance(1, in: 4) ? nil : String(repeating: "m", count: random.number(in: 0...60))
      change(chosen) { $0.note = note }
      try await update(chosen, byBatch, .set(\.note, to: note)) { $0.note = note }
    default: try await fill(random.number(in: 1...300))
    }
  }

  /// The codes of a run, of a sample, or of all.
  private mutating func choose() -> Set<String> {
    guard !rows.isEmpty else { return [] }
    let codes = rows.map(\.code)
    switch random.number(in: 0...4) {
    case 0: return Set(codes)
    case 1: return Set(codes.dropFirst(random.number(in: 0...codes.count - 1)).prefix(250))
    case 2: return Set(codes.filter { _ in random.chance(9, in: 10) })
    case 3: return Set(codes.filter { _ in random.chance(1, in: 10) })
    default: return Set(codes.shuffled(using: &random).prefix(3))
    }
  }

  private mutating func change(_ codes: Set<String>, _ body: (inout Row) -> Void) {
    for place in rows.indices where codes.contains(rows[place].code) { body(&rows[place]) }
  }

  private func delete(_ codes: Set<String>, _ byBatch: Bool) async throws {
    if byBatch {
      let list = Array(codes)
      _ = try await container.batchDelete(From<MassWare>().where { $0.code.in(list) })
      return
    }
    try await container.performBackgroundTask { context in
      for ware in try context.fetch(From<MassWare>()) where codes.contains(ware.code) { context.delete(ware) }
      try context.save()
    }
  }

  private func update(
    _ codes: Set<String>,
    _ byBatch: Bool,
    _ assignment: Assignment<MassWare>,
    _ body: @escaping @Sendable (MassWare) -> Void
  ) async throws {
    if byBatch {
      let list = Array(codes)
      _ = try await container.batchUpdate(From<MassWare>().where { $0.code.in(list) }, assignment)
      return
    }
    try await container.performBackgroundTask { context in
      for ware in try context.fetch(From<MassWare>()) where codes.contains(ware.code) { body(ware) }
      try context.save()
    }
  }

  /// Returns the rows of the store. Checks that its indexes and relationships agree with them.
  func stored() async throws -> [Row] {
    try await container.query { context in
      let wares = try context.fetch(From<MassWare>())
      let ranked = try context.fetch(From<MassWare>().where { $0.rank >= 0 }).count
      #expect(ranked == wares.count { $0.rank >= 0 })
      for shelf in try context.fetch(From<MassShelf>()) {
        #expect(shelf.wares.count == wares.count { $0.shelf === shelf })
      }
      for ware in wares.prefix(5) {
        let code = ware.code
        let found = try context.fetch(From<MassWare>().where { $0.code == code })
        #expect(found.map(\.objectID) == [ware.objectID])
      }
      return wares.map {
        Row(code: $0.code, rank: $0.rank, weight: $0.weight, note: $0.note, shelf: $0.shelf?.number)
      }
    }
  }
}

@Model final class MassShelf {
  var number: Int
  @Relationship(inverse: \MassWare.shelf) var wares: [MassWare] = []

  init(_ number: Int) { self.number = number }
}

@Model final class MassWare {
  #Unique<MassWare>([\.code])
  #Index<MassWare>([\.rank])
  #Index<MassWare>([\.note])
  var code: String
  var rank: Int
  var weight: Double?
  var note: String?
  @Relationship var shelf: MassShelf?

  init(_ code: String, rank: Int) {
    self.code = code
    self.rank = rank
  }
}
