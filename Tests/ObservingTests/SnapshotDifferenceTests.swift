import Cambium
import TestSupport
import Testing

@testable import GraphContext

/// Differences between snapshots of lists with sections: each style of them, applied to an array of arrays, gives the new snapshot.
struct SnapshotDifferenceTests {
  private typealias Sections = [(name: String, ids: [ManagedObjectID])]
  private let context: ManagedObjectContext
  private let entity: StoredEntity

  init() async throws {
    context = try await Airport.open().context()
    entity = context.entity(of: Departure.self)
  }

  /// A snapshot of some objects in sections; in none if `isDivided` is false.
  private func snapshot(_ sections: [(String, [UInt64])], isDivided: Bool = true) -> ListSnapshot<Departure> {
    var runs = SectionRuns()
    for (name, numbers) in sections { runs.append(name, numbers.count) }
    let numbers = sections.flatMap(\.1).map { ObjectNumber(rawValue: $0) }
    return ListSnapshot(numbers, entity, context.storeID, isDivided ? runs : nil)
  }

  private func sections(of snapshot: ListSnapshot<Departure>) -> Sections {
    (0..<snapshot.sectionCount).map { index in
      let section = snapshot.section(index)
      return (section.name, Array(snapshot[section.range]))
    }
  }

  private func text(_ sections: Sections) -> [String] {
    sections.map { "\($0.name): \($0.ids.map { "\($0.number)" }.joined(separator: " "))" }
  }

  // MARK: Oracle

  /// Carries out a batch as surfaces do: inserted sections come with their objects.
  private func apply(_ batch: ListBatch, to old: Sections, _ new: Sections, bringObjects: Bool) -> Sections {
    var result = old
    let moved = batch.movedItems.map { old[$0.from.section].ids[$0.from.item] }
    for path in (batch.deletedItems + batch.movedItems.map(\.from)).sorted(by: >) {
      result[path.section].ids.remove(at: path.item)
    }
    for section in batch.deletedSections { result.remove(at: section) }
    for section in batch.insertedSections {
      result.insert((new[section].name, bringObjects ? new[section].ids : []), at: section)
    }
    let inserted = batch.insertedItems.map { ($0, new[$0.section].ids[$0.item]) }
    let arrivals = inserted + zip(batch.movedItems.map(\.to), moved)
    for (path, id) in arrivals.sorted(by: { $0.0 < $1.0 }) {
      result[path.section].ids.insert(id, at: path.item)
    }
    return result
  }

  /// Carries out events: first the removals of objects, then the changes of sections, then the insertions of objects.
  private func apply(_ events: [ListChanges.Event], to old: Sections) -> Sections {
    var result = old
    var (left, come, goneSections, newSections) = (
      [ListPath](), [(ListPath, ManagedObjectID)](), [Int](), [ListChanges.SectionChange]()
    )
    for event in events {
      switch event {
      case .insertSection(let section): newSections.append(section)
      case .deleteSection(let section): goneSections.append(section.section)
      case .delete(let change): left.append(change.oldPath!)
      case .insert(let change): come.append((change.newPath!, change.objectID))
      case .move(let change):
        left.append(change.oldPath!)
        come.append((change.newPath!, change.objectID))
      case .update: break
      }
    }
    for path in left.sorted(by: >) { result[path.section].ids.remove(at: path.item) }
    for section in goneSections {
      #expect(result[section].ids.isEmpty)
      result.remove(at: section)
    }
    for section in newSections { result.insert((section.name, []), at: section.section) }
    for (path, id) in come.sorted(by: { $0.0 < $1.0 }) { result[path.section].ids.insert(id, at: path.item) }
    return result
  }

