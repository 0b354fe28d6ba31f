import Cambium
import Foundation
import TestSupport
import Testing

@testable import GraphContext

/// Long lists of every kind follow random changes: each difference, applied to an array, gives what a fetch would give.
struct LargeListTests {
  private static func setting(_ name: String, or usual: Int) -> Int {
    ProcessInfo.processInfo.environment[name].flatMap(Int.init) ?? usual
  }

  /// How many objects, changes, and changes a turn at most: `CAMBIUM_LARGE_LIST_OBJECTS`, `CAMBIUM_LARGE_LIST_CHANGES` and
  /// `CAMBIUM_LARGE_LIST_PER_TURN`, or a few.
  @Test(.timeLimit(.minutes(240))) func everyDifferenceOfALongListIsRight() async throws {
    let objects = Self.setting("CAMBIUM_LARGE_LIST_OBJECTS", or: 4_000)
    let changes = Self.setting("CAMBIUM_LARGE_LIST_CHANGES", or: 400)
    let perTurn = Self.setting("CAMBIUM_LARGE_LIST_PER_TURN", or: 20)
    let start = ContinuousClock.now
    var run = try await LargeListRun(SeededGenerator(), objects: objects, changesPerTurn: perTurn)
    let setUp = ContinuousClock.now
    var wholeChecks = 0
    while run.changeCount < changes {
      try run.turn()
      // A fetch of all objects takes longer than the changes that it checks.
      if run.changeCount >= (wholeChecks + 1) * changes / 4 {
        wholeChecks += 1
        try run.compareWithFetches()
      }
    }
    try run.compareWithFetches()
    let end = ContinuousClock.now
    let (replays, checks) = run.lists.reduce((Duration.zero, Duration.zero)) {
      ($0.0 + $1.replayTime, $0.1 + $1.checkTime)
    }
    print("\(objects) objects, \(run.changeCount) changes in \(run.turnCount) turns: \(end - start)")
    print(
      "  setting up \(setUp - start), changes and differences \(end - setUp - replays - checks), replays \(replays), checks \(checks)"
    )
    for list in run.lists { print(list.report) }
    #expect(run.lists.allSatisfy { $0.differenceCount > 0 })
  }
}

/// Two contexts that change many departures at random, lists of one of them, and the departures according to the
/// changes alone.
private struct LargeListRun {
  private let container: PersistentContainer
  private let context: ManagedObjectContext
  private let other: ManagedObjectContext
  private var random: SeededGenerator
  private let minutes: Int
  private let changesPerTurn: Int
  private var rows: [UInt64: Row] = [:]
  /// The existing objects, in no order.
  private var numbers: [UInt64] = []
  private var places: [UInt64: Int] = [:]
  /// Objects with unsaved changes.
  private var unsaved: Set<ManagedObjectID> = []
  let lists: [LongList]
  private(set) var changeCount = 0
  private(set) var turnCount = 0

  init(_ random: SeededGenerator, objects: Int, changesPerTurn: Int) async throws {
    (self.random, self.changesPerTurn) = (random, changesPerTurn)
    minutes = objects
    container = try await Airport.open()
    (context, other) = (try container.context(), try container.context())
    var made: [Row] = []
    made.reserveCapacity(objects)
    for _ in 0..<objects { made.append(Row(&self.random, minutes: minutes)) }
    let values = made.map { row in
      Departure.Values(hour: row.minute / 60, minute: row.minute, status: row.status, city: row.city)
    }
    try await container.batchInsert(values, chunkSize: 50_000)
    try context.refresh()
    for (id, row) in zip(try context.fetchIDs(From<Departure>()), made) {
      places[id.number.rawValue] = numbers.count
      numbers.append(id.number.rawValue)
      rows[id.number.rawValue] = row
    }
    lists = try LongList.all(in: context, objects: objects, rows)
  }

