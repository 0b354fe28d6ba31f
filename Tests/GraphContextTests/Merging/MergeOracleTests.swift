import Cambium
import GraphTestSupport
import TestSupport
import Testing

@testable import GraphContext

/// Two contexts that change the same objects at random, beside plain values that are merged property by property.
struct MergeOracleTests {
  private static let policies: [MergePolicy] = [
    .error, .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite, .rollback, sum,
  ]

  /// Adds up what both have added to a rank, and keeps the context's name.
  private static let sum = MergePolicy.custom { conflict in
    conflict.resolve(\Writer.rank) { base, mine, theirs in mine + theirs - (base ?? -1_000_000) }
    conflict.keepMine()
  }

  @Test(arguments: policies)
  func savesOfTwoContextsMergeAsPlainValuesDo(_ policy: MergePolicy) async throws {
    try await race(policy, moves: false, #function)
  }

  /// The contexts move on with their unsaved changes, too.
  @Test(arguments: policies)
  func contextsThatMoveOnMergeAsPlainValuesDo(_ policy: MergePolicy) async throws {
    try await race(policy, moves: true, #function)
  }

  private func race(_ policy: MergePolicy, moves: Bool, _ name: String) async throws {
    var generator = SeededGenerator("\(name) \(policy)")
    let library = try await Library.open()
    var race = try MergeRace(library, policy, moves: moves)
    for _ in 0..<600 { try race.step(&generator) }
    #expect(race.conflictCount > 5)
    race.end()
  }
}

/// The steps of the contexts, and the state that the store should have.
private struct MergeRace {
  /// The attributes of a writer, as the oracle has them.
  private struct Row: Equatable {
    var values: [Int]
    /// The commit that gave each attribute its value, counted by the oracle.
    var changedAt: [Int]
  }
  private struct Edit {
    var value: Int
    /// The value that the context showed before.
    let base: Int
  }
  private struct Side {
    let context: ManagedObjectContext
    /// The values that the context shows without its edits.
    var base: [ManagedObjectID: Row]
    var baseCommit = 0
    /// The edits of each object; nil for its deletion.
    var edits: [ManagedObjectID: [Int: Edit]?] = [:]
    /// The slots of edited and deleted objects that the other side had changed when this one moved on.
    var conflicts: [ManagedObjectID: Set<Int>] = [:]
  }
  private let library: PersistentContainer
  private let policy: MergePolicy
  private let moves: Bool
  private var sides: [Side]
  private var stored: [ManagedObjectID: Row] = [:]
  private var commit = 0
  private(set) var conflictCount = 0

  init(_ library: PersistentContainer, _ policy: MergePolicy, moves: Bool) throws {
    self.library = library
    self.policy = policy
    self.moves = moves
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
      // A context that moves on forgets a change to an equal value. Of these numbers, no two are equal, and no two
      // sums are.
      let value = generator.number(in: moves ? 1...1 << 40 : 1...99)
      try edit(which, generator.pick(order), generator.number(in: 0...1), to: value)
    case 8 where moves: try refresh(which)
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
    let base = edits[slot]?.base ?? sides[which].base[id]?.values[slot]
    edits[slot] = Edit(value: value, base: try #require(base))
    sides[which].edits[id] = edits
  }

  /// Moves a context on with its edits.
  private mutating func refresh(_ which: Int) throws {
    let side = sides[which]
    try side.context.refresh()
    for (id, edits) in side.edits {
      guard let row = stored[id] else { continue }
      let foreign = Set(row.values.indices.filter { row.changedAt[$0] > side.baseCommit })
      let both = edits.map { foreign.intersection($0.keys) } ?? foreign
      sides[which].conflicts[id, default: []].formUnion(both)
    }
    // Objects that the other side has deleted and that only this side's edits keep in its context.
    let kept = side.base.filter { stored[$0.key] == nil && side.edits[$0.key] != nil }
    sides[which].base = stored.merging(kept) { stored, _ in stored }
    sides[which].baseCommit = commit
    let shown = sides[which].base.compactMap { id, row -> (UInt64, [Int])? in
      guard let edits = sides[which].edits[id] ?? [:] else { return nil }
      return (id.number.rawValue, row.values.indices.map { edits[$0]?.value ?? row.values[$0] })
    }
    let found = try side.context.fetch(From<Writer>()).map { "[\($0.name), \($0.rank)]" }
    #expect(found == shown.sorted { $0.0 < $1.0 }.map { "\($0.1)" })
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
    sides[which].conflicts = [:]
  }

  /// Returns the rows that the save leaves in the store, nil for a deletion; returns nil for a conflict.
  private mutating func merged(_ side: Side) -> [ManagedObjectID: Row?]? {
    var result: [ManagedObjectID: Row?] = [:]
    for (id, edits) in side.edits {
      guard let base = side.base[id] else { continue }
      guard let row = stored[id] else {
        let isChanged = edits?.contains { $0.value.base != $0.value.value } ?? false
        if isChanged, policy == .error { return nil }
        continue
      }
      let later = row.changedAt.indices.filter { row.changedAt[$0] > side.baseCommit }
      let foreign = (side.conflicts[id] ?? []).union(later)
      guard let edits else {
        if policy == .error, !foreign.isEmpty { return nil }
        result[id] = .some(nil)
        continue
      }
      let mine = edits.filter { $0.value.base != $0.value.value }.mapValues(\.value)
      let both = mine.keys.filter { foreign.contains($0) }
      if !both.isEmpty { conflictCount += policy == .error ? 0 : 1 }
      var new = mine
      switch policy.rule {
      case .error: if !both.isEmpty { return nil }
      case .mergeByPropertyStoreTrump: for slot in both { new[slot] = nil }
      case .overwrite where !foreign.isEmpty && !mine.isEmpty:
        for slot in base.values.indices { new[slot] = mine[slot] ?? base.values[slot] }
      case .rollback where !foreign.isEmpty: new = [:]
      case .custom where both.contains(1):
        new[1] = (mine[1] ?? 0) + row.values[1] - (edits[1]?.base ?? 0)
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
