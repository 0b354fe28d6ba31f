import Cambium
import Predicates

@testable import GraphContext

/// A library as plain values, with the rules by which saves merge. Shares no code with contexts.
struct MergeGraph: Equatable {
  enum Kind: Int, CaseIterable {
    case writer, book, reader, desk

    /// The places of references among the values: those of writers to desks, of books and desks to writers.
    var referenceSlots: Set<Int> {
      switch self {
      case .writer: [3]
      case .book: [2]
      case .reader: []
      case .desk: [1]
      }
    }
  }
  struct Key: Hashable {
    var kind: Kind
    var number: Int
  }
  struct Pair: Hashable {
    var reader: Int
    var writer: Int
  }
  struct Slot: Hashable {
    var key: Key
    var slot: Int
  }

  /// Writers: name, rank, address, desk. Books: title, pages, writer. Readers: name. Desks: number, writer.
  var rows: [Key: [Int?]] = [:]
  var pairs: Set<Pair> = []

  func keys(_ kind: Kind) -> [Key] {
    rows.keys.filter { $0.kind == kind }.sorted { $0.number < $1.number }
  }

  func contains(_ kind: Kind, _ number: Int) -> Bool { rows[Key(kind: kind, number: number)] != nil }

  mutating func delete(_ key: Key) {
    rows[key] = nil
    pairs = pairs.filter {
      key != Key(kind: .reader, number: $0.reader) && key != Key(kind: .writer, number: $0.writer)
    }
    guard key.kind == .writer else { return }
    for (other, values) in rows {
      if other.kind == .book, values[2] == key.number { delete(other) }
      if other.kind == .desk, values[1] == key.number { rows[other]?[1] = nil }
    }
  }

  mutating func seat(_ writer: Int, at desk: Int) {
    let (writerKey, deskKey) = (Key(kind: .writer, number: writer), Key(kind: .desk, number: desk))
    if let old = rows[writerKey]?[3] { rows[Key(kind: .desk, number: old)]?[1] = nil }
    if let old = rows[deskKey]?[1] { rows[Key(kind: .writer, number: old)]?[3] = nil }
    rows[writerKey]?[3] = desk
    rows[deskKey]?[1] = writer
  }

  /// Takes desks from writers who are no longer theirs.
  mutating func emptyLostDesks() {
    for key in keys(.writer) {
      guard let desk = rows[key]?[3] else { continue }
      if rows[Key(kind: .desk, number: desk)]?[1] != key.number { rows[key]?[3] = nil }
    }
  }

  /// The places of the values that differ in two graphs that both have the object.
  func slots(of key: Key, thatDifferFrom other: MergeGraph) -> Set<Int> {
    guard let mine = rows[key], let theirs = other.rows[key] else { return [] }
    return Set(mine.indices.filter { mine[$0] != theirs[$0] })
  }
}

/// One edit of a library, as it is made in a context and in a ``MergeGraph``.
enum MergeEdit {
  case insert(MergeGraph.Key, [Int?])
  case set(MergeGraph.Key, slot: Int, Int?)
  case link(MergeGraph.Pair)
  case unlink(MergeGraph.Pair)
  case delete(MergeGraph.Key)

  func apply(to graph: inout MergeGraph) {
    switch self {
    case .insert(let key, let values): graph.rows[key] = values
    case .set(let key, let slot, let value): graph.rows[key]?[slot] = value
    case .link(let pair): graph.pairs.insert(pair)
    case .unlink(let pair): graph.pairs.remove(pair)
    case .delete(let key): graph.delete(key)
    }
  }
}

extension MergePolicy {
  /// Policies of the program's own that resolve every property.
  static let keepMine = MergePolicy.custom { $0.keepMine() }
  static let keepTheirs = MergePolicy.custom { $0.keepTheirs() }
}

/// The state of a store, and the commit that gave each value. The commits show which values two contexts have both
/// changed.
struct MergeLedger {
  private(set) var graph = MergeGraph()
  private(set) var commit = 0
  private var changedAt: [MergeGraph.Slot: Int] = [:]

  /// The outcome of a save: the graph afterwards, and the possible reasons of a refusal; empty when the save passes.
  struct Outcome {
    var graph: MergeGraph
    var objections: Set<String> = []
  }

