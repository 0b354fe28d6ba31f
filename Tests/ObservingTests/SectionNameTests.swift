import Cambium
import Foundation
import TestSupport
import Testing

@testable import GraphContext

/// Names of sections that occur more than once, and names of values that are equal or outside of every calendar.
struct SectionNameTests {
  private let names = ["1984", "Abba", "Abc", "abba", "“Heroes”", "Zoo", "éclair", "e\u{301}tude", "", "[x]"]

  @Test func aNameThatComesAgainIsAnotherSection() async throws {
    let context = try await Airport.open().context()
    for city in ["1984", "Abba", "“Heroes”", "abba"] { context.insert(Departure(1, city)) }
    let byCity = From<Departure>().orderBy(\.city)
    let list = try FetchedResults(byCity, sectionedBy: .firstLetter(of: \.city), in: context)
    #expect(list.sections.map(\.name) == ["#", "A", "#"])
    context.insert(Departure(2, "Zoo"))
    context.insert(Departure(3, "éclair"))
    context.insert(Departure(3, "e\u{301}tude"))
    context.processPendingChanges()
    #expect(list.failure == nil)
    #expect(list.sections.map(\.name) == ["#", "A", "Z", "A", "É", "#"])
    #expect(list.sections.section(forIndexTitle: "A") == 1)
  }

  @Test func aTitleThatNoSectionHasLeadsToTheNearest() {
    #expect(SectionName.section(for: "B", in: ["#", "A", "#"]) == 1)
    #expect(SectionName.section(for: "N", in: ["Z", "M", "A"]) == 1)
    #expect(SectionName.section(for: "B", in: ["A", "C"]) == 0)
    #expect(SectionName.section(for: "Z", in: ["A", "C"]) == 1)
    #expect(SectionName.section(for: "A", in: ["C", "D"]) == 0)
    #expect(SectionName.section(for: "A", in: ["D", "C"]) == 1)
    #expect(SectionName.section(for: "A", in: []) == nil)
  }

  /// Sections that follow random changes are equal to newly read ones, and surfaces show them.
  @Test(arguments: [0, 30]) func sectionsThatFollowAreThoseThatAreRead(count: Int) async throws {
    var random = SeededGenerator()
    let context = try await Airport.open().context()
    context.undoManager = ContextUndoManager()
    for _ in 0..<count { context.insert(Departure(random.number(in: 0...600), random.pick(names))) }
    try context.save()
    let all = From<Departure>()
    let hour: @Sendable (Int) -> String = { "\($0 % 3)" }
    let lists = try [
      FollowedList(
        all.orderBy(\.city),
        .firstLetter(of: \.city),
        section: { SectionName.firstLetter(of: $0.city) },
        in: context
      ),
      FollowedList(
        all.orderBy(.descending(\.city), .ascending(\.minute)).offset(2).limit(9),
        .firstLetter(of: \.city),
        section: { SectionName.firstLetter(of: $0.city) },
        in: context
      ),
      FollowedList(
        all.orderBy(\.hour, \.minute),
        SectionedBy(\.hour, name: hour),
        section: { hour($0.hour) },
        in: context
      ),
    ]
    let targets = lists.map { _ in RecordingListTarget() }
    let sources = zip(lists, targets).map { ListDataSource($0.list, target: $1) }
    var reloadCount = 0
    let subscriptions = lists.map { $0.list.onChange { reloadCount += $0.isReload ? 1 : 0 } }
    for _ in 0..<150 {
      for _ in 0..<random.number(in: 1...3) { try change(context, limit: count + 6, &random) }
      context.processPendingChanges()
      if random.chance(1, in: 10) { try context.save() }
      if random.chance(1, in: 10), context.undoManager?.canUndo == true { context.undo() }
      for (list, target) in zip(lists, targets) {
        try #require(list.list.failure == nil)
        try list.check()
        try #require(target.violations == [], "\(list.label)")
        try #require(target.shown == list.list.sections.map { $0.map(\.objectID) }, "\(list.label)")
      }
    }
    // With few objects, an object is often the only one between two sections of the same name.
    #expect(count > 0 || reloadCount > 0)
    #expect(reloadCount < lists.map(\.changeCount).reduce(0, +))
    withExtendedLifetime((subscriptions, sources)) {}
  }

