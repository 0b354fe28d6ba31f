import Cambium
import Foundation
import GraphTestSupport
import TestSupport
import Testing

@testable import GraphContext

/// Random changes of external attributes, compared with a dictionary.
struct ExternalOracleTests {
  typealias Album = ExternalAttributeTests.Album

  private struct Values: Equatable {
    var cover: Data?
    var notes: String

    init(_ album: Album) {
      cover = album.cover
      notes = album.notes
    }

    init(cover: Data?, notes: String) { (self.cover, self.notes) = (cover, notes) }
  }

  private typealias State = [String: Values]

  @Test(arguments: [false, true])
  func changesAreThoseOfADictionary(withHistory: Bool) async throws {
    var run = try await Run(SeededGenerator(), withHistory: withHistory)
    for _ in 0..<TestEffort.times(60) { try await run.step() }
    try await run.finish()
  }

  /// A store, a context with unsaved changes, and what both should have.
  private struct Run {
    private let folder: TemporaryFolder
    private var container: PersistentContainer
    private var context: ManagedObjectContext
    private var random: SeededGenerator
    private var state: State = [:]
    private var saved: State = [:]
    private var undone: [State] = []
    private var made = 0
    private var steps: [String] = []

    init(_ random: SeededGenerator, withHistory: Bool) async throws {
      self.random = random
      folder = try TemporaryFolder()
      container = try await ExternalAttributeTests.open(folder)
      if withHistory { try await container.keepHistory() }
      context = try Self.context(of: container)
    }

    private static func context(of container: PersistentContainer) throws -> ManagedObjectContext {
      let context = try container.context()
      context.undoManager = ContextUndoManager()
      return context
    }

    mutating func step() async throws {
      let before = state
      var isEdit = true
      switch random.number(in: 0...20) {
      case 0...4: insert()
      case 5...8: try edit()
      case 9: try retitle()
      case 10, 11: try delete()
      case 12, 13:
        note("save")
        try context.save()
        saved = state
        isEdit = false
        try await check()
      case 14, 15:
        note("undo")
        #expect(context.undo() == !undone.isEmpty, "\(trace)")
        if let last = undone.popLast() { state = last }
        isEdit = false
      case 16:
        note("roll back")
        context.rollback()
        (state, undone, isEdit) = (saved, [], false)
      case 17:
        note("reopen")
        try await reopen()
        isEdit = false
      case 18:
        note("checkpoint")
        try await container.store.checkpoint()
        isEdit = false
      case 19:
        try await stream()
        isEdit = false
      default: try editInAChild()
      }
      context.processPendingChanges()
      if isEdit, state != before { undone.append(before) }
      try compare()
    }

    private var trace: String { "seed \(random.seed): \(steps)" }

    private mutating func note(_ step: String) { steps.append(step) }

    private mutating func draw() -> Values {
      let sizes = [0, 1, 100, 511, 512, 513, 2_000, 65_471, 65_472, 65_473, 131_000, 1 << 20]
      let cover = random.chance(1, in: 5) ? nil : Data(random.bytes(random.pick(sizes)))
      return Values(cover: cover, notes: String(repeating: "é", count: random.pick([0, 3, 300, 50_000])))
    }

    private mutating func insert() {
      made += 1
      let values = draw()
      let album = Album("\(made)", cover: values.cover)
      album.notes = values.notes
      context.insert(album)
      state["\(made)"] = values
      note("insert \(made)")
    }

    private func album(_ title: String, in context: ManagedObjectContext) throws -> Album {
      try #require(try context.fetch(From<Album>().where { $0.title == title }).first, "\(trace)")
    }

    private mutating func any() -> String? { state.isEmpty ? nil : random.pick(state.keys.sorted()) }

    private mutating func set(_ title: String, in context: ManagedObjectContext) throws {
      let album = try album(title, in: context)
      let values = draw()
      if random.chance(1, in: 2) {
        album.cover = values.cover
        state[title]?.cover = values.cover
      } else {
        album.notes = values.notes
        state[title]?.notes = values.notes
      }
    }

    private mutating func edit() throws {
      guard let title = any() else { return }
      note("edit \(title)")
      try set(title, in: context)
    }

    private mutating func retitle() throws {
      guard let title = any() else { return }
      made += 1
      note("retitle \(title) \(made)")
      try album(title, in: context).title = "\(made)"
      state["\(made)"] = state.removeValue(forKey: title)
    }

    private mutating func delete() throws {
      guard let title = any() else { return }
      note("delete \(title)")
      context.delete(try album(title, in: context))
      state[title] = nil
    }

    private mutating func editInAChild() throws {
      guard let title = any() else { return }
      note("edit \(title) in a child")
      let child = context.makeChild()
      try set(title, in: child)
      try child.save()
    }

    /// Sets a cover without the context. The context then moves to the newest commit and forgets its undo groups.
    private mutating func stream() async throws {
      guard let title = any(), state == saved, !context.hasChanges else { return }
      note("stream \(title)")
      let id = try album(title, in: context).objectID
      let value = Data(random.bytes(random.pick([0, 100, 70_000, 2_500_000])))
      let chunks = AsyncStream<Data> { continuation in
        for start in stride(from: 0, to: value.count, by: 300_000) {
          continuation.yield(value.dropFirst(start).prefix(300_000))
        }
        continuation.finish()
      }
      try await container.setBlob(\Album.cover, of: id, from: chunks)
      try context.mergeAutomatically()
      context.undoManager?.removeAllActions()
      state[title]?.cover = value
      undone = []
      saved = state
      try await check()
    }

    private mutating func reopen() async throws {
      context.end()
      try await container.close()
      container = try await ExternalAttributeTests.open(folder)
      context = try Self.context(of: container)
      (state, undone) = (saved, [])
    }

    private func values(in context: ManagedObjectContext) throws -> State {
      var values: State = [:]
      for album in try context.fetch(From<Album>()) { values[album.title] = Values(album) }
      return values
    }

    private func compare() throws {
      let selected = try context.fetch(From<Album>().select(\.title, \.cover, \.notes))
      let found = selected.reduce(into: State()) { $0[$1.0] = Values(cover: $1.1, notes: $1.2) }
      try #require(found == state, "\(difference(found)) \(trace)")
      let shown = try values(in: context)
      try #require(shown == state, "\(difference(shown)) \(trace)")
    }

    /// Describes the differences, in numbers of bytes.
    private func difference(_ found: State) -> [String] {
      Set(found.keys).union(state.keys).sorted().compactMap { title in
        if found[title] == state[title] { return nil }
        func text(_ values: Values?) -> String {
          values.map { "\($0.cover?.count ?? -1) \($0.notes.utf8.count)" } ?? "none"
        }
        return "\(title) is \(text(found[title])), not \(text(state[title]))"
      }
    }

    private func check() async throws {
      let other = try container.context()
      #expect(try values(in: other) == saved, "\(trace)")
      other.end()
      #expect(try await container.verify().map(\.description) == [], "\(trace)")
    }

    mutating func finish() async throws {
      try context.save()
      saved = state
      try await reopen()
      try await check()
      for album in try context.fetch(From<Album>()) { context.delete(album) }
      try context.save()
      let snapshot = try container.store.snapshot()
      for name in try snapshot.treeNames where name.hasPrefix("b/") {
        #expect(try snapshot.tree(name).count == 0)
      }
      try await check(after: [:])
    }

    private mutating func check(after state: State) async throws {
      saved = state
      try await check()
    }
  }
}
