import Cambium
import TestSupport
import Testing

@testable import GraphContext

/// Lists of every kind follow random changes: each difference, applied to an array, gives what a fetch gives.
struct RandomLiveListTests {
  /// The number of steps.
  private static let stepCount = TestEffort.times(20, long: 40)

  @Test(arguments: [0, 40, 400]) func listsFollowWhateverChanges(count: Int) async throws {
    var run = try await ListRun(SeededGenerator(), count: count)
    for step in 0..<Self.stepCount {
      do { try await run.step() } catch {
        Issue.record("step \(step) of \(count) objects: \(error)")
        throw error
      }
    }
    // In so few steps, a short list of many objects may see no change.
    func unchanged() -> [String] { run.lists.filter { $0.changeCount == 0 }.map(\.label) }
    for _ in 0..<20 * Self.stepCount where count > 0 && unchanged().count > 4 { try await run.step() }
    #expect(run.lists.filter(\.list.isRanked).count >= 6)
    #expect(run.lists.filter { !$0.list.isRanked }.count >= 6)
    #expect(count == 0 || unchanged().count <= 4, "\(unchanged())")
  }

  /// A child's lists follow the changes of the parent, too. They get the parent's changes and the child's changes one
  /// after the other.
  @Test(arguments: [0, 3, 40, 400]) func listsFollowInAChild(count: Int) async throws {
    var run = try await ListRun(SeededGenerator(), count: count, isOfChild: true)
    for step in 0..<Self.stepCount {
      do { try await run.step() } catch {
        Issue.record("step \(step) of \(count) objects: \(error)")
        throw error
      }
    }
  }

  /// Lists also follow in a context whose listeners change it, save it or fetch a list again during an event.
  @Test(arguments: [0, 3, 40, 400], [false, true]) func listsFollowWhatListenersChange(
    count: Int,
    isOfChild: Bool
  ) async throws {
    var run = try await ListRun(SeededGenerator(), count: count, isOfChild: isOfChild, isMeddledWith: true)
    for step in 0..<Self.stepCount {
      do { try await run.step() } catch {
        Issue.record("step \(step) of \(count) objects: \(error)")
        throw error
      }
    }
  }
}

/// Listens to a context and to lists, and changes them at random meanwhile.
private final class Meddler {
  private var random: SeededGenerator
  private let change: (inout SeededGenerator) -> Void
  private var subscriptions: [ContextSubscription] = []
  var isActive = false

  init(_ random: SeededGenerator, _ change: @escaping (inout SeededGenerator) -> Void) {
    (self.random, self.change) = (random, change)
  }

  func listen(to context: ManagedObjectContext) {
    subscriptions.append(context.onObjectsDidChange { [unowned self] _ in meddle() })
    subscriptions.append(context.onDidSave { [unowned self] _ in meddle() })
  }

  func listen(to list: FetchedResults<Departure>) {
    subscriptions.append(
      list.onChange { [unowned self, unowned list] _ in
        meddle()
        if isActive, random.chance(1, in: 40) { try? list.refetch() }
      }
    )
  }

  private func meddle() {
    guard isActive, random.chance(1, in: 12) else { return }
    // A change leads to others, which need the generator meanwhile.
    var own = random
    for _ in 0..<8 { _ = random.next() }
    change(&own)
  }
}

/// Two contexts and a child that change departures at random, and lists of one of them.
struct ListRun {
  private let container: PersistentContainer
  private let context: ManagedObjectContext
  private let other: ManagedObjectContext
  /// The child whose lists are followed; nil where they are those of the context.
  private let draft: ManagedObjectContext?
  private var random: SeededGenerator
  let lists: [FollowedList]
  private let minutes: Int
  private let meddler: Meddler?

