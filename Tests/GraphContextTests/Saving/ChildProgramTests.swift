import Cambium
import Foundation
import GraphTestSupport
import TestSupport
import Testing

@testable import GraphContext

/// Random edits in a context, its children and a grandchild have the same result in the store as the same edits in
/// one context, which makes them when they reach the family's root.
struct ChildProgramTests {
  /// The number of programs that are run.
  private static let programCount = TestEffort.times(40, long: 60)

  @Test func aFamilyDoesWhatOneContextDoes() async throws {
    var generator = SeededGenerator()
    for _ in 0..<Self.programCount / 20 {
      var run = try await FamilyRun(SeededGenerator(seed: generator.next()))
      for _ in 0..<20 { try run.program(of: 40) }
      try await run.finish()
    }
  }
}

/// A family of contexts on one store, and a context on another store that makes the same edits when they reach the family's root.
private struct FamilyRun {
  private var generator: SeededGenerator
  private let family: PersistentContainer
  private let reference: PersistentContainer
  private let single: GraphEditor
  private let root: ManagedObjectContext
  private var nextNumber = 1

  init(_ generator: SeededGenerator) async throws {
    self.generator = generator
    family = try await Library.open()
    reference = try await Library.open()
    root = try family.context()
    single = GraphEditor(context: try reference.context())
    for context in [root, single.context] {
      context.insert(Publisher("Ace"))
      try context.save()
    }
  }

  /// Edits in new children, until all is saved.
  mutating func program(of stepCount: Int) throws {
    let first = root.makeChild()
    let members = [root, first, root.makeChild(), first.makeChild()]
    var state = FamilyState(editors: members.map { GraphEditor(context: $0) }, parents: [nil, 0, 0, 1])
    for _ in 0..<stepCount { try step(&state) }
    for member in [3, 1, 2, 0] { try save(member, &state) }
    try compare(GraphEditor(context: root), "the root")
    for member in members.dropFirst() { try compare(GraphEditor(context: member), "a child that is saved") }
  }

  mutating func finish() async throws {
    let fresh = try family.context()
    try compare(GraphEditor(context: fresh), "the store")
    #expect(try await family.verify().map(\.description) == [])
  }

  private struct FamilyState {
    let editors: [GraphEditor]
    let parents: [Int?]
    /// The edits of each member that its parent doesn't have.
    var logs: [[GraphEdit]]
    /// Members with unsaved changes of an object, the lowest first.
    var locks: [GraphKey: [Int]] = [:]

    init(editors: [GraphEditor], parents: [Int?]) {
      self.editors = editors
      self.parents = parents
      logs = editors.map { _ in [] }
    }

    func isAncestor(_ member: Int, of other: Int) -> Bool {
      var next = parents[other]
      while let parent = next {
        if parent == member { return true }
        next = parents[parent]
      }
      return false
    }

    /// Returns true if a member may change objects: no context beside or below the member has unsaved changes of them.
    func mayChange(_ keys: Set<GraphKey>, _ member: Int) -> Bool {
      keys.allSatisfy { key in
        locks[key, default: []].allSatisfy { $0 == member || isAncestor($0, of: member) }
      }
    }
  }

  private struct Difference: Error, CustomStringConvertible {
    let description: String
  }

  private func compare(_ editor: GraphEditor, _ what: String) throws {
    let (found, expected) = (try editor.dump(), try single.dump())
    if found == expected { return }
    let missing = expected.filter { !found.contains($0) }.prefix(3)
    let surplus = found.filter { !expected.contains($0) }.prefix(3)
    throw Difference(description: "\(what) lacks \(Array(missing)) and has \(Array(surplus))")
  }

  private mutating func step(_ state: inout FamilyState) throws {
    let member = generator.number(in: 0...3)
    switch generator.number(in: 0...11) {
    case 0: try save(member, &state)
    case 1: rollBack(member, &state)
    case 2: try checkQueries(state.editors[member])
    default:
      let editor = state.editors[member]
      guard let edit = try editor.randomEdit(&generator, named: &nextNumber) else { return }
      // Two writers may get equal addresses in two contexts: a save would be refused in either store.
      if case .setEmail = edit { return }
      var keys = Set(edit.keys)
      for key in edit.keys where try editor.keys(key.kind).contains(key) {
        keys.formUnion(try editor.neighbours(key))
      }
      guard state.mayChange(keys, member) else { return }
      try editor.apply(edit)
      if member == 0 { return try single.apply(edit) }
      state.logs[member].append(edit)
      for key in keys where state.locks[key, default: []].last != member {
        state.locks[key, default: []].append(member)
      }
    }
  }

  private func save(_ member: Int, _ state: inout FamilyState) throws {
    try state.editors[member].context.save()
    guard let parent = state.parents[member] else { return try single.context.save() }
    let edits = state.logs[member]
    state.logs[member] = []
    for (key, members) in state.locks where members.contains(member) {
      var rest = members.filter { $0 != member }
      if parent != 0, !rest.contains(parent) { rest.append(parent) }
      state.locks[key] = rest
    }
    if parent == 0 {
      for edit in edits { try single.apply(edit) }
    } else {
      state.logs[parent] += edits
    }
  }

  /// Rolls a member back, if no descendant has changes on top of its changes.
  private func rollBack(_ member: Int, _ state: inout FamilyState) {
    for other in state.editors.indices where state.isAncestor(member, of: other) {
      if state.locks.values.contains(where: { $0.contains(other) }) { return }
    }
    state.editors[member].context.rollback()
    if member == 0 { single.context.rollback() }
    state.logs[member] = []
    for (key, members) in state.locks { state.locks[key] = members.filter { $0 != member } }
  }

  /// Checks that queries find the objects for which their conditions are true, and that both ends of relationships agree.
  private mutating func checkQueries(_ editor: GraphEditor) throws {
    let context = editor.context
    let number = generator.number(in: 0...9)
    let books = try context.fetch(From<Book>())
    let found = try context.fetch(From<Book>().where { $0.pages > number })
    try #require(found == books.filter { $0.pages > number })
    try #require(try context.count(From<Book>().where { $0.pages > number }) == found.count)
    let ranked = try context.fetch(From<Book>().where { $0.writer.rank == number })
    try #require(ranked == books.filter { $0.writer?.rank == number })
    for writer in try context.fetch(From<Writer>()) {
      try #require(Set(writer.books) == Set(books.filter { $0.writer === writer }))
      try #require(writer.desk == nil || writer.desk?.writer === writer)
      try #require(writer.fans.allSatisfy { $0.idols.contains(writer) })
    }
    let busy = try context.fetch(From<Writer>().where(format: "books.@count > 1"))
    try #require(busy.allSatisfy { $0.books.count > 1 })
    let sum = try context.sum(of: \.pages, in: From<Book>())
    try #require(sum == books.reduce(0) { $0 + $1.pages })
  }
}
