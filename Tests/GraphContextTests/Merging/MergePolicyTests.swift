import Cambium
import Foundation
import GraphTestSupport
import TestSupport
import Testing

@testable import GraphContext

/// The table of Docs/Contexts.md, cell by cell: merges have the outcomes of the table.
struct MergePolicyTests {
  @Test(arguments: MergeScenario.all)
  func theStoreHasWhatTheTableSays(_ scenario: MergeScenario) async throws {
    let table = try PolicyTable()
    let row = try #require(table.rows[scenario.title], "the table lacks the row")
    for (policy, cell) in zip(PolicyTable.policies, row) {
      let outcome = try await scenario.run(policy, movesBeforeSaving: false)
      #expect(outcome == cell, "\(policy)")
    }
  }

  /// A context that already shows both changes stores both, where they don't conflict.
  @Test(arguments: MergeScenario.all)
  func aContextThatHasMovedOnMergesAsTheTableSays(_ scenario: MergeScenario) async throws {
    let row = try #require(try PolicyTable().rows[scenario.title])
    for (policy, cell) in zip(PolicyTable.policies, row) {
      let outcome = try await scenario.run(policy, movesBeforeSaving: true)
      #expect(outcome == (row[0] == "both" ? "both" : cell), "\(policy)")
    }
  }

  @Test func everyRowIsTested() throws {
    #expect(try Set(PolicyTable().rows.keys) == Set(MergeScenario.all.map(\.title)))
  }

  @Test func anErrorNamesThePropertiesAndLeavesTheContextAsItWas() async throws {
    let library = try await Library.open()
    let (mine, theirs) = (try library.context(), try library.context())
    let writer = Writer("A", rank: 1)
    mine.insert(writer)
    try mine.save()
    try theirs.refresh()
    let same = try theirs.existingObject(Writer.self, with: writer.objectID)
    (same.name, same.rank) = ("theirs", 2)
    try theirs.save()
    (writer.name, writer.email) = ("mine", "m@")
    let error = #expect(throws: ContextError.self) { try mine.save() }
    #expect(error?.code == .conflict && error?.context.properties == ["name"])
    #expect(error?.context.objectID == writer.objectID)
    #expect((writer.name, writer.email, writer.rank) == ("mine", "m@", 1))
    mine.mergePolicy = .mergeByPropertyStoreTrump
    try mine.save()
    #expect((writer.name, writer.email, writer.rank) == ("theirs", "m@", 2))
    for context in [mine, theirs] { context.end() }
  }

  /// A save builds on commits that are not durable yet, which no snapshot shows.
  @Test func savesAtOnceOfDifferentPropertiesNeverConflict() async throws {
    let folder = try TemporaryFolder()
    let library = try await Library.open(at: folder.file("library.cambium"))
    let id = try await library.performBackgroundTask { context in
      let writer = Writer("A")
      context.insert(writer)
      try context.save()
      return writer.objectID
    }
    let edits: [@Sendable (Writer) -> Void] = [
      { $0.rank += 1 }, { $0.name += "x" }, { $0.email = ($0.email ?? "") + "y" },
    ]
    try await withThrowingTaskGroup(of: Void.self) { group in
      for edit in edits {
        group.addTask {
          let background = try library.newBackgroundContext()
          for _ in 0..<100 {
            try await background.perform { context in
              edit(try context.existingObject(Writer.self, with: id))
              try context.save()
            }
          }
        }
      }
      try await group.waitForAll()
    }
    try await library.performBackgroundTask { context in
      let writer = try context.existingObject(Writer.self, with: id)
      #expect((writer.rank, writer.name.count, writer.email?.count) == (100, 101, 100))
    }
    try await library.close()
  }

