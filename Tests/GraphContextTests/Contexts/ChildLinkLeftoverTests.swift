import Cambium
import GraphTestSupport
import Testing

@testable import GraphContext

/// Links that a child has discarded or undone don't come back by what its parent does later, and hide nothing of it.
struct ChildLinkLeftoverTests {
  private let library: PersistentContainer
  private let root: ManagedObjectContext
  private let child: ManagedObjectContext
  private let writer = Writer("A", rank: 5)
  private let reader = Reader("R")

  init() async throws {
    library = try await Library.open()
    root = try library.context()
    root.insert(writer)
    root.insert(reader)
    try root.save()
    child = root.makeChild()
  }

  private func inChild<Object: ManagedObject>(_ object: Object) throws -> Object {
    try child.existingObject(Object.self, with: object.objectID)
  }

  /// The parent has made the link as well, and takes it back later.
  @Test func aDiscardedLinkOfBothDoesNotComeBack() throws {
    let (same, fan) = (try inChild(writer), try inChild(reader))
    same.fans = [fan]
    writer.fans = [reader]
    #expect(!child.hasChanges)
    child.discardChanges(of: same)
    root.rollback()
    #expect(writer.fans.isEmpty)
    #expect(same.fans.isEmpty && fan.idols.isEmpty && !child.hasChanges)
    try child.save()
    #expect(writer.fans.isEmpty && !root.hasChanges)
  }

  /// The other end of the link is deleted in the child: discarding this end's changes leaves it so.
  @Test func aLinkToAnObjectThatIsDeletedHereStaysAway() throws {
    writer.fans = [reader]
    try root.save()
    let (same, fan) = (try inChild(writer), try inChild(reader))
    child.delete(fan)
    writer.fans = []
    child.discardChanges(of: same)
    root.rollback()
    #expect(same.fans.isEmpty)
    try child.save()
    #expect(writer.fans.isEmpty && reader.isDeleted)
  }

  /// The parent has taken the link back already when the child undoes it, and makes it again later.
  @Test func anUndoThatChangesNothingHidesNoLaterLink() throws {
    child.undoManager = ContextUndoManager()
    let (same, fan) = (try inChild(writer), try inChild(reader))
    same.fans = [fan]
    try child.save()
    writer.fans = []
    _ = child.undo()
    #expect(same.fans.isEmpty && !child.hasChanges)
    writer.fans = [reader]
    #expect(same.fans == [fan] && fan.idols == [same] && !child.hasChanges)
    try child.save()
    #expect(writer.fans == [reader])
  }
}
