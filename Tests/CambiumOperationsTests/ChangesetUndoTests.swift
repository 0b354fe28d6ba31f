import Cambium
import CambiumOperations
import Testing

/// Deletes a parcel, saves, undoes that and saves again.
private final class DeletingAndUndoing: ChangesetOperation, @unchecked Sendable {
  // Safety: it has no properties of its own.
  override func performWork(in context: ManagedObjectContext) throws {
    context.undoManager = ContextUndoManager()
    guard let parcel = try context.fetchOne(From<Parcel>()) else { return finish() }
    context.delete(parcel)
    saveOperationContext()
    context.undo()
    saveAndFinish()
  }
}

/// Changesets of operations that take back what they have saved.
struct ChangesetUndoTests {
  /// The object existed before the operation, and exists afterwards.
  @Test func anObjectThatCameBackIsNotDeleted() async throws {
    let depot = try await Depot()
    try await depot.container.write { context in context.insert(Parcel("a")) }
    let changes = try await DeletingAndUndoing(depot.container).run()
    let ids = try await depot.container.query { try $0.fetchIDs(From<Parcel>()) }
    #expect(ids.count == 1)
    #expect(changes.updated == Set(ids))
    #expect(changes.inserted.isEmpty && changes.deleted.isEmpty)
  }
}
