import Cambium
import Synchronization
import TestSupport
import Testing

@testable import GraphContext

/// Sections that come from an index. They are read when the program asks for them, and most of them aren't kept.
struct LazySectionTests {
  private typealias Sectioned = SectionedBy<Departure>

  private static let byMinute = From<Departure>().orderBy(\.minute)

  @Test func sectionsAreReadUpToTheOneThatIsAskedFor() async throws {
    let context = try await Airport.open(count: 5_000).context()
    let list = try FetchedResults(Self.byMinute, sectionedBy: Sectioned(\.minute), in: context)
    #expect(list.entriesWalked == 0 && list.sectioning?.runs.count == 0)
    #expect(list.path(at: 3) == ListPath(section: 3, item: 0))
    #expect(list[safe: ListPath(section: 7, item: 0)]?.minute == 8)
    #expect(list.entriesWalked < 700)
    #expect(list.sections[4_321].map(\.minute) == [4_322])
    #expect(list.entriesWalked < 5_000)
    #expect(list.sections.count == 5_000 && list.sections.map(\.name) == (1...5_000).map(String.init))
    #expect(list[safe: ListPath(section: 5_000, item: 0)] == nil)
    try context.checkUsable()
  }

  /// In both directions, and of groups that are read, counted, or end the range.
  @Test(arguments: [false, true]) func largeGroupsAreCounted(isReversed: Bool) async throws {
    let context = try await Airport.open(count: 1_000).context()
    let all = From<Departure>().where { $0.hour < 12 }
    let request =
      isReversed
      ? all.orderBy(.descending(\.hour), .descending(\.minute)) : all.orderBy(\.hour, \.minute)
    let list = try FetchedResults(request, sectionedBy: Sectioned(\.hour), in: context)
    #expect(list.isRanked && list.sectioning?.isLazy == true)
    let expected = [59] + Array(repeating: 60, count: 11)
    let names = (0..<12).map(String.init)
    #expect(list.sections.map(\.count) == (isReversed ? expected.reversed() : expected))
    #expect(list.sections.map(\.name) == (isReversed ? names.reversed() : names))
    #expect(list.entriesWalked <= 12 * 16)
  }

  @Test func aListHoldsFewOfManySections() async throws {
    let context = try await Airport.open(count: 60_000).context()
    let list = try FetchedResults(Self.byMinute, sectionedBy: Sectioned(\.minute), in: context)
    #expect(list.sections.count == 60_000)
    for section in stride(from: 59_999, to: 0, by: -500) {
      #expect(list[section: section, item: 0].minute == section + 1)
    }
    #expect(list.byteCount < 1 << 20)
    #expect(try list.snapshot().sectionCount == 60_000)
    #expect(list.byteCount < 1 << 20)
  }

  @Test func aNameThatIsAnotherOneTheNextTimeIsAnError() async throws {
    let context = try await Airport.open(count: 40).context()
    let isOther = Atomic(false)
    let name: @Sendable (Int) -> String = { "\($0 / (isOther.load(ordering: .relaxed) ? 3 : 2))" }
    let list = try FetchedResults(Self.byMinute, sectionedBy: Sectioned(\.minute, name: name), in: context)
    list.sectioning?.limits = .init(sections: 3, objects: 5, chunks: 1)
    #expect(list.sections.count == 21)
    isOther.store(true, ordering: .relaxed)
    #expect(list.sections[20].isEmpty && list.path(at: 39).section <= 20)
    let error = #expect(throws: ContextError.self) { try context.checkUsable() }
    #expect(error?.code == .invalidQuery)
  }