  private func check(_ old: ListSnapshot<Departure>, _ new: ListSnapshot<Departure>) throws {
    let changes = new.changes(from: old)
    let (oldSections, newSections) = (sections(of: old), sections(of: new))
    let (before, expected) = (text(oldSections), text(newSections))
    try #require(changes.applied(to: Array(old), { $0 }) == Array(new), "\(before) to \(expected)")
    let batched = apply(changes.batch, to: oldSections, newSections, bringObjects: true)
    try #require(text(batched) == expected, "in a batch from \(before)")
    let staged = changes.stages.reduce(oldSections) { apply($1, to: $0, newSections, bringObjects: false) }
    try #require(text(staged) == expected, "in stages from \(before)")
    try #require(text(apply(changes.events, to: oldSections)) == expected, "by events from \(before)")
  }

  // MARK: Tests

  @Test func sectionsInAnotherOrderGoAndCome() throws {
    let old = snapshot([("a", [1, 2]), ("b", [3]), ("c", [4, 5])])
    let new = snapshot([("c", [5, 4]), ("b", [3]), ("a", [2, 1])])
    try check(old, new)
    #expect(new.changes(from: old).deletedSections.count == 2)
    let turned = snapshot([("b", [3]), ("c", [4, 5]), ("a", [1, 2])])
    #expect(turned.changes(from: old).deletedSections == [.init(section: 0, name: "a")])
    #expect(turned.changes(from: old).insertedSections == [.init(section: 2, name: "a")])
  }

  @Test func aListThatIsDividedIsAnotherOne() throws {
    let divided = snapshot([("a", [1, 2]), ("b", [3])])
    let whole = snapshot([("", [3, 2, 1])], isDivided: false)
    try check(divided, whole)
    try check(whole, divided)
    try check(whole, snapshot([]))
    try check(snapshot([]), whole)
  }

  @Test func randomDifferencesLeadToTheNewSnapshot() throws {
    var random = SeededGenerator()
    func randomSections() -> [(String, [UInt64])] {
      var numbers = Array<UInt64>(1...UInt64(random.number(in: 1...9)))
      numbers.shuffle(using: &random)
      if random.chance(1, in: 2) { numbers.removeLast(random.number(in: 0...numbers.count)) }
      return numbers.map { (random.pick(["", "a", "b", "c", "é", "e\u{301}"]), [$0]) }
    }
    for _ in 0..<2_000 {
      let (first, second) = (randomSections(), randomSections())
      try check(
        snapshot(first, isDivided: !random.chance(1, in: 8)),
        snapshot(second, isDivided: !random.chance(1, in: 8))
      )
    }
  }

  /// A list that is fetched again in the opposite order.
  @Test func aTurnedOrderIsADifference() throws {
    for minute in [60, 61, 120, 180, 181] { context.insert(Departure(minute, "x")) }
    let list = try FetchedResults(
      From<Departure>().orderBy(\.hour, \.minute),
      sectionedBy: SectionedBy(\.hour),
      in: context
    )
    let old = try list.snapshot()
    try list.refetch(From<Departure>().orderBy(.descending(\.hour), .descending(\.minute)))
    try check(old, try list.snapshot())
    try list.refetch(From<Departure>().orderBy(\.minute), sectionedBy: nil)
    #expect(list.sections.count == 1 && list.sectionedBy == nil)
    try check(old, try list.snapshot())
    try list.refetch(From<Departure>().orderBy(\.city), sectionedBy: SectionedBy(\.city))
    #expect(list.sections.map(\.name) == ["x"])
    #expect(throws: ContextError.self) {
      try list.refetch(From<Departure>().orderBy(\.minute), sectionedBy: SectionedBy(\.city))
    }
    #expect(list.sections.map(\.name) == ["x"])
  }

  @Test func anArrangementOfADamagedIndexDoesNotTrap() throws {
    let request = From<Departure>().orderBy(\.city)
    let list = try FetchedResults(request, sectionedBy: SectionedBy(\.city), in: context)
    var sections = try #require(list.sectioning)
    sections.runs.append("a", 3)
    var state = ListArrangement(NumberedContent([ObjectNumber(rawValue: 1)]), 0..<1, sections)
    #expect(try state.number(at: ListPath(item: 2)) == nil)
  }
}