  private func change(
    _ context: ManagedObjectContext,
    limit: Int,
    _ random: inout SeededGenerator
  ) throws {
    let all = try context.fetch(From<Departure>())
    if all.count < 3 || all.count < limit && random.chance(1, in: 3) {
      context.insert(Departure(random.number(in: 0...600), random.pick(names)))
    } else if random.chance(1, in: 3) {
      context.delete(random.pick(all))
    } else {
      let one = random.pick(all)
      one.city = random.pick(names)
      one.minute = random.number(in: 0...600)
      one.hour = one.minute / 60
    }
  }

  @Test func equalNumbersAreOneSection() async throws {
    let container = try await PersistentContainer("Readings", models: Reading.self, at: .inMemory)
    let context = try container.context()
    let values = [0.0, -0.0, 0.0, -0.0, .nan, -Double.nan, 1.5]
    for (place, value) in values.enumerated() { context.insert(Reading("\(place)", value)) }
    let byValue = From<Reading>().orderBy(\.value, \.code)
    let list = try FetchedResults(byValue, sectionedBy: SectionedBy(\.value), in: context)
    let closure = SectionedBy<Reading>(\.value) { "\($0)" }
    let named = try FetchedResults(byValue, sectionedBy: closure, in: context)
    for step in 0..<3 {
      #expect(list.sections.map(\.name) == ["0.0", "1.5", "nan"], "step \(step)")
      #expect(list.sections.map(\.count) == [4 + step, 1, 2], "step \(step)")
      #expect(named.sections.map(\.count) == [4 + step, 1, 2], "step \(step)")
      if step == 1 { try context.save() }
      context.insert(Reading("new \(step)", step == 0 ? -0.0 : 0))
      context.processPendingChanges()
    }
    try list.refetch()
    #expect(list.sections.map(\.count) == [7, 1, 2])
  }

  /// The calendar of the names is Gregorian throughout, as that of predicates is.
  @Test func datesThatDifferAreTwoSections() async throws {
    let container = try await PersistentContainer("Readings", models: Reading.self, at: .inMemory)
    let context = try container.context()
    for (place, seconds) in [-15_804_979_200, 0, 0.25, 0.25].enumerated() {
      context.insert(Reading("\(place)", 0, Date(timeIntervalSinceReferenceDate: seconds)))
    }
    let byTime = From<Reading>().orderBy(\.time)
    let list = try FetchedResults(byTime, sectionedBy: SectionedBy(\.time), in: context)
    #expect(
      list.sections.map(\.name) == [
        "1500-03-01T00:00:00Z", "2001-01-01T00:00:00Z", "2001-01-01T00:00:00.25Z",
      ]
    )
    #expect(list.sections.map(\.count) == [1, 1, 2])
  }

  @Test func datesThatNoCalendarHasAreNamedBySeconds() async throws {
    let container = try await PersistentContainer("Readings", models: Reading.self, at: .inMemory)
    let context = try container.context()
    let seconds = [0, .nan, .infinity, -.infinity, 1e300, -1e300, 252_423_993_600, 1e9]
    for (place, value) in seconds.enumerated() {
      context.insert(Reading("\(place)", 0, Date(timeIntervalSinceReferenceDate: value)))
    }
    let byTime = From<Reading>().orderBy(\.time)
    let list = try FetchedResults(byTime, sectionedBy: SectionedBy(\.time), in: context)
    #expect(
      list.sections.map(\.name) == [
        "-inf", "-1e+300", "2001-01-01T00:00:00Z", "2032-09-09T01:46:40Z", "252423993600.0", "1e+300", "inf",
        "nan",
      ]
    )
  }
}