  init(
    _ random: SeededGenerator,
    count: Int,
    isOfChild: Bool = false,
    isMeddledWith: Bool = false
  ) async throws {
    self.random = random
    minutes = max(60, 4 * count)
    container = try await Airport.open()
    (context, other) = (try container.context(), try container.context())
    context.undoManager = ContextUndoManager()
    other.mergePolicy = .mergeByPropertyObjectTrump
    context.mergePolicy = .mergeByPropertyObjectTrump
    for name in ["AA", "BB", "CC"] { other.insert(Airline(name)) }
    for name in ["1", "2", "3"] { other.insert(Gate(name)) }
    for _ in 0..<count { try Self.insert(in: other, minutes: minutes, &self.random) }
    try other.save()
    try context.refresh()
    draft = isOfChild ? context.makeChild() : nil
    draft?.undoManager = ContextUndoManager()
    let followed = draft ?? context
    meddler = isMeddledWith ? Self.meddler(with: followed, minutes: minutes, random) : nil
    lists = try Self.lists(in: followed, minutes: minutes)
    for index in [2, 8, 12] { meddler?.listen(to: lists[index].list) }
  }

  private static func meddler(
    with context: ManagedObjectContext,
    minutes: Int,
    _ random: SeededGenerator
  ) -> Meddler {
    let meddler = Meddler(random) { [unowned context] random in
      do {
        try insert(in: context, minutes: minutes, &random)
        switch random.number(in: 0...3) {
        case 0: break
        case 1: context.processPendingChanges()
        default: try context.save()
        }
      } catch { context.rollback() }
    }
    meddler.listen(to: context)
    return meddler
  }

  private static func lists(in context: ManagedObjectContext, minutes: Int) throws -> [FollowedList] {
    let all = From<Departure>()
    let byMinute = all.orderBy(\.minute)
    let status: (Departure) -> String = { $0.status ?? "" }
    // Another context may have linked a departure to an airline that this context has deleted.
    let airline: (Departure) -> String = { $0.airline.flatMap { $0.isDeleted ? nil : $0.name } ?? "" }
    let first = try context.fetchOne(From<Airline>())
    return try [
      FollowedList(all, in: context),
      FollowedList(byMinute, in: context),
      FollowedList(all.orderBy(.descending(\.minute)), in: context),
      FollowedList(byMinute.where { $0.minute > minutes / 4 && $0.minute < minutes / 2 }, in: context),
      FollowedList(byMinute.where { $0.status == "late" }, in: context),
      FollowedList(byMinute.where { $0.status == nil }.limit(7).offset(3), in: context),
      FollowedList(all.orderBy(.descending(\.minute)).limit(10), in: context),
      FollowedList(byMinute.offset(5).limit(20), in: context),
      FollowedList(
        all.orderBy(\.hour, \.minute),
        SectionedBy(\.hour),
        section: { "\($0.hour)" },
        in: context
      ),
      FollowedList(
        all.orderBy(.descending(\.status), .descending(\.minute)),
        SectionedBy(\.status),
        section: status,
        in: context
      ),
      FollowedList(
        all.orderBy(\.hour, \.minute).offset(4).limit(15),
        SectionedBy(\.hour) { "\($0 / 2)" },
        section: { "\($0.hour / 2)" },
        in: context
      ),
      // The following lists are by numbers.
      FollowedList(all.where { $0.airline == first }, in: context),
      FollowedList(all.orderBy(\.city), in: context),
      FollowedList(
        all.orderBy(\.city, \.minute),
        SectionedBy.firstLetter(of: \.city),
        section: { "\($0.city.first!)" },
        in: context
      ),
      FollowedList(all.orderBy(.descending(\.city)).where { $0.minute < minutes / 2 }.limit(9), in: context),
      FollowedList(all.orderBy(.ascending(\.city), .descending(\.minute)), in: context),
      FollowedList(all.where { $0.airline.name == "AA" }.orderBy(\.city), in: context),
      FollowedList(
        all.orderBy(\.airline?.name, \.minute),
        SectionedBy(\.airline?.name),
        section: airline,
        in: context
      ),
      FollowedList(all.where { $0.airline.rank > 2 }.orderBy(.descending(\.airline?.rank)), in: context),
      FollowedList(all.where { $0.gates.any { $0.name == "1" } }.orderBy(\.minute), in: context),
      FollowedList(all.where { $0.city.contains("a") }, in: context),
    ]
  }