  /// Makes some changes in one of the contexts, and checks how the lists follow them.
  mutating func turn() throws {
    turnCount += 1
    var touched: Set<ManagedObjectID> = []
    if random.chance(1, in: 2) {
      try change(context, &touched)
      unsaved.formUnion(touched)
      switch random.number(in: 0...5) {
      case 0, 1: try context.save()
      case 2:
        context.rollback()
        touched = unsaved
      default: context.processPendingChanges()
      }
    } else {
      try context.save()
      try other.refresh()
      try change(other, &touched)
      try other.save()
      try context.refresh()
    }
    if !context.hasChanges { unsaved = [] }
    context.processPendingChanges()
    let differences = touched.map { id in
      let row = (try? context.existingObject(Departure.self, with: id)).map(Row.init)
      return (id.number.rawValue, old: note(id.number.rawValue, row), new: row)
    }
    for list in lists { try list.check(differences, rows) }
  }

  private mutating func change(_ context: ManagedObjectContext, _ touched: inout Set<ManagedObjectID>) throws
  {
    for _ in 0..<random.number(in: 1...changesPerTurn) {
      changeCount += 1
      let dice = random.number(in: 0...9)
      if dice < 2 || numbers.isEmpty {
        let row = Row(&random, minutes: minutes)
        let new = Departure(row.minute, row.city, status: row.status)
        context.insert(new)
        touched.insert(new.objectID)
        continue
      }
      let id = context.id(ObjectNumber(rawValue: random.pick(numbers)), lists[0].entity)
      // It may have been deleted in this turn.
      guard let one = try? context.existingObject(Departure.self, with: id) else { continue }
      touched.insert(id)
      switch dice {
      case 2, 3: context.delete(one)
      case 4, 5:
        one.minute = random.number(in: 0...minutes)
        one.hour = one.minute / 60
      case 6: one.status = random.pick(Row.statuses)
      case 7: one.city = random.pick(Row.cities)
      default:
        one.minute += 1
        one.hour = one.minute / 60
      }
    }
  }

  /// Records the new values of a departure, and returns the old ones.
  private mutating func note(_ number: UInt64, _ row: Row?) -> Row? {
    let old = rows.removeValue(forKey: number)
    rows[number] = row
    if old == nil, row != nil {
      places[number] = numbers.count
      numbers.append(number)
    } else if old != nil, row == nil, let place = places.removeValue(forKey: number) {
      let last = numbers.removeLast()
      if last != number {
        numbers[place] = last
        places[last] = place
      }
    }
    return old
  }

  func compareWithFetches() throws { for list in lists { try list.compareWithFetch(rows) } }
}

/// The values of a departure.
private struct Row {
  static let cities = ["Athens", "Basel", "Bern", "Oslo", "Paris", "Rome", "Zagreb"]
  static let statuses = [nil, "late", "gone", "boarding"]

  let minute: Int
  let city: String
  let status: String?

  init(_ random: inout SeededGenerator, minutes: Int) {
    minute = random.number(in: 0...minutes)
    city = random.pick(Self.cities)
    status = random.pick(Self.statuses)
  }

  init(_ departure: Departure) {
    (minute, city, status) = (departure.minute, departure.city, departure.status)
  }
}

/// A place in an order.
private struct PlaceKey: Comparable {
  var city = ""
  var minute = 0
  let number: UInt64

  static func < (left: PlaceKey, right: PlaceKey) -> Bool {
    (left.city, left.minute, left.number) < (right.city, right.minute, right.number)
  }
}

/// A long list, and a plain array that follows it by its differences alone.
///
/// The array is correct after a change on four conditions. It was correct before; the differences mention only
/// changed objects; the number of objects is the expected one; and each changed object is between the right neighbours.
private final class LongList {
  private typealias Key = (Row, UInt64) -> PlaceKey?

  private let request: From<Departure>
  private let list: FetchedResults<Departure>
  private let context: ManagedObjectContext
  /// The place of a departure in the list; nil for one that isn't in the list. The key of a list with a window is
  /// nil: it is short, and is fetched.
  private let key: Key?
  private let section: ((Row) -> String)?
  private var mirror: [UInt64]
  private var names: [String]
  /// The expected number of objects, by the name of their section.
  private var counts: [String: Int] = [:]
  private var memberCount = 0
  /// The objects that differences have mentioned in this turn.
  private var mentioned: Set<UInt64> = []
  private var subscription: ContextSubscription?
  private(set) var differenceCount = 0
  private(set) var replayTime = Duration.zero
  private(set) var checkTime = Duration.zero
  private let label: String

