/// An object that a ``FetchedResultsController`` tells of changes. Every method does nothing unless the delegate has one of its own.
///
/// Of one difference a delegate hears, in this order: that the content will change, while the controller still has the old one; sections that go, then sections that come;
/// objects that go, come, move and have other values; the whole difference; that the content did change. Of a list that is to be shown anew it hears the first and the last only.
/// A delegate that fetches anew, or gives its place to another one, while it is told hears no more steps, and hears the last: it has to read the content anew then. The other one hears
/// the first and the last afterwards.
///
/// A list that can't be read is told by ``FetchedResults/onFailure(_:)`` of ``FetchedResultsController/fetchedObjects``.
public protocol FetchedResultsControllerDelegate<Object>: AnyObject {
  /// The model of the controller's objects.
  associatedtype Object: ManagedObject

  /// The content is about to change.
  func controllerWillChangeContent(_ controller: FetchedResultsController<Object>)
  /// A section has come or gone.
  ///
  /// - Parameters:
  ///   - controller: who tells.
  ///   - sectionInfo: the section's position and name.
  ///   - sectionIndex: the position in the new content of one that has come, in the old one of one that has gone.
  ///   - type: `insert` or `delete`.
  func controller(
    _ controller: FetchedResultsController<Object>,
    didChange sectionInfo: ListChanges.SectionChange,
    atSectionIndex sectionIndex: Int,
    for type: ListChanges.Kind
  )
  /// An object has come, gone, moved or changed.
  ///
  /// - Parameters:
  ///   - controller: who tells.
  ///   - object: the object. One that isn't there any more is deleted: it has its ID, and what was read of it before if the context still had it. Else its
  ///     getters give values that mean nothing.
  ///   - indexPath: the path in the old content; nil for one that has come.
  ///   - type: what has become of the object.
  ///   - newIndexPath: the path in the new content; nil for one that has gone.
  func controller(
    _ controller: FetchedResultsController<Object>,
    didChange object: Object,
    at indexPath: ListPath?,
    for type: ListChanges.Kind,
    newIndexPath: ListPath?
  )
  /// The content has changed by a difference, with positions counted over all sections.
  func controller(
    _ controller: FetchedResultsController<Object>,
    didChangeContentWith difference: CollectionDifference<ManagedObjectID>
  )
  /// The content has changed.
  func controllerDidChangeContent(_ controller: FetchedResultsController<Object>)
  /// The title of a section in an index strip. The first letter of its name in upper case unless the delegate says otherwise.
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
  /// The first letter in upper case; nothing for an empty name.
  public func controller(
    _ controller: FetchedResultsController<Object>,
    sectionIndexTitleForSectionName sectionName: String
  ) -> String? { SectionName.indexTitle(of: sectionName) }
}
