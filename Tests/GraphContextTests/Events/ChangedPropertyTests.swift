import Cambium
import GraphTestSupport
import TestSupport
import Testing

@testable import GraphContext

/// Events name the properties of updated objects that have changed.
struct ChangedPropertyTests {
  private let library: PersistentContainer
  private let context: ManagedObjectContext
  private let writer = Writer("Woolf", email: "v@w")
  private let desk = Desk(1)
  private let reader = Reader("r")

  init() async throws {
    library = try await Library.open()
    context = try library.context()
    context.insert(writer)
    context.insert(desk)
    context.insert(reader)
    try context.save()
  }

  /// The events of a context, as the names by the entity of each updated object.
  private final class Log {
    private(set) var events: [String] = []
    private var subscriptions: [ContextSubscription] = []

    init(_ context: ManagedObjectContext) {
      subscriptions = [
        context.onObjectsDidChange { [unowned self] in events.append(Self.words($0)) },
        context.onDidSave { [unowned self] in events.append("saved " + Self.words($0)) },
      ]
    }

    func take() -> [String] {
      defer { events = [] }
      return events
    }

    private static func words(_ changes: ObjectChanges) -> String {
      #expect(Set(changes.changedProperties.keys) == Set(changes.updated))
      let words = changes.updated.map { id in
        "\(id.entityName): " + (changes.changedProperties[id] ?? ["none"]).joined(separator: " ")
      }
      return "\(changes.origin) \(words.joined(separator: ", "))"
    }
  }

  @Test func everySetOfATurnIsNamedOnce() throws {
    let log = Log(context)
    writer.rank = 1
    writer.name = "V. Woolf"
    writer.rank = 2
    context.processPendingChanges()
    writer.email = nil
    context.processPendingChanges()
    #expect(log.take() == ["context Writer: name rank", "context Writer: email"])
    try context.save()
    #expect(log.take() == ["saved context Writer: email name rank"])
  }

  @Test func whatWasSetBeforeTheSubscriptionIsNotNamed() {
    writer.rank = 1
    let log = Log(context)
    writer.name = "V. Woolf"
    context.processPendingChanges()
    #expect(log.take() == ["context Writer: name"])
  }

  @Test func inversesAndLinksAreNamedAtBothEnds() throws {
    let log = Log(context)
    writer.desk = desk
    writer.fans.append(reader)
    try context.save()
    #expect(
      log.take() == [
        "context Desk: writer, Reader: idols, Writer: desk fans",
        "saved context Desk: writer, Reader: idols, Writer: desk fans",
      ]
    )
    context.delete(writer)
    try context.save()
    #expect(
      log.take() == ["context Desk: writer, Reader: idols", "saved context Desk: writer, Reader: idols"]
    )
  }

  @Test func commitsOfOthersAreNamedTogether() throws {
    let log = Log(context)
    let other = try library.context()
    let id = writer.objectID
    for rank in 1...2 {
      let writer = try other.existingObject(Writer.self, with: id)
      writer.rank = rank
      if rank == 2 { writer.fans.append(try other.existingObject(Reader.self, with: reader.objectID)) }
      try other.save()
    }
    writer.rank = 7
    try context.refresh()
    #expect(log.take() == ["context Writer: rank", "store Reader: idols, Writer: fans rank"])
    other.end()
  }

  @Test func childrenHearWhatTheirParentsChangeAndSave() throws {
    let child = context.makeChild()
    let (log, childLog) = (Log(context), Log(child))
    try child.existingObject(Writer.self, with: writer.objectID).rank = 1
    try child.save()
    #expect(log.take() == ["child Writer: rank"])
    #expect(childLog.take() == ["context Writer: rank", "saved context Writer: rank"])
    writer.name = "V. Woolf"
    context.processPendingChanges()
    #expect(childLog.take() == ["parent Writer: name"])
  }

  @Test func undoingNamesWhatItGivesBack() throws {
    context.undoManager = ContextUndoManager()
    let log = Log(context)
    writer.rank = 1
    writer.desk = desk
    context.processPendingChanges()
    context.undo()
    context.redo()
    #expect(
      log.take() == [
        "context Desk: writer, Writer: desk rank", "undo Desk: writer, Writer: desk rank",
        "undo Desk: writer, Writer: desk rank",
      ]
    )
    writer.rank = 2
    context.discardChanges(of: writer)
    context.processPendingChanges()
    #expect(log.take() == ["context Desk: writer, Writer: desk rank"])
  }

  @Test func mergedHistoryHasItsNames() async throws {
    try await library.keepHistory()
    let token = try library.newestHistoryToken()
    writer.rank = 1
    writer.fans.append(reader)
    try context.save()
    let changes = try context.merge(try await library.history(HistoryQuery(after: token)))
    #expect(changes.changedProperties == [writer.objectID: ["fans", "rank"], reader.objectID: ["idols"]])
  }

  // MARK: The end of noting

  @Test func notingEndsWithTheLastListener() throws {
    let child = context.makeChild()
    var subscription: ContextSubscription? = child.onObjectsDidChange { _ in }
    #expect(context.tracksChanges && child.namesChanges)
    withExtendedLifetime(subscription) {}
    subscription = nil
    writer.rank = 1
    context.processPendingChanges()
    #expect(!context.tracksChanges && !context.namesChanges && !child.tracksChanges)
    context.undoManager = ContextUndoManager()
    #expect(context.tracksChanges && !context.namesChanges)
    context.undoManager = nil
    #expect(!context.tracksChanges)
  }

  /// Another context has deleted an object while this context had no listeners, and unsaved changes keep the object
  /// here. When these changes are rolled back, an event reports the object as deleted.
  @Test func aListenerThatComesLaterHearsOfKeptObjects() throws {
    writer.rank = 1
    let other = try library.context()
    other.delete(try other.existingObject(Writer.self, with: writer.objectID))
    try other.save()
    try context.refresh()
    var deleted: [ManagedObjectID] = []
    let subscription = context.onObjectsDidChange { deleted += $0.deleted }
    let id = writer.objectID
    context.rollback()
    withExtendedLifetime(subscription) {}
    #expect(deleted == [id])
    other.end()
  }
}
