import Cambium
import GraphTestSupport
import TestSupport
import Testing

@testable import GraphContext

/// Listeners that change, save, roll back and refresh contexts while these report changes to them. Afterwards each
/// context shows the state of its store or parent, except for its unsaved changes.
struct RandomListenerTests {
  /// The number of programs that are run.
  private static let programCount = TestEffort.times(10, long: 300)

  @Test func nothingThatListenersDoIsLost() async throws {
    for number in 0..<Self.programCount {
      let run = try await ListenerRun(SeededGenerator("\(#function) \(number)"))
      for _ in 0..<80 { try run.step() }
      try run.finish()
    }
  }
}

private final class ListenerRun {
  private var generator: SeededGenerator
  private let library: PersistentContainer
  private let context: ManagedObjectContext
  private let child: ManagedObjectContext
  private let other: ManagedObjectContext
  /// The writers whose ranks change; they are never deleted.
  private let writers: [ManagedObjectID]
  private var subscriptions: [ContextSubscription] = []
  /// No value is set twice: equal values are one change.
  private var nextValue = 100
  /// How much the listeners may still do in this step.
  private var actionsLeft = 0
  private var commits: [UInt64] = [0, 0]
  private var steps: [String] = []

  init(_ generator: SeededGenerator) async throws {
    self.generator = generator
    library = try await Library.open()
    context = try library.context()
    context.mergePolicy = .mergeByPropertyObjectTrump
    let writers = (0..<4).map { Writer("\($0)", email: "\($0)@") }
    for writer in writers { context.insert(writer) }
    try context.save()
    self.writers = writers.map(\.objectID)
    child = context.makeChild()
    other = try library.context()
    other.mergePolicy = .mergeByPropertyStoreTrump
    for listening in [context, child, other] {
      subscriptions.append(
        listening.onObjectsDidChange { [unowned self, unowned listening] in answer($0, in: listening) }
      )
    }
  }

  private func name(_ context: ManagedObjectContext) -> String {
    context === self.context ? "context" : context === child ? "child" : "other"
  }

  private func answer(_ changes: ObjectChanges, in listening: ManagedObjectContext) {
    checkCommits()
    guard actionsLeft > 0, generator.chance(1, in: 2) else { return }
    actionsLeft -= 1
    let acting = generator.chance(2, in: 3) ? listening : generator.pick([context, child, other])
    steps.append("told \(name(listening)) of \(changes.origin):")
    #expect(throws: Never.self) { try act(in: acting) }
    checkCommits()
  }

  func step() throws {
    steps = []
    actionsLeft = 6
    try act(in: generator.pick([context, context, child, other]))
    for context in [context, other] { context.processPendingChanges() }
    try check()
  }

  private func act(in acting: ManagedObjectContext) throws {
    let action = generator.number(in: 0...11)
    steps.append("\(name(acting)) \(action)")
    switch action {
    case 0...4:
      let writer = try acting.existingObject(Writer.self, with: generator.pick(writers))
      nextValue += 1
      writer.rank = nextValue
    case 5:
      nextValue += 1
      acting.insert(Desk(nextValue))
    case 6:
      // The save unifies the new writer with an existing one.
      nextValue += 1
      acting.insert(Writer("new", email: "\(generator.number(in: 0...3))@", rank: nextValue))
    case 7...9:
      do throws(ContextError) { try acting.save(ifExists: .merge) } catch {
        // A save refuses another save from within its hooks. Changes that listeners make again and again can't be saved.
        if ![.saveNotAllowed, .endlessChanges].contains(error.code) { throw error }
      }
    case 10: acting.rollback()
    default: try acting.refresh()
    }
  }

  private func checkCommits() {
    let now = [context, other].map(\.source.commit)
    #expect(!zip(now, commits).contains { $0 < $1 }, "\(commits) \(now) \(steps), seed \(generator.seed)")
    commits = now
  }

  private func shown(_ context: ManagedObjectContext) throws -> [ManagedObjectID: Int] {
    var shown: [ManagedObjectID: Int] = [:]
    for writer in try context.fetch(From<Writer>()) { shown[writer.objectID] = writer.rank }
    for desk in try context.fetch(From<Desk>()) { shown[desk.objectID] = desk.number }
    return shown
  }

  private func check() throws {
    checkCommits()
    for context in [context, other] {
      let below = ManagedObjectContext(library.coordinator, showing: context.source)
      try check(context, try shown(below))
      below.end()
    }
    try check(child, try shown(context))
  }

  /// Checks that the context differs from the state below it exactly in its unsaved objects.
  private func check(_ context: ManagedObjectContext, _ below: [ManagedObjectID: Int]) throws {
    let shown = try shown(context)
    let different = Set(shown.keys).union(below.keys).filter { shown[$0] != below[$0] }
    let unsaved = Set((context.insertedObjects + context.updatedObjects).map(\.objectID))
    try #require(
      different == unsaved && context.hasChanges == !different.isEmpty,
      "\(name(context)): \(different) differ and \(unsaved) are unsaved, after \(steps), seed \(generator.seed)"
    )
  }

  func finish() throws {
    subscriptions = []
    for context in [child, context, other] { try context.save(ifExists: .merge) }
    for context in [context, other] { try context.refresh() }
    try check()
    #expect(try shown(context) == shown(other))
    #expect(try library.verify().map(\.description) == [])
    for context in [child, context, other] { context.end() }
  }
}