  mutating func accept(_ new: MergeGraph) {
    commit += 1
    for key in new.rows.keys where graph.rows[key] != nil {
      for slot in new.slots(of: key, thatDifferFrom: graph) {
        changedAt[.init(key: key, slot: slot)] = commit
      }
    }
    graph = new
  }

  /// Returns the outcome of saving the changes between two states of a context. The first state is that of a commit.
  func saving(
    _ current: MergeGraph,
    since base: MergeGraph,
    at baseCommit: Int,
    by policy: MergePolicy
  ) -> Outcome {
    var outcome = Outcome(graph: graph)
    let deleted = base.rows.keys.filter { current.rows[$0] == nil }
    for key in deleted where graph.rows[key] != nil {
      if policy == .error, !foreignSlots(of: key, since: baseCommit).isEmpty {
        outcome.objections.insert("conflict")
      }
    }
    for key in current.rows.keys {
      if base.rows[key] == nil {
        outcome.graph.rows[key] = current.rows[key]
        check(key, current.rows[key] ?? [], base, &outcome)
      } else {
        merge(key, current, base, baseCommit, deleted, policy, &outcome)
      }
    }
    outcome.graph.emptyLostDesks()
    for pair in current.pairs.subtracting(base.pairs) {
      outcome.graph.pairs.insert(pair)
      if isGone(.writer, pair.writer, base) || isGone(.reader, pair.reader, base) {
        outcome.objections.insert("missingDestination")
      }
    }
    outcome.graph.pairs.subtract(base.pairs.subtracting(current.pairs))
    for key in deleted { outcome.graph.delete(key) }
    let addresses = outcome.graph.keys(.writer).compactMap { outcome.graph.rows[$0]?[2] }
    if Set(addresses).count < addresses.count { outcome.objections.insert("notUnique") }
    return outcome
  }

  private func foreignSlots(of key: MergeGraph.Key, since commit: Int) -> Set<Int> {
    Set((0..<4).filter { changedAt[.init(key: key, slot: $0), default: 0] > commit })
  }

  /// Whether another context has deleted an object that a context knows.
  private func isGone(_ kind: MergeGraph.Kind, _ number: Int, _ base: MergeGraph) -> Bool {
    base.contains(kind, number) && !graph.contains(kind, number)
  }

  private func check(_ key: MergeGraph.Key, _ values: [Int?], _ base: MergeGraph, _ outcome: inout Outcome) {
    guard key.kind == .book, let writer = values[2] else { return }
    if isGone(.writer, writer, base) { outcome.objections.insert("missingDestination") }
  }

  private func merge(
    _ key: MergeGraph.Key,
    _ current: MergeGraph,
    _ base: MergeGraph,
    _ baseCommit: Int,
    _ deleted: [MergeGraph.Key],
    _ policy: MergePolicy,
    _ outcome: inout Outcome
  ) {
    var mine = current.slots(of: key, thatDifferFrom: base)
    guard !mine.isEmpty else { return }
    guard let theirs = graph.rows[key], let values = current.rows[key] else {
      if policy == .error { outcome.objections.insert("conflict") }
      return
    }
    let foreign = foreignSlots(of: key, since: baseCommit)
    // Two references to the same object agree.
    let agreed = mine.intersection(foreign).intersection(key.kind.referenceSlots)
      .filter { theirs[$0] == values[$0] }
    mine.subtract(agreed)
    let both = mine.intersection(foreign)
    var dropped: Set<Int> = []
    switch policy {
    case _ where foreign.isEmpty: break
    case .error: if !both.isEmpty { outcome.objections.insert("conflict") }
    case .mergeByPropertyStoreTrump, .keepTheirs: dropped = both
    case .overwrite where !mine.isEmpty || !agreed.isEmpty:
      mine.formUnion(foreign.subtracting(key.kind.referenceSlots))
    case .rollback: dropped = mine
    default: break
    }
    for slot in dropped where key.kind == .book && slot == 2 {
      // The reference that stays leads to a writer that this save deletes.
      if let writer = theirs[2], deleted.contains(.init(kind: .writer, number: writer)) {
        outcome.objections.insert("conflict")
      }
    }
    for slot in mine.subtracting(dropped) {
      outcome.graph.rows[key]?[slot] = values[slot]
      if key.kind == .book, slot == 2 { check(key, values, base, &outcome) }
    }
  }
}