  @Test func anObjectThatMustHaveThePartnerKeepsIt() async throws {
    let owners = try await PersistentContainer("Holders", models: Holder.self, Permit.self, at: .inMemory)
    let (mine, theirs) = (
      try ManagedObjectContext(coordinator: owners.coordinator),
      try ManagedObjectContext(coordinator: owners.coordinator)
    )
    let (first, second) = (Holder("first"), Holder("second"))
    let permit = Permit(first)
    for object in [first, second, permit] as [any ManagedObject] { mine.insert(object) }
    try mine.save()
    try theirs.refresh()
    let other = Permit(try theirs.existingObject(Holder.self, with: second.objectID))
    theirs.insert(other)
    try theirs.save()
    mine.mergePolicy = .mergeByPropertyObjectTrump
    permit.owner = second
    let error = #expect(throws: ContextError.self) { try mine.save() }
    #expect(error?.code == .conflict && error?.context.properties == ["owner"])
    mine.rollback()
    #expect(try await owners.verify().map(\.description) == [])
    for context in [mine, theirs] { context.end() }
  }

  /// The store decides at the time of the save where a relationship leads that denies a deletion.
  @Test func aTargetThatOthersHaveTakenAwayDeniesNothing() async throws {
    let models: [any ManagedObject.Type] = [Trail.self, Summit.self, Hut.self]
    let container = try await PersistentContainer("Trails", models: models, at: .inMemory)
    let (mine, theirs) = (try container.context(), try container.context())
    let (trail, summit) = (Trail("T"), Summit("S"))
    for object in [trail, summit] as [any ManagedObject] { mine.insert(object) }
    trail.summit = summit
    try mine.save()
    try theirs.refresh()
    mine.mergePolicy = .mergeByPropertyObjectTrump
    mine.delete(trail)
    let error = #expect(throws: ContextError.self) { try mine.save() }
    #expect(error?.code == .deletionDenied && error?.context.properties == ["summit"])
    #expect(error?.context.otherID == summit.objectID)
    try theirs.existingObject(Trail.self, with: trail.objectID).summit = nil
    try theirs.save()
    try mine.save()
    #expect(trail.isDeleted && !summit.isDeleted)
    for context in [mine, theirs] { context.end() }
  }

  @Test func whatTheContextHasTakenAwayItselfIsNeitherDeniedNorTakenAlong() async throws {
    let models: [any ManagedObject.Type] = [Trail.self, Summit.self, Hut.self]
    let container = try await PersistentContainer("Trails", models: models, at: .inMemory)
    let context = try container.context()
    let (trail, summit, hut) = (Trail("T"), Summit("S"), Hut("H"))
    for object in [trail, summit, hut] as [any ManagedObject] { context.insert(object) }
    (trail.summit, trail.hut) = (summit, hut)
    try context.save()
    (trail.summit, trail.hut) = (nil, nil)
    context.delete(trail)
    try context.save()
    #expect(!summit.isDeleted && !hut.isDeleted)
    #expect(try await container.verify().map(\.description) == [])
    context.end()
  }
}

@Model final class Holder {
  var name: String
  @Relationship(deleteRule: .cascade, inverse: \Permit.owner) var permit: Permit?
  init(_ name: String) { self.name = name }
}

@Model final class Permit {
  @Relationship var owner: Holder
  init(_ owner: Holder) { self.owner = owner }
}

@Model final class Trail {
  var name: String
  @Relationship(deleteRule: .deny) var summit: Summit?
  @Relationship(deleteRule: .cascade) var hut: Hut?
  init(_ name: String) { self.name = name }
}

@Model final class Summit {
  var name: String
  init(_ name: String) { self.name = name }
}

@Model final class Hut {
  var name: String
  init(_ name: String) { self.name = name }
}

/// The table of policies in Docs/Contexts.md.
private struct PolicyTable {
  static let policies: [MergePolicy] = [
    .error, .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite, .rollback,
  ]
  private(set) var rows: [String: [String]] = [:]

  init() throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let guide = try String(contentsOf: root.appending(path: "Docs/Contexts.md"), encoding: .utf8)
    let lines = guide.split(separator: "\n").filter { $0.hasPrefix("|") }
    let header = try #require(lines.firstIndex { $0.contains("`mergeByPropertyStoreTrump`") })
    func cells(_ line: Substring) -> [String] {
      line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
    }
    #expect(cells(lines[header]).dropFirst().map { "\($0)" } == Self.policies.map { "`\($0)`" })
    for line in lines[(header + 2)...].prefix(while: { cells($0).count == 6 }) {
      rows[cells(line)[0]] = Array(cells(line).dropFirst())
    }
  }
}

