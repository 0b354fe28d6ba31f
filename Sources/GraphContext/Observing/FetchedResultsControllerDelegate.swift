/// An object that a ``FetchedResultsController`` tells of changes. Every method does nothing unless the delegate has
/// one of its own.
///
/// For one difference a delegate receives these calls, in this order: that the content will change, while the
/// controller still has the old content; sections that go, then sections that come; objects that go, come, move and
/// have other values; the whole difference; that the content did change. For a reload it receives only the first and
/// the last call. If a delegate fetches again, or sets another delegate, during these calls, it receives no more steps,
/// only the last call. It has to read the content anew then. The other delegate receives the first and the last call
/// afterwards.
///
/// If a list can't be read, ``FetchedResults/onFailure(_:)`` of ``FetchedResultsController/fetchedObjects`` reports it.
public protocol FetchedResultsControllerDelegate<Object>: AnyObject {
  /// The model of the controller's objects.
  associatedtype Object: ManagedObject

  /// Tells the delegate that the content is about to change.
  func controllerWillChangeContent(_ controller: FetchedResultsController<Object>)
  /// Tells the delegate that a section was added or removed.
  ///
  /// - Parameters:
  ///   - controller: the controller that calls.
  ///   - sectionInfo: the section's position and name.
  ///   - sectionIndex: the position: in the new content for an added section, in the old content for a removed one.
  ///   - type: `insert` or `delete`.
  func controller(
    _ controller: FetchedResultsController<Object>,
    didChange sectionInfo: ListChanges.SectionChange,
    atSectionIndex sectionIndex: Int,
    for type: ListChanges.Kind
  )
  /// Tells the delegate that an object was added, removed, moved or changed.
  ///
  /// - Parameters:
  ///   - controller: the controller that calls.
  ///   - object: the object. An object that doesn't exist any more is a deleted one. It has its ID and, if the context
  ///     still had it, the values that were read before. Its other getters give values that mean nothing.
  ///   - indexPath: the path in the old content; nil for an object that was added.
  ///   - type: the kind of the change.
  ///   - newIndexPath: the path in the new content; nil for an object that was removed.
  func controller(
    _ controller: FetchedResultsController<Object>,
    didChange object: Object,
    at indexPath: ListPath?,
    for type: ListChanges.Kind,
    newIndexPath: ListPath?
  )
  /// Tells the delegate that the content has changed by a difference, with positions counted over all sections.
  func controller(
    _ controller: FetchedResultsController<Object>,
    didChangeContentWith difference: CollectionDifference<ManagedObjectID>
  )
  /// Tells the delegate that the content has changed.
  func controllerDidChangeContent(_ controller: FetchedResultsController<Object>)
  /// Returns the title of a section in an index strip: the first letter of its name in upper case unless the delegate
  /// says otherwise.
  func controller(
    _ controller: FetchedResultsController<Object>,
    sectionIndexTitleForSectionName sectionName: String
  ) -> String?
}

extension FetchedResultsControllerDelegate {
  /// Does nothing.
  public func controllerWillChangeContent(_ controller: FetchedResultsController<Object>) {}
  /// Does nothing.
  public func controller(
    _ controller: FetchedResultsController<Object>,
    didChange sectionInfo: ListChanges.SectionChange,
    atSectionIndex sectionIndex: Int,
    for type: ListChanges.Kind
  ) {}
  /// Does nothing.
  public func controller(
    _ controller: FetchedResultsController<Object>,
    didChange object: Object,
    at indexPath: ListPath?,
    for type: ListChanges.Kind,
    newIndexPath: ListPath?
  ) {}
  /// Does nothing.
  public func controller(
    _ controller: FetchedResultsController<Object>,
    didChangeContentWith difference: CollectionDifference<ManagedObjectID>
  ) {}
  /// Does nothing.
  public func controllerDidChangeContent(_ controller: FetchedResultsController<Object>) {}
  /// Returns the first letter in upper case; nothing for an empty name.
  public func controller(
    _ controller: FetchedResultsController<Object>,
    sectionIndexTitleForSectionName sectionName: String
  ) -> String? { SectionName.indexTitle(of: sectionName) }
}
