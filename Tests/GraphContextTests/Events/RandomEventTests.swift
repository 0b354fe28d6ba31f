import Cambium
import GraphTestSupport
import TestSupport
import Testing

@testable import GraphContext

/// The events of a context and of its child describe every difference between two states that it shows, for random
/// changes.
struct RandomEventTests {
  /// The number of programs that are run.
  private static let programCount = TestEffort.times(6, long: 12)

  @Test func eventsSayExactlyWhatHasChanged() async throws {
    for _ in 0..<Self.programCount {
      var run = try await EventRun(SeededGenerator())
      for _ in 0..<120 { try run.step() }
      run.end()
    }
  }
}

/// The values that a context should show of each object, according to its events.
private final class Listener {
  let context: ManagedObjectContext
  private struct Shown {
    /// The values by property. The links of a many-to-many relationship are apart.
    var values: [String: String] = [:]
    var linkName = ""
    var links: Set<ManagedObjectID> = []
  }
  /// The objects that exist according to the events, with the values of the last comparison.
  private var shown: [ManagedObjectID: Shown]
  /// The objects that existed at the last comparison.
  private var former: Set<ManagedObjectID> = []
  /// The properties that events have named, by object, for objects that exist now and existed at the last comparison;
  /// nil for all properties.
  private var touched: [ManagedObjectID: Set<String>?] = [:]
  private var mistakes: [String] = []
  private var subscription: ContextSubscription?

  init(_ context: ManagedObjectContext) throws {
    self.context = context
    shown = try Self.shown(in: context)
    former = Set(shown.keys)
    subscription = context.onObjectsDidChange { [unowned self] in note($0) }
  }

  private static func shown(in context: ManagedObjectContext) throws -> [ManagedObjectID: Shown] {
    var shown: [ManagedObjectID: Shown] = [:]
    for writer in try context.fetch(From<Writer>()) {
      shown[writer.objectID] = Shown(
        values: [
          "name": writer.name, "rank": "\(writer.rank)", "email": writer.email ?? "",
          "desk": number(writer.desk),
        ],
        linkName: "fans",
        links: Set(writer.fans.map(\.objectID))
      )
    }
    for book in try context.fetch(From<Book>()) {
      shown[book.objectID] = Shown(values: [
        "title": book.title, "pages": "\(book.pages)", "writer": number(book.writer),
        "publisher": number(book.publisher),
      ])
    }
    for publisher in try context.fetch(From<Publisher>()) {
      shown[publisher.objectID] = Shown(values: ["name": publisher.name])
    }
    for desk in try context.fetch(From<Desk>()) {
      shown[desk.objectID] = Shown(values: ["writer": number(desk.writer)])
    }
    for reader in try context.fetch(From<Reader>()) {
      shown[reader.objectID] = Shown(
        values: ["name": reader.name, "favourite": number(reader.favourite)],
        linkName: "idols",
        links: Set(reader.idols.map(\.objectID))
      )
    }
    return shown
  }

  private static func number(_ object: (any ManagedObject)?) -> String {
    object.map { "\($0.objectID.number)" } ?? "none"
  }

  private func note(_ changes: ObjectChanges) {
    for id in changes.inserted where shown.updateValue(Shown(), forKey: id) != nil {
      mistakes.append("inserted twice: \(id) by \(changes.origin)")
    }
    for id in changes.updated + changes.refreshed where shown[id] == nil {
      mistakes.append("changed and not there: \(id) by \(changes.origin)")
    }
    for id in changes.deleted where shown.removeValue(forKey: id) == nil {
      mistakes.append("deleted and not there: \(id) by \(changes.origin)")
    }
    for id in changes.inserted + changes.refreshed { touched[id] = .some(nil) }
    for id in changes.updated {
      let names = Set(changes.changedProperties[id] ?? [])
      if let known = touched[id] { touched[id] = known?.union(names) } else { touched[id] = names }
    }
  }

