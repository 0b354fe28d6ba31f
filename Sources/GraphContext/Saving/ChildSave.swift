import Predicates

/// A save of a child context, which hands its changes over to the parent: in memory, without a turn to write.
struct ChildSave {
  private let child: ManagedObjectContext
  private let parent: ManagedObjectContext

  init(of child: ManagedObjectContext, to parent: ManagedObjectContext) {
    self.child = child
    self.parent = parent
  }

  func run() throws(ContextError) {
    let invalid = try child.prepareSave().failures
    child.listings.removeAll()
    // Links that the parent has as well are saved by this, too.
    guard child.hasChanges else { return child.forgetChanges() }
    let request = try ChangeEncoder(child, invalid).encode()
    try request.failures.throwIfAny()
    child.finish(try handOver(request))
  }

  private func handOver(_ request: SaveRequest) throws(ContextError) -> SavedObjects {
    child.beginCompletion()
    defer { child.endCompletion() }
    let handedOver = HandedOver(request, of: child)
    let shown = child.shownValues()
    defer { shown.tellOfDifferences() }
    var saved = SavedObjects()
    // Links are the parent's once it has accepted them.
    let updated = child.entities.indices.map { child.updatedObjects(of: $0) }
    // Changes that listeners make when they hear of it are unsaved again.
    try parent.accept(request, handedOver) {
      keepDeletedInParent()
      saved = child.finishSave(updated)
    }
    if request.mayReleaseObjects {
      child.tellingChanges(from: .parent) { saved.kept.forEach { readReferences(of: $0) } }
    }
    if !child.events.didSave.isEmpty { saved.changes = handedOver.changes }
    return saved
  }

  /// Notes the objects that the parent's delete rules have deleted: they stay here until the save has released them,
  /// which is an event of its own.
  private func keepDeletedInParent() {
    guard child.tracksChanges else { return }
    for objects in child.entities {
      for number in objects.deletedInParent
      where child.knownObject(number, of: objects.entity)?._$state.phase == .persistent {
        child.events.kept.insert(child.id(number, objects.entity))
      }
    }
  }

  /// Reads the references of a saved object again, and releases an object that the parent's delete rules have deleted.
  /// These rules reach further than the rules here if the parent has moved on since.
  private func readReferences(of object: any ManagedObject) {
    let entity = child.entity(of: object)
    // Until now the object's unsaved changes have kept it here.
    if child.tracksChanges, child.isMissingBelow(object, entity.ordinal) {
      child.noteChange(of: object, isEdited: false)
    }
    child.leaveIfDeleted(object, entity.ordinal)
    guard object._$state.host === child else { return }
    object._$state.forgetUnchangedValues(in: entity.referenceSlots)
  }
}