/// Two contexts that change the same objects: one saves, then the other does.
struct MergeScenario: Sendable, CustomTestStringConvertible {
  /// The changes that the store has afterwards.
  struct Outcome {
    var hasMine = false
    var hasTheirs = false
    var isDeleted = false
  }

  let title: String
  let mine: @Sendable (Cast) throws -> Void
  let theirs: @Sendable (Cast) throws -> Void
  let outcome: @Sendable (Cast) throws -> Outcome

  var testDescription: String { title }

  /// The objects of the scenarios, as one context sees them.
  struct Cast {
    let context: ManagedObjectContext
    func writer(_ name: String) throws -> Writer? { try found(Writer.self, \.name == name) }
    func book() throws -> Book? { try context.fetchOne(From<Book>()) }
    func desk(_ number: Int) throws -> Desk? { try found(Desk.self, \.number == number) }
    func reader() throws -> Reader? { try context.fetchOne(From<Reader>()) }
    func trail() throws -> Trail? { try context.fetchOne(From<Trail>()) }
    func summit() throws -> Summit? { try context.fetchOne(From<Summit>()) }
    func hut() throws -> Hut? { try context.fetchOne(From<Hut>()) }
    private func found<Object: ManagedObject>(
      _ type: Object.Type,
      _ condition: Where<Object>
    ) throws -> Object? {
      try context.fetchOne(From<Object>().where(condition))
    }
  }

  private static func fill(_ context: ManagedObjectContext) throws {
    let writers = ["A", "B", "C", "D"].map { Writer($0, rank: 5) }
    for writer in writers { context.insert(writer) }
    for number in 1...2 { context.insert(Desk(number)) }
    writers[3].desk = Desk(3)
    let book = Book("Book", publisher: Publisher("P"))
    book.writer = writers[3]
    context.insert(book)
    let reader = Reader("R")
    context.insert(reader)
    reader.idols = [writers[2]]
    for object in [Trail("T"), Summit("S"), Hut("H")] as [any ManagedObject] { context.insert(object) }
    try context.save()
  }

  /// Returns what the store has: a word of the table, or the code of the error.
  func run(_ policy: MergePolicy, movesBeforeSaving: Bool) async throws -> String {
    let models = Library.models + [Trail.self, Summit.self, Hut.self]
    let library = try await PersistentContainer("Library", models: models, at: .inMemory)
    let (first, second) = (try library.context(), try library.context())
    defer { [first, second].forEach { $0.end() } }
    try Self.fill(first)
    try second.refresh()
    first.mergePolicy = policy
    try mine(Cast(context: first))
    try theirs(Cast(context: second))
    try second.save()
    if movesBeforeSaving { try first.refresh() }
    do throws(ContextError) { try first.save(ifExists: .merge) } catch {
      #expect(first.hasChanges)
      return error.code.description
    }
    #expect(!first.hasChanges)
    #expect(try await library.verify().map(\.description) == [])
    let fresh = try library.context()
    defer { fresh.end() }
    #expect(try Self.dump(first) == Self.dump(fresh), "the context shows something else than the store has")
    let outcome = try outcome(Cast(context: fresh))
    if outcome.isDeleted { return "deleted" }
    switch (outcome.hasMine, outcome.hasTheirs) {
    case (true, true): return "both"
    case (true, false): return "context"
    case (false, true): return "store"
    case (false, false): return "neither"
    }
  }

  static func dump(_ context: ManagedObjectContext) throws -> [String] {
    let writers = try context.fetch(From<Writer>()).map { writer -> String in
      let (books, fans) = (writer.books.map(\.title), writer.fans.map(\.name))
      return
        "\(writer.name) \(writer.email ?? "-") \(writer.rank) \(writer.desk?.number ?? 0) \(books) \(fans)"
    }
    let desks = try context.fetch(From<Desk>()).map { desk -> String in
      "\(desk.number) \(desk.writer?.name ?? "-")"
    }
    let books = try context.fetch(From<Book>()).map { book -> String in
      "\(book.title) \(book.pages) \(book.writer?.name ?? "-")"
    }
    return writers + desks + books
  }
}
