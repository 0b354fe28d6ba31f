import Cambium
import GraphTestSupport
import TestSupport
import Testing

@testable import GraphContext

/// Contexts, their objects and their observers are released, whichever of them refer to each other.
struct LeakTests {
  /// References that must be nil in the end.
  // Safety: a block adds to the watch, and the test reads the watch after the block has returned.
  private final class Watch: @unchecked Sendable {
    private var references: [(name: String, isGone: () -> Bool)] = []

    func add(_ object: some AnyObject, _ name: String) {
      references.append((name, { [weak object] in object == nil }))
    }

    var count: Int { references.count }
    var left: [String] { references.filter { !$0.isGone() }.map(\.name) }

    /// Returns the names of the objects that are still alive when executors have had the time to release them.
    func leftInTheEnd() async throws -> [String] {
      var rest = 120_000
      while rest > 0, !left.isEmpty {
        try await Task.sleep(for: .milliseconds(5))
        rest -= 1
      }
      return left
    }
  }

  /// How a block leaves its changes.
  enum Ending: CaseIterable, Sendable { case unsaved, saved, rolledBack, undone, reset }

  /// Objects that lead to each other in every way: by one-to-one, many-to-many and one-to-many relationships, some deleted, some in a child, with
  /// listeners, lists and an undo manager.
  private static func tangle(_ context: ManagedObjectContext, _ ending: Ending, _ watch: Watch) throws {
    watch.add(context, "the context")
    let manager = context.undoManager ?? ContextUndoManager()
    context.undoManager = manager
    watch.add(manager, "the undo manager")
    let list = try FetchedResults(From<Writer>().orderBy(\.rank), in: context)
    let observer = try CountObserver(From<Reader>(), in: context)
    watch.add(list, "the list")
    watch.add(observer, "the observer")
    let kept = [list.onChange { _ in }, observer.onChange { _ in }, context.onDidSave { _ in }]
    watch.add(kept[0], "the subscription")
    let publisher = Publisher("p")
    let (writers, readers) = ((0..<3).map { Writer("w\($0)", rank: $0) }, (0..<3).map { Reader("r\($0)") })
    for object in [publisher] + writers + readers as [any ManagedObject] { context.insert(object) }
    for (number, writer) in writers.enumerated() {
      let (desk, book) = (Desk(number), Book("b\(number)", publisher: publisher))
      writer.desk = desk
      writer.books.append(book)
      writer.fans = readers
      readers[number].favourite = book
      for object in [desk, book, writer, readers[number]] as [any ManagedObject] {
        watch.add(object, "\(type(of: object)) \(number)")
      }
    }
    context.processPendingChanges()
    let child = context.makeChild()
    watch.add(child, "the child")
    let copy = try child.existingObject(Writer.self, with: writers[0].objectID)
    watch.add(copy, "an object of the child")
    copy.fans.removeAll()
    let observed = try ObjectObserver(writers[1])
    watch.add(observed, "the observer of an object")
    let watching = observed.onChange { _ in }
    defer { withExtendedLifetime((kept, watching, child)) {} }
    try child.save()
    context.delete(writers[2])
    #expect(writers[0].books.allSatisfy { $0.writer?.desk?.writer === writers[0] })
    switch ending {
    case .unsaved: break
    case .saved: try context.save()
    case .rolledBack: context.rollback()
    case .undone: while context.undo() {}
    case .reset: context.reset()
    }
  }

  @Test(arguments: Ending.allCases)
  func aBlockLeavesNothing(_ ending: Ending) async throws {
    let (library, watch) = (try await Library.open(), Watch())
    try await library.performBackgroundTask { try Self.tangle($0, ending, watch) }
    #expect(try await watch.leftInTheEnd() == [])
    #expect(watch.count > 15)
  }

  @Test(arguments: Ending.allCases)
  func aBackgroundContextTakesItsObjectsAlong(_ ending: Ending) async throws {
    let (library, watch) = (try await Library.open(), Watch())
    do {
      let background = try library.newBackgroundContext(name: "leaving")
      watch.add(background, "the background context")
      try await background.perform { try Self.tangle($0, ending, watch) }
      try await background.perform { try $0.refresh() }
    }
    #expect(try await watch.leftInTheEnd() == [])
  }

  @MainActor @Test(arguments: Ending.allCases)
  func theViewContextGoesWithItsContainer(_ ending: Ending) async throws {
    let watch = Watch()
    do {
      let library = try await Library.open()
      watch.add(library, "the container")
      try Self.tangle(library.viewContext, ending, watch)
      // The view context learns of this commit between two turns.
      try await library.write { $0.insert(Writer("later")) }
      try await Task.sleep(for: .milliseconds(5))
    }
    #expect(try await watch.leftInTheEnd() == [])
  }

  /// Objects that lead to each other and never were in a context.
  @Test func objectsOutsideOfContextsGo() {
    let watch = Watch()
    do {
      let (writer, desk, reader) = (Writer("w"), Desk(1), Reader("r"))
      desk.writer = writer
      reader.idols = [writer]
      for object in [writer, desk, reader] as [any ManagedObject] { watch.add(object, "\(type(of: object))") }
    }
    #expect(watch.left == [])
  }
}