  private static func insert(
    in context: ManagedObjectContext,
    minutes: Int,
    _ random: inout SeededGenerator
  ) throws {
    let new = Departure(
      random.number(in: 0...minutes),
      random.pick(["Basel", "Bern", "Oslo", "Paris", "Rome"])
    )
    new.status = random.pick([nil, "late", "gone", "boarding"])
    context.insert(new)
    try link(new, in: context, &random)
  }

  private static func link(
    _ departure: Departure,
    in context: ManagedObjectContext,
    _ random: inout SeededGenerator
  ) throws {
    let airlines = try context.fetch(From<Airline>())
    let gates = try context.fetch(From<Gate>())
    departure.airline = random.chance(1, in: 4) || airlines.isEmpty ? nil : random.pick(airlines)
    if random.chance(1, in: 2) { departure.gates = gates.filter { _ in random.chance(1, in: 3) } }
  }

  mutating func step() async throws {
    meddler?.isActive = true
    for _ in 0..<random.number(in: 1...4) { try change(random.chance(1, in: 3) ? other : context) }
    if let draft { try change(draft) }
    switch random.number(in: 0...11) {
    case 0...3: context.processPendingChanges()
    case 4: save(context)
    case 5: save(other)
    case 6:
      save(other)
      try context.refresh()
    case 7: context.rollback()
    case 8:
      context.processPendingChanges()
      if context.undoManager?.canUndo == true { context.undo() }
    case 9: if context.undoManager?.canRedo == true { context.redo() }
    case 10: try child()
    default:
      let hour = random.number(in: 0...minutes / 60)
      let (late, status) = (From<Departure>().where { $0.hour == hour }, random.pick(["late", "gone"]))
      try await batch(late, status)
      try context.refresh()
    }
    if let draft, random.chance(1, in: 2) { step(of: draft) }
    context.processPendingChanges()
    meddler?.isActive = false
    context.processPendingChanges()
    for list in lists { try list.check() }
  }

  private mutating func step(of draft: ManagedObjectContext) {
    switch random.number(in: 0...8) {
    case 0...3: save(draft)
    case 4, 5:
      draft.processPendingChanges()
      if draft.undoManager?.canUndo == true { draft.undo() }
    case 6: if draft.undoManager?.canRedo == true { draft.redo() }
    case 7: draft.rollback()
    default: draft.reset()
    }
  }

  /// Saves, or rolls back on an error: an object that another context has deleted can't be linked, and a child can't
  /// save changes of it.
  private func save(_ context: ManagedObjectContext) {
    do { try context.save() } catch { context.rollback() }
  }

  private func batch(_ request: From<Departure>, _ status: String) async throws {
    _ = try await container.batchUpdate(request, .set(\.status, to: status))
  }

  private mutating func child() throws {
    let child = context.makeChild()
    for _ in 0..<2 { try change(child) }
    save(child)
  }

  private mutating func change(_ context: ManagedObjectContext) throws {
    let all = try context.fetch(From<Departure>())
    let dice = random.number(in: 0...13)
    if all.isEmpty || dice < 3 { return try Self.insert(in: context, minutes: minutes, &random) }
    let one = random.pick(all)
    switch dice {
    case 3, 4: context.delete(one)
    case 5, 6:
      one.minute = random.number(in: 0...minutes)
      one.hour = one.minute / 60
    case 7: one.status = random.pick([nil, "late", "gone"])
    case 8: one.city = random.pick(["Basel", "Athens", "Oslo", "Zagreb"])
    case 9: try Self.link(one, in: context, &random)
    case 10:
      let airlines = try context.fetch(From<Airline>())
      if let airline = airlines.randomElement(using: &random) {
        airline.name = random.pick(["AA", "BB", "DD"])
        airline.rank = random.number(in: 0...5)
      }
    case 11:
      let gates = try context.fetch(From<Gate>())
      if let gate = gates.randomElement(using: &random) { gate.name = random.pick(["1", "2", "3", "4"]) }
    case 12:
      let airlines = try context.fetch(From<Airline>())
      if random.chance(1, in: 8), let airline = airlines.randomElement(using: &random) {
        context.delete(airline)
      }
      if random.chance(1, in: 8) { context.insert(Airline("EE", rank: 4)) }
    default: one.minute += 1
    }
  }
}