  /// Compares the state that the events describe with the state that the context shows.
  func check(_ seed: UInt64, _ step: String) throws {
    let now = try Self.shown(in: context)
    try #require(mistakes.isEmpty, "\(mistakes), after \(step), seed \(seed)")
    let who = context.parent == nil ? "context" : "child"
    let wrong = Set(shown.keys).symmetricDifference(now.keys)
    try #require(
      wrong.isEmpty,
      "in the \(who) the events tell otherwise of \(wrong), after \(step), seed \(seed)"
    )
    let silent = now.keys.filter { id in
      guard let old = shown[id], let new = now[id] else { return false }
      return !unnamedChanges(of: id, from: old, to: new, now).isEmpty
    }
    let differences = silent.map {
      "\($0) from \(shown[$0], default: "nothing") to \(now[$0], default: "nothing")"
    }
    try #require(
      silent.isEmpty,
      "changed in the \(who) without an event: \(differences), after \(step), seed \(seed)"
    )
    shown = now
    former = Set(now.keys)
    touched = [:]
  }

  /// Returns the names of changed properties that no event has named.
  private func unnamedChanges(
    of id: ManagedObjectID,
    from old: Shown,
    to new: Shown,
    _ now: [ManagedObjectID: Shown]
  ) -> [String] {
    // An object that came since the last comparison has no old values.
    if old.values.isEmpty { return [] }
    var changed = new.values.keys.filter { old.values[$0] != new.values[$0] }
    // The event for an inserted or deleted object implies the changes of the links to this object.
    let links = old.links.symmetricDifference(new.links).filter { former.contains($0) && now[$0] != nil }
    if !links.isEmpty { changed.append(new.linkName) }
    guard let named = touched[id] else { return changed }
    return named.map { named in changed.filter { !named.contains($0) } } ?? []
  }
}

private struct EventRun {
  private var generator: SeededGenerator
  private let library: PersistentContainer
  private let context: ManagedObjectContext
  private let child: ManagedObjectContext
  private let other: ManagedObjectContext
  private let listeners: [Listener]
  private var nextNumber = 0

  init(_ generator: SeededGenerator) async throws {
    self.generator = generator
    library = try await Library.open()
    context = try library.context()
    context.mergePolicy = .mergeByPropertyStoreTrump
    context.insert(Publisher("Ace"))
    try context.save()
    context.undoManager = ContextUndoManager()
    child = context.makeChild()
    other = try library.context()
    other.mergePolicy = .mergeByPropertyObjectTrump
    listeners = [try Listener(context), try Listener(child)]
  }

  mutating func step() throws {
    let name: String
    switch generator.number(in: 0...15) {
    case 0...5:
      name = "edits"
      for _ in 0..<generator.number(in: 1...4) { try edit(context) }
    case 6, 7:
      name = "edits in the child"
      for _ in 0..<generator.number(in: 1...3) { try edit(child) }
    case 8:
      name = "a child's save"
      do throws(ContextError) { try child.save() } catch { child.rollback() }
    case 9, 10:
      name = "a save"
      do throws(ContextError) { try context.save() } catch { rollBack() }
    case 11:
      name = "a rollback"
      rollBack()
    case 12, 13:
      name = "another context's commit"
      try other.refresh()
      for _ in 0..<generator.number(in: 1...4) { try edit(other) }
      do throws(ContextError) { try other.save() } catch { other.rollback() }
      try context.refresh()
    case 14:
      name = "undo"
      context.undo()
    default:
      name = "redo"
      context.redo()
    }
    context.processPendingChanges()
    for listener in listeners { try listener.check(generator.seed, name) }
  }

  private func rollBack() {
    child.rollback()
    context.rollback()
  }

  private mutating func edit(_ context: ManagedObjectContext) throws {
    let editor = GraphEditor(context: context)
    guard let edit = try editor.randomEdit(&generator, named: &nextNumber) else { return }
    // The save decides about links to objects that one side deletes. Its event names only the objects.
    if context === other, edit.isOfLinks, self.context.hasChanges || child.hasChanges { return }
    try editor.apply(edit)
  }

  func end() { for context in [child, context, other] { context.end() } }
}

extension GraphEdit {
  fileprivate var isOfLinks: Bool {
    switch self {
    case .delete, .pair, .unpair: true
    case .insert, .setNumber, .setEmail, .setWriter, .seat, .favour: false
    }
  }
}