  static func all(in context: ManagedObjectContext, objects: Int, _ rows: [UInt64: Row]) throws -> [LongList]
  {
    let all = From<Departure>()
    let byMinute: Key = { PlaceKey(minute: $0.minute, number: $1) }
    let byCity: Key = { PlaceKey(city: $0.city, minute: $0.minute, number: $1) }
    let (hour, city) = (SectionedBy<Departure>(\.hour), SectionedBy<Departure>.firstLetter(of: \.city))
    return try [
      LongList("by rank", all.orderBy(\.minute), byMinute, in: context, rows),
      LongList(
        "by rank, a third",
        all.where { $0.status == "late" }.orderBy(\.minute),
        { $0.status == "late" ? byMinute($0, $1) : nil },
        in: context,
        rows
      ),
      LongList(
        "by rank, in sections",
        all.orderBy(\.hour, \.minute),
        byMinute,
        hour,
        section: { "\($0.minute / 60)" },
        in: context,
        rows
      ),
      LongList(
        "by rank, with a limit",
        all.orderBy(\.minute).offset(objects / 2).limit(1_000),
        nil,
        in: context,
        rows
      ),
      LongList(
        "by rank, in sections, with a limit",
        all.orderBy(\.hour, \.minute).offset(objects / 2).limit(1_000),
        nil,
        hour,
        section: { "\($0.minute / 60)" },
        in: context,
        rows
      ),
      LongList("by numbers", all.orderBy(\.city, \.minute), byCity, in: context, rows),
      LongList(
        "by numbers, a part",
        all.where { $0.city.contains("a") },
        { $0.city.contains("a") ? PlaceKey(number: $1) : nil },
        in: context,
        rows
      ),
      LongList(
        "by numbers, in sections",
        all.orderBy(\.city, \.minute),
        byCity,
        city,
        section: { String($0.city.prefix(1)) },
        in: context,
        rows
      ),
      LongList(
        "by numbers, with a limit",
        all.where { $0.city.contains("a") }.orderBy(\.minute).limit(1_000),
        nil,
        in: context,
        rows
      ),
      // The window ends where the list does, so it isn't always full.
      LongList(
        "by numbers, in sections, with a limit",
        all.orderBy(\.city, \.minute).offset(objects - 500).limit(1_000),
        nil,
        city,
        section: { String($0.city.prefix(1)) },
        in: context,
        rows
      ),
    ]
  }

  private init(
    _ label: String,
    _ request: From<Departure>,
    _ key: Key?,
    _ sectionedBy: SectionedBy<Departure>? = nil,
    section: ((Row) -> String)? = nil,
    in context: ManagedObjectContext,
    _ rows: [UInt64: Row]
  ) throws {
    (self.label, self.request, self.key, self.section, self.context) = (label, request, key, section, context)
    list = try FetchedResults(request, sectionedBy: sectionedBy, in: context)
    mirror = try context.fetchIDs(request).map(\.number.rawValue)
    names = list.sections.map(\.name)
    #expect(list.isRanked == label.hasPrefix("by rank"), "\(label)")
    for (number, row) in rows { count(number, row, 1) }
    subscription = list.onChange { [unowned self] in follow($0) }
    try compareWithFetch(rows)
  }

  var entity: StoredEntity { list.list.entity }

  var report: String {
    "  \(label): \(list.count) objects, \(differenceCount) differences, \(list.entriesWalked) entries walked, \(list.byteCount) bytes"
  }

  private func count(_ number: UInt64, _ row: Row?, _ difference: Int) {
    guard let row, key?(row, number) != nil else { return }
    memberCount += difference
    guard let name = section?(row) else { return }
    let count = counts[name, default: 0] + difference
    counts[name] = count == 0 ? nil : count
  }

