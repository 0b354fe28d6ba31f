import Predicates

// The save of a child, to its parent.

extension ManagedObjectContext {
  /// Hands the changes over to the parent.
  func save(to parent: ManagedObjectContext) throws(ContextError) {
    let invalid = try prepareSave().failures
    listings.removeAll()
    // Links that the parent has as well are saved by this, too.
    guard hasChanges else { return forgetChanges() }
    let request = try ChangeEncoder(self, invalid).encode()
    try request.failures.throwIfAny()
    finish(try handOver(request, to: parent))
  }

  private func handOver(
    _ request: SaveRequest,
    to parent: ManagedObjectContext
  ) throws(ContextError) -> SavedObjects {
    beginSettling()
    defer { endSettling() }
    let handedOver = HandedOver(request, of: self)
    let shown = shownValues()
    defer { shown.tellOfDifferences() }
    var saved = SavedObjects()
    // Links are the parent's once it has accepted them.
    let updated = entities.indices.map { updatedObjects(of: $0) }
    // Changes that listeners make when they hear of it are unsaved again.
    try parent.accept(request, handedOver) {
      keepDeletedInParent()
      saved = finishSave(updated)
    }
    if request.deletesObjects {
      tellingChanges(from: .parent) { saved.kept.forEach { readReferences(of: $0, entity(of: $0).ordinal) } }
    }
    if !events.didSave.isEmpty { saved.changes = handedOver.changes }
    return saved
  }

  /// Notes the objects that the parent's delete rules have deleted: they stay here until the save has released them,
  /// which is an event of its own.
  private func keepDeletedInParent() {
    guard tracksChanges else { return }
    for (ordinal, objects) in entities.enumerated() {
      let entity = entity(ordinal)
      for number in objects.deletedInParent
      where knownObject(number, of: entity)?._$state.phase == .persistent {
        events.kept.insert(id(number, entity))
      }
    }
  }

  /// Reads the references of a saved object again, and releases an object that the parent's delete rules have deleted.
  /// These rules reach further than the rules here if the parent has moved on since.
  private func readReferences(of object: any ManagedObject, _ ordinal: Int) {
    // Until now the object's unsaved changes have kept it here.
    if tracksChanges, isMissingBelow(object, ordinal) { noteChange(of: object, isEdited: false) }
    leaveIfDeleted(object, ordinal)
    guard object._$state.host === self else { return }
    object._$state.forgetUnchangedValues(in: entity(ordinal).referenceSlots)
  }
}