  /// Another context moves an object into the list, and this context has deleted the object. No difference of the
  /// list mentions it.
  @Test func entriesThatUnsavedChangesHideAreNotCounted() async throws {
    let container = try await Airport.open(count: 100)
    let (context, other) = (try container.context(), try container.context())
    let request = From<Departure>().where { $0.minute > 90 }.orderBy(\.minute)
    let list = try FetchedResults(request, sectionedBy: Sectioned(\.minute), in: context)
    let first = From<Departure>().where { $0.minute == 5 }
    context.delete(try #require(try context.fetch(first).first))
    context.processPendingChanges()
    try #require(try other.fetch(first).first).minute = 95
    try other.save()
    try context.refresh()
    context.processPendingChanges()
    #expect(list.sectioning?.isLazy == true && list.sectioning?.runs.count == 0)
    #expect(list.sections.map(\.count) == Array(repeating: 1, count: 10))
    #expect(list.path(at: 9) == ListPath(section: 9, item: 0) && list.count == 10)
  }

  /// Random changes, with a few sections read here and there between them.
  @Test func sectionsThatAreNotHeldFollowChanges() async throws {
    var random = SeededGenerator()
    let container = try await Airport.open()
    let (context, other) = (try container.context(), try container.context())
    context.undoManager = ContextUndoManager()
    for _ in 0..<60 { context.insert(Departure(random.number(in: 0...600), "x", status: "late")) }
    try context.save()
    let all = From<Departure>()
    let third: @Sendable (Int) -> String = { "\($0 % 3)" }
    let lists = try [
      LazyList(all.orderBy(\.minute), Sectioned(\.minute), { "\($0.minute)" }, in: context),
      LazyList(
        all.orderBy(.descending(\.minute)),
        Sectioned(\.minute) { "\($0 / 5)" },
        { "\($0.minute / 5)" },
        in: context
      ),
      LazyList(
        all.orderBy(\.hour, \.minute),
        Sectioned(\.hour, name: third),
        { third($0.hour) },
        in: context
      ),
      LazyList(
        all.where { $0.status == "late" && $0.minute > 90 }.orderBy(\.minute),
        Sectioned(\.minute) { "\($0 / 20)" },
        { "\($0.minute / 20)" },
        in: context
      ),
    ]
    for _ in 0..<300 {
      if random.chance(1, in: 3) {
        // A merge beside unsaved changes, too.
        if random.chance(1, in: 2) { Self.save(context) }
        try other.refresh()
        try Self.change(other, &random)
        try other.save()
        try context.refresh()
      } else {
        try Self.change(context, &random)
        switch random.number(in: 0...9) {
        case 0...3: Self.save(context)
        case 4: context.rollback()
        case 5: if context.undoManager?.canUndo == true { context.undo() }
        default: break
        }
      }
      context.processPendingChanges()
      for list in lists { try list.check(&random) }
      // Without unsaved changes, sections aren't read.
      guard random.chance(1, in: 12) else { continue }
      Self.save(context)
      context.processPendingChanges()
      for list in lists { try list.refetch() }
    }
    try context.checkUsable()
    #expect(lists.allSatisfy { $0.differenceCount > 10 })
    #expect(lists.map(\.unreadCount).reduce(0, +) > 30)
  }

  /// Saves, or rolls back if another context has changed the same objects.
  private static func save(_ context: ManagedObjectContext) {
    do { try context.save() } catch { context.rollback() }
  }

  private static func change(
    _ context: ManagedObjectContext,
    _ random: inout SeededGenerator
  ) throws {
    let departures = try context.fetch(From<Departure>())
    for _ in 0..<random.number(in: 1...4) {
      let one = departures.isEmpty ? nil : random.pick(departures)
      switch random.number(in: 0...5) {
      case 0, 1: context.insert(Departure(random.number(in: 0...600), "x", status: "late"))
      case 2: if departures.count > 30, let one { context.delete(one) }
      case 3: one?.status = random.pick(["late", nil])
      case 4: one?.minute += 1
      default:
        guard let one, !one.isDeleted else { continue }
        one.minute = random.number(in: 0...600)
        one.hour = one.minute / 60
      }
    }
  }
}

/// A list that reads and holds a few sections, and the names of its sections as its differences alone tell them.
private final class LazyList {
  private let request: From<Departure>
  private let list: FetchedResults<Departure>
  private let name: (Departure) -> String
  private let context: ManagedObjectContext
  private let target = RecordingListTarget()
  private var source: ListDataSource<Departure>?
  private var names: [String] = []
  private var subscription: ContextSubscription?
  private(set) var differenceCount = 0
  /// The number of times that some sections weren't read, or not held.
  private(set) var unreadCount = 0

  init(
    _ request: From<Departure>,
    _ sectionedBy: SectionedBy<Departure>,
    _ name: @escaping (Departure) -> String,
    in context: ManagedObjectContext
  ) throws {
    (self.request, self.name, self.context) = (request, name, context)
    list = try FetchedResults(request, sectionedBy: sectionedBy, in: context)
    #expect(list.isRanked)
    limit()
    names = try expected().map(\.name)
    subscription = list.onChange { [unowned self] in follow($0) }
  }

  func refetch() throws { try list.refetch() }

  private func limit() { list.sectioning?.limits = .init(sections: 3, objects: 8, chunks: 2) }

  private func expected() throws -> [SectionRuns.Run] {
    var runs = SectionRuns()
    for departure in try context.fetch(request) { runs.append(name(departure), 1) }
    return runs.all
  }

  private func follow(_ changes: ListChanges) {
    if changes.isReload {
      limit()
      names = (try? expected().map(\.name)) ?? []
      return
    }
    differenceCount += 1
    for section in changes.deletedSections.reversed() {
      #expect(names.remove(at: section.section) == section.name)
    }
    for section in changes.insertedSections { names.insert(section.name, at: section.section) }
    for change in changes.changes {
      if let position = change.newPosition { #expect(list.path(at: position) == change.newPath) }
    }
  }

  func check(_ random: inout SeededGenerator) throws {
    let expected = try expected()
    try #require(names == expected.map(\.name))
    if let sectioning = list.sectioning,
      !sectioning.isComplete || sectioning.runs.parts.contains(where: { !$0.isHeld })
    {
      unreadCount += 1
    }
    for _ in 0..<random.number(in: 0...2) where !expected.isEmpty {
      let section = random.number(in: 0...expected.count - 1)
      let found = list.sections[section]
      try #require(found.name == expected[section].name && found.count == expected[section].count)
      let start = expected[..<section].reduce(0) { $0 + $1.count }
      try #require(found.range.lowerBound == start)
      let item = random.number(in: 0...found.count - 1)
      try #require(list.path(at: start + item) == ListPath(section: section, item: item))
      try #require(found[item] === list[start + item])
    }
    if random.chance(1, in: 8) { try #require(list.sections.count == expected.count) }
    if random.chance(1, in: 20) {
      let snapshot = try list.snapshot()
      try #require(snapshot.sectionNames == names)
    }
    // A surface that reads all sections, also in the states in between.
    if source == nil, random.chance(1, in: 100) {
      source = ListDataSource(list, target: target)
    } else if let source, random.chance(1, in: 10) {
      for section in expected.indices {
        try #require(source.sectionName(section) == expected[section].name)
        try #require(source.itemCount(inSection: section) == expected[section].count)
      }
    }
  }
}