  private func follow(_ changes: ListChanges) {
    let start = ContinuousClock.now
    defer { replayTime += ContinuousClock.now - start }
    differenceCount += 1
    guard !changes.isReload else {
      Issue.record("\(label): a reload")
      return
    }
    // A change of values alone leaves the object where it is.
    let steps = changes.changes.filter { $0.isMove || $0.oldPosition == nil || $0.newPosition == nil }
    for change in changes.changes { mentioned.insert(change.objectID.number.rawValue) }
    for change in steps.sorted(by: { ($0.oldPosition ?? 0) > ($1.oldPosition ?? 0) }) {
      guard let position = change.oldPosition else { continue }
      if mirror.remove(at: position) != change.objectID.number.rawValue {
        Issue.record("\(label): another object goes from \(position)")
      }
    }
    for change in steps.sorted(by: { ($0.newPosition ?? 0) < ($1.newPosition ?? 0) }) {
      if let position = change.newPosition {
        mirror.insert(change.objectID.number.rawValue, at: position)
      }
    }
    for change in changes.changes {
      guard let position = change.newPosition else { continue }
      if mirror[position] != change.objectID.number.rawValue {
        Issue.record("\(label): another object is at \(position)")
      }
    }
    for section in changes.deletedSections.reversed() { names.remove(at: section.section) }
    for section in changes.insertedSections { names.insert(section.name, at: section.section) }
  }

  /// Checks the array after changes of some objects.
  func check(_ changed: [(number: UInt64, old: Row?, new: Row?)], _ rows: [UInt64: Row]) throws {
    defer { mentioned = [] }
    guard let key else { return try compareWithFetch(rows) }
    let start = ContinuousClock.now
    defer { checkTime += ContinuousClock.now - start }
    for (number, old, new) in changed {
      count(number, old, -1)
      count(number, new, 1)
    }
    try #require(mentioned.isSubset(of: changed.map(\.number)), "\(label): objects that have not changed")
    try #require(list.count == memberCount && mirror.count == memberCount, "\(label): count")
    try #require(names.count == list.sections.count, "\(label): sections")
    for (number, _, new) in changed {
      guard let new, let place = key(new, number) else { continue }
      let position = position(of: place, key, rows)
      try #require(position < mirror.count && mirror[position] == number, "\(label): \(number)")
      let around = max(0, position - 1)..<min(mirror.count, position + 2)
      let keys = mirror[around].map { number in rows[number].flatMap { key($0, number) } }
      for (left, right) in zip(keys, keys.dropFirst()) {
        guard let left, let right, left < right else { throw Disorder(label: label, position: position) }
      }
      let shown = try list.objectIDs(at: around).map(\.number.rawValue)
      try #require(shown == Array(mirror[around]), "\(label): list")
      guard let name = section?(new) else { continue }
      let path = list.path(at: position)
      let section = list.sections[path.section]
      try #require(names[path.section] == name && section.name == name, "\(label): section")
      try #require(section.count == counts[name], "\(label): count of \(name)")
    }
    if section != nil { try #require(names.count == counts.count, "\(label): sections that come and go") }
  }

  private struct Disorder: Error {
    let label: String
    let position: Int
  }

  /// The first position that doesn't come before a place.
  private func position(of place: PlaceKey, _ key: Key, _ rows: [UInt64: Row]) -> Int {
    var (low, high) = (0, mirror.count)
    while low < high {
      let middle = (low + high) / 2
      let number = mirror[middle]
      if let other = rows[number].flatMap({ key($0, number) }), other < place {
        low = middle + 1
      } else {
        high = middle
      }
    }
    return low
  }

  /// Compares the array and the sections with a fetch.
  func compareWithFetch(_ rows: [UInt64: Row]) throws {
    let start = ContinuousClock.now
    defer { checkTime += ContinuousClock.now - start }
    let fetched = try context.fetchIDs(request).map(\.number.rawValue)
    try #require(mirror == fetched, "\(label): fetch")
    try #require(list.count == fetched.count, "\(label): count")
    guard let section else { return }
    var runs: [(name: String, count: Int)] = []
    for number in fetched {
      guard let name = rows[number].map(section) else { continue }
      if runs.last?.name == name { runs[runs.count - 1].count += 1 } else { runs.append((name, 1)) }
    }
    try #require(list.sections.map(\.name) == runs.map(\.name) && names == runs.map(\.name), "\(label)")
    try #require(list.sections.map(\.count) == runs.map(\.count), "\(label): counts")
  }
}
