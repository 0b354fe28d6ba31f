import Cambium
import GraphTestSupport
import TestSupport
import Testing

@testable import GraphContext

/// Observers are called exactly for properties that show another value afterwards or were set, for random changes of
/// a context and its child.
struct RandomObservationTests {
  /// The number of programs that are run.
  private static let programCount = TestEffort.times(6, long: 12)

  @Test func observersAreCalledExactlyForChanges() async throws {
    for _ in 0..<Self.programCount {
      var run = try await ObservationRun(SeededGenerator())
      for _ in 0..<120 { try run.step() }
      run.end()
    }
  }
}

/// A property of an object, the closure that reads it, and its observer.
private struct ObservedValue {
  let id: ManagedObjectID
  let name: String
  let read: () -> String
  let before: String
  let observer: Observer

  init(_ id: ManagedObjectID, _ name: String, _ read: @escaping () -> String) {
    (self.id, self.name, self.read) = (id, name, read)
    var value = ""
    observer = Observer { value = read() }
    before = value
  }

  /// Whether events name the property: a to-many relationship with a to-one inverse is that of its members.
  var isNamed: Bool { name != "books" && name != "gone" }
}

/// The observers in one context.
private final class Watchers {
  private let context: ManagedObjectContext
  private var subscription: ContextSubscription?
  private var values: [ObservedValue] = []
  /// The properties that code has set since the last observation, according to the events.
  private var set: [ManagedObjectID: Set<String>] = [:]

  init(_ context: ManagedObjectContext) {
    self.context = context
    subscription = context.onObjectsDidChange { [unowned self] changes in
      for (id, names) in changes.changedProperties { set[id, default: []].formUnion(names) }
    }
  }

  /// Observes properties, each with an observer of its own.
  func observe(_ generator: inout SeededGenerator) throws {
    values = []
    set = [:]
    func add(_ object: some ManagedObject, _ properties: [(String, () -> String)]) {
      let gone = ("gone", { "\(object.isDeleted)" })
      for (name, read) in properties + [gone] where generator.number(in: 0...2) > 0 {
        values.append(ObservedValue(object.objectID, name, read))
      }
    }
    func number(_ object: (any ManagedObject)?) -> String {
      object.map { "\($0.objectID.number)" } ?? "none"
    }
    func numbers(_ objects: some Sequence<some ManagedObject>) -> String {
      objects.map { number($0) }.sorted().joined(separator: " ")
    }
    for writer in try context.fetch(From<Writer>()) {
      let properties: [(String, () -> String)] = [
        ("name", { writer.name }), ("rank", { "\(writer.rank)" }), ("email", { writer.email ?? "none" }),
        ("desk", { number(writer.desk) }), ("books", { numbers(writer.books) }),
        ("fans", { numbers(writer.fans) }),
      ]
      add(writer, properties)
    }
    for book in try context.fetch(From<Book>()) {
      let properties: [(String, () -> String)] = [
        ("title", { book.title }), ("pages", { "\(book.pages)" }), ("writer", { number(book.writer) }),
        ("publisher", { number(book.publisher) }),
      ]
      add(book, properties)
    }
    for publisher in try context.fetch(From<Publisher>()) {
      let properties: [(String, () -> String)] = [
        ("name", { publisher.name }), ("books", { numbers(publisher.books) }),
      ]
      add(publisher, properties)
    }
    for desk in try context.fetch(From<Desk>()) {
      let properties: [(String, () -> String)] = [("writer", { number(desk.writer) })]
      add(desk, properties)
    }
    for reader in try context.fetch(From<Reader>()) {
      let properties: [(String, () -> String)] = [
        ("name", { reader.name }), ("favourite", { number(reader.favourite) }),
        ("idols", { numbers(reader.idols) }),
      ]
      add(reader, properties)
    }
  }

  /// The reasons for which an observer may be called although the property shows the same value.
  enum Exactness {
    /// No reason.
    case shown
    /// Code has set the property, possibly to an equal value.
    case set
    /// Any reason: code may have set the property and set it back.
    case setBack
  }

  /// Compares the observers that were called with the properties that show another value.
  func check(_ exactness: Exactness, _ what: String) throws {
    for value in values {
      let now = value.read()
      let differs = now != value.before
      if differs == value.observer.wasCalled { continue }
      let place = "\(value.id) \(value.name), \(value.before) to \(now), \(what)"
      try #require(!differs, "was not called: \(place)")
      let isNamed = !value.isNamed || set[value.id]?.contains(value.name) == true
      let isRight = exactness == .setBack || exactness == .set && isNamed
      try #require(isRight, "was called: \(place)")
    }
  }
}

private struct ObservationRun {
  private var generator: SeededGenerator
  private let context: ManagedObjectContext
  private let child: ManagedObjectContext
  private let other: ManagedObjectContext
  private let watchers: [Watchers]
  private var nextNumber = 0

  init(_ generator: SeededGenerator) async throws {
    self.generator = generator
    let library = try await Library.open()
    context = try library.context()
    context.isObservable = true
    context.mergePolicy = .mergeByPropertyStoreTrump
    context.insert(Publisher("Ace"))
    try context.save()
    context.undoManager = ContextUndoManager()
    child = context.makeChild()
    other = try library.context()
    other.mergePolicy = .mergeByPropertyObjectTrump
    watchers = [Watchers(context), Watchers(child)]
  }

  mutating func step() throws {
    for watchers in watchers { try watchers.observe(&generator) }
    let name: String
    var exactness = Watchers.Exactness.shown
    switch generator.number(in: 0...16) {
    case 0...5:
      let count = generator.number(in: 1...4)
      (name, exactness) = ("\(count) edits", count == 1 ? .set : .setBack)
      for _ in 0..<count { try edit(context) }
    case 6, 7:
      let count = generator.number(in: 1...3)
      (name, exactness) = ("\(count) edits in the child", count == 1 ? .set : .setBack)
      for _ in 0..<count { try edit(child) }
    case 8:
      (name, exactness) = ("a child's save", .set)
      do throws(ContextError) { try child.save() } catch { child.rollback() }
    case 9, 10:
      name = "a save"
      do throws(ContextError) { try context.save() } catch {
        // In between, the child may show values that the context is about to take back.
        exactness = .setBack
        child.rollback()
        context.rollback()
      }
    case 11:
      name = "a rollback"
      if child.hasChanges { child.rollback() } else { context.rollback() }
    case 12, 13:
      name = "another context's commit"
      try other.refresh()
      for _ in 0..<generator.number(in: 1...4) { try edit(other) }
      do throws(ContextError) { try other.save() } catch { other.rollback() }
      try context.refresh()
    case 14:
      name = "undo"
      context.undo()
    case 15:
      name = "a refresh of all objects"
      context.refreshAllObjects()
    default:
      name = "redo"
      context.redo()
    }
    context.processPendingChanges()
    for (watchers, place) in zip(watchers, ["context", "child"]) {
      try watchers.check(exactness, "in the \(place), by \(name), seed \(generator.seed)")
    }
  }

  private mutating func edit(_ context: ManagedObjectContext) throws {
    let editor = GraphEditor(context: context)
    guard let edit = try editor.randomEdit(&generator, named: &nextNumber) else { return }
    try editor.apply(edit)
  }

  func end() { for context in [child, context, other] { context.end() } }
}
