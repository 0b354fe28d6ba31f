import Cambium
import TestSupport
import Testing

@testable import GraphContext

/// Two contexts that change the same objects at random, beside plain values that are merged property by property.
struct MergeOracleTests {
  @Test(arguments: [
    MergePolicy.error, .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite, .rollback,
  ])
  func savesOfTwoContextsMergeAsPlainValuesDo(_ policy: MergePolicy) async throws {
    var generator = SeededGenerator("\(#function) \(policy)")
    let library = try await Library.open()
    var race = try MergeRace(library, policy)
    for _ in 0..<600 { try race.step(&generator) }
    #expect(race.conflictCount > 5)
    race.end()
  }
}

/// What the contexts do, and what the store should have.
private struct MergeRace {
  /// The attributes of a writer, as the oracle has them.
  private struct Row: Equatable {
    var values: [Int]
    /// The commit that gave each its value, counted by the oracle.
    var changedAt: [Int]
  }
  private struct Side {
    let context: ManagedObjectContext
    var base: [ManagedObjectID: Row]
    var baseCommit = 0
    /// By object, and nil for its deletion.
    var edits: [ManagedObjectID: [Int: Int]?] = [:]
  }
  private let library: PersistentContainer
  private let policy: MergePolicy
  private var sides: [Side]
  private var stored: [ManagedObjectID: Row] = [:]
  private var commit = 0
  private(set) var conflictCount = 0

  init(_ library: PersistentContainer, _ policy: MergePolicy) throws {
    self.library = library
    self.policy = policy
    sides = []
    for _ in 0..<2 {
      let context = try library.context()
      context.mergePolicy = policy
      sides.append(Side(context: context, base: [:]))
    }
  }

  func end() { for side in sides { side.context.end() } }

  mutating func step(_ generator: inout SeededGenerator) throws {
    let which = generator.number(in: 0...1)
    let live = sides[which].base.keys.filter { id in
      if case .some(.none) = sides[which].edits[id] { false } else { true }
    }
    let order = live.sorted { $0.number < $1.number }
    switch generator.number(in: 0...9) {
    case 0 where order.count < 8: try insert(which)
    case 1 where order.count > 4: try delete(which, generator.pick(order))
    case 2...7 where !order.isEmpty:
      try edit(which, generator.pick(order), generator.number(in: 0...1), to: generator.number(in: 1...99))
    default: try save(which)
    }
  }

  private mutating func insert(_ which: Int) throws {
    try save(which)
    let writer = Writer("1", rank: 1)
    sides[which].context.insert(writer)
    try sides[which].context.save()
    commit += 1
    stored[writer.objectID] = Row(values: [1, 1], changedAt: [commit, commit])
    moveOn(which)
  }

  private mutating func delete(_ which: Int, _ id: ManagedObjectID) throws {
    let context = sides[which].context
    context.delete(try context.existingObject(Writer.self, with: id))
    sides[which].edits[id] = .some(nil)
  }

  private mutating func edit(_ which: Int, _ id: ManagedObjectID, _ slot: Int, to value: Int) throws {
    let writer = try sides[which].context.existingObject(Writer.self, with: id)
    if slot == 0 { writer.name = "\(value)" } else { writer.rank = value }
    var edits = (sides[which].edits[id] ?? [:]) ?? [:]
    edits[slot] = value
    sides[which].edits[id] = edits
  }

  private mutating func save(_ which: Int) throws {
    let context = sides[which].context
    let expected = merged(sides[which])
    do throws(ContextError) {
      try context.save()
      #expect(expected != nil, "the save should have been a conflict")
      commit += 1
      for (id, row) in expected ?? [:] { stored[id] = row }
    } catch {
      guard error.code == .conflict else { throw error }
      #expect(expected == nil, "\(error)")
      conflictCount += 1
      context.rollback()
    }
    try context.refresh()
    moveOn(which)
    try compare(context)
  }

  private mutating func moveOn(_ which: Int) {
    sides[which].base = stored
    sides[which].baseCommit = commit
    sides[which].edits = [:]
  }

  /// What the save leaves in the store, nil for a deletion; nil for a conflict.
  private mutating func merged(_ side: Side) -> [ManagedObjectID: Row?]? {
    var result: [ManagedObjectID: Row?] = [:]
    for (id, edits) in side.edits {
      guard let base = side.base[id] else { continue }
      guard let row = stored[id] else {
        let isChanged = edits?.contains { base.values[$0.key] != $0.value } ?? false
        if isChanged, policy == .error { return nil }
        continue
      }
      let foreign = row.changedAt.indices.filter { row.changedAt[$0] > side.baseCommit }
      guard let edits else {
        if policy == .error, !foreign.isEmpty { return nil }
        result[id] = .some(nil)
        continue
      }
      let mine = edits.filter { base.values[$0.key] != $0.value }
      let both = mine.keys.filter { foreign.contains($0) }
      if !both.isEmpty { conflictCount += policy == .error ? 0 : 1 }
      var new = mine
      switch policy {
      case .error: if !both.isEmpty { return nil }
      case .mergeByPropertyStoreTrump: for slot in both { new[slot] = nil }
      case .overwrite where !foreign.isEmpty && !mine.isEmpty:
        for slot in base.values.indices { new[slot] = mine[slot] ?? base.values[slot] }
      case .rollback where !foreign.isEmpty: new = [:]
      default: break
      }
      var merged = row
      for (slot, value) in new where merged.values[slot] != value {
        merged.values[slot] = value
        merged.changedAt[slot] = commit + 1
      }
      result[id] = merged
    }
    return result
  }

  private func compare(_ context: ManagedObjectContext) throws {
    let expected = stored.sorted { $0.key.number < $1.key.number }.map { "\($0.value.values)" }
    let found = try context.fetch(From<Writer>()).map { "[\($0.name), \($0.rank)]" }
    #expect(found == expected)
    #expect(try library.verify().map(\.description) == [])
  }
}
