extension ListChanges {
  /// A step of a batch in the style of PeakCoreData: an object that moves is updated, then moved.
  public enum PairedEvent: Sendable, Hashable {
    /// A section was removed, from its position in the old list.
    case deleteSection(Int)
    /// A section was added, at its position in the new list.
    case insertSection(Int)
    /// An object was removed, from its old path.
    case delete(ListPath)
    /// An object was added, at its new path.
    case insert(ListPath)
    /// An object has other values. The path is the old one.
    case update(ListPath, ManagedObjectID)
    /// An object has moved from its old path to its new one. A step before this one has updated it.
    case move(from: ListPath, to: ListPath)
  }

  /// The changes as steps. A move is two steps: an update at the old path, then the move. Sections come first, those
  /// that go before those that come; then objects, in the order of ``events``. O(k log k) for k changes; none for a
  /// reload.
  public var updatesAndMoves: [PairedEvent] {
    var steps = deletedSections.reversed().map { PairedEvent.deleteSection($0.section) }
    steps += insertedSections.map { .insertSection($0.section) }
    for change in orderedChanges {
      switch change.kind {
      case .delete: steps.append(.delete(change.oldPath!))
      case .insert: steps.append(.insert(change.newPath!))
      case .update: steps.append(.update(change.oldPath!, change.objectID))
      case .move:
        steps.append(.update(change.oldPath!, change.objectID))
        steps.append(.move(from: change.oldPath!, to: change.newPath!))
      }
    }
    return steps
  }
}
