import Cambium
import GraphTestSupport
import TestSupport
import Testing

@testable import GraphContext

/// Undoing random groups one after the other shows every earlier state again, and redoing them every later one.
struct RandomUndoTests {
  /// The number of programs that are run.
  private static let programCount = TestEffort.times(3, long: 6)

  @Test(arguments: [false, true])
  func everyStateComesBack(_ saves: Bool) async throws {
    for _ in 0..<Self.programCount { try await Self.run(SeededGenerator(), saves: saves) }
  }

  /// The state that a context shows, with the IDs; if there are no saves in between, also its unsaved changes.
  private struct State: Equatable {
    var objects: [String]
    var ids: Set<ManagedObjectID> = []
    var changes: [String] = []

    init(_ editor: GraphEditor, withChanges: Bool) throws {
      objects = try editor.dump()
      let context = editor.context
      for type in [Writer.self, Desk.self] as [any ManagedObject.Type] { try add(type, context) }
      for type in [Book.self, Reader.self] as [any ManagedObject.Type] { try add(type, context) }
      guard withChanges else { return }
      changes += context.insertedObjects.map { "inserted \($0.objectID)" }
      changes += context.deletedObjects.map { "deleted \($0.objectID)" }
      // A property that was set to the value that it had makes no difference.
      changes += context.updatedObjects.map { object in
        let stored = object.committedValues
        let values = object.changedValues.filter { stored[$0.key] != $0.value }
        return values.isEmpty
          ? "" : "updated \(object.objectID) \(values.map { "\($0.key) \($0.value)" }.sorted())"
      }
      changes.removeAll(where: \.isEmpty)
    }

    private mutating func add<Object: ManagedObject>(
      _ type: Object.Type,
      _ context: ManagedObjectContext
    ) throws {
      ids.formUnion(try context.fetch(From<Object>()).map(\.objectID))
    }
  }

  private static func run(_ generator: SeededGenerator, saves: Bool) async throws {
    var generator = generator
    let library = try await Library.open()
    let context = try library.context()
    defer { context.end() }
    context.insert(Publisher("Ace"))
    try context.save()
    let editor = GraphEditor(context: context)
    var nextNumber = 0
    for _ in 0..<60 {
      if let edit = try editor.randomEdit(&generator, named: &nextNumber) { try editor.apply(edit) }
    }
    for writer in try context.fetch(From<Writer>()) { writer.email = nil }
    try context.save()
    let manager = ContextUndoManager()
    context.undoManager = manager
    var states = [try State(editor, withChanges: !saves)]
    for _ in 0..<25 {
      for _ in 0..<generator.number(in: 1...5) {
        if let edit = try editor.randomEdit(&generator, named: &nextNumber) {
          try apply(edit, editor, &generator)
        }
      }
      context.processPendingChanges()
      let state = try State(editor, withChanges: !saves)
      if saves, generator.chance(1, in: 4) { try saveFreely(editor) }
      // Edits that change nothing make no group.
      if manager.undoCount == states.count { states.append(state) } else { states[states.count - 1] = state }
    }
    func check(_ name: String, _ step: Int, _ isDone: Bool) throws {
      #expect(isDone)
      let (found, expected) = (try State(editor, withChanges: !saves), states[states.count - 1 - step])
      try #require(
        found == expected,
        "\(name) \(step): \(difference(found, expected)), seed \(generator.seed)"
      )
      if saves, generator.chance(1, in: 5) { try saveFreely(editor) }
    }
    for _ in 0..<3 {
      let depth = generator.number(in: 1...states.count - 1)
      for step in 1...depth { try check("undo", step, context.undo()) }
      for step in (0..<depth).reversed() { try check("redo", step, context.redo()) }
    }
    while context.undo() {}
    try saveFreely(editor)
    #expect(try State(editor, withChanges: false).objects == states[0].objects)
    let fresh = try library.context()
    defer { fresh.end() }
    #expect(try GraphEditor(context: fresh).dump() == states[0].objects)
    #expect(try await library.verify().map(\.description) == [])
  }

  /// Makes an edit, sometimes by way of a child.
  private static func apply(
    _ edit: GraphEdit,
    _ editor: GraphEditor,
    _ generator: inout SeededGenerator
  ) throws {
    guard generator.chance(1, in: 4) else { return try editor.apply(edit) }
    let child = editor.context.makeChild()
    try GraphEditor(context: child).apply(edit)
    try child.save()
  }

  /// Saves. This test ignores saves that fail because two writers have the same address.
  private static func saveFreely(_ editor: GraphEditor) throws {
    do throws(ContextError) { try editor.context.save() } catch {
      if error.code != .notUnique { throw error }
    }
  }

  private static func difference(_ found: State, _ expected: State) -> String {
    let lines = { (state: State) in Set(state.objects + state.changes + state.ids.map { "\($0)" }) }
    let (a, b) = (lines(found), lines(expected))
    return "surplus \(a.subtracting(b).sorted()), missing \(b.subtracting(a).sorted())"
  }
}
