/// A ``FetchedResults`` with the methods and the delegate of Core Data's `NSFetchedResultsController`, for programs
/// that come from there.
///
/// ```swift
/// let controller = FetchedResultsController(fetchRequest: From<Song>().orderBy(\.title), context: context)
/// controller.delegate = self
/// try controller.performFetch()
/// ```
///
/// Paths are ``ListPath``s, and sections are named by a ``SectionedBy`` in place of a key path in a string. There is no
/// cache to name: the list counts by indexes.
public final class FetchedResultsController<Object: ManagedObject> {
  /// The query. Another one takes effect with the next ``performFetch()``.
  public var fetchRequest: From<Object>
  /// The rule that divides the content; nil for one section. Another rule takes effect with the next
  /// ``performFetch()``.
  public var sectionedBy: SectionedBy<Object>?
  /// The delegate that the controller tells of changes.
  public weak var delegate: (any FetchedResultsControllerDelegate<Object>)?
  /// The objects, which follow the context; nil before ``performFetch()``. They are read in groups, when the program
  /// reads one of them.
  public private(set) var fetchedObjects: FetchedResults<Object>?
  private let context: ManagedObjectContext
  /// The lists that are telling of a difference.
  private var differences: [Difference] = []

  /// Makes a controller that has no content before ``performFetch()``.
  ///
  /// - Parameters:
  ///   - fetchRequest: the query. Limit and offset are allowed.
  ///   - context: the context that the controller follows, and holds.
  ///   - sectionedBy: what divides the content. The first key of the query's order must be that of the sections.
  public init(
    fetchRequest: From<Object>,
    context: ManagedObjectContext,
    sectionedBy: SectionedBy<Object>? = nil
  ) {
    (self.fetchRequest, self.context, self.sectionedBy) = (fetchRequest, context, sectionedBy)
  }

  /// The context.
  public var managedObjectContext: ManagedObjectContext { context }

  /// Fetches the content, and follows it from now on. The delegate isn't told. If the delegate calls this method while
  /// it is told of a difference, it receives no more steps of that difference, only the call that the content did
  /// change.
  ///
  /// - Throws: what the fetch throws; the content then stays as it is.
  public func performFetch() throws(ContextError) {
    let list = try FetchedResults(fetchRequest, sectionedBy: sectionedBy, in: context)
    list.addObserver(self)
    // If a list is telling the delegate of a difference, that difference ends first.
    if let old = fetchedObjects, !differences.contains(where: { $0.list === old }) {
      old.removeObserver(self)
    }
    fetchedObjects = list
  }

  /// Returns the object at a path, which must exist.
  public func object(at indexPath: ListPath) -> Object {
    guard let fetchedObjects else {
      fatalError("a FetchedResultsController has no objects before performFetch()")
    }
    return fetchedObjects[indexPath]
  }

  /// Returns the path of an object; nil if it isn't in the content. O(log n) where the index counts positions, else
  /// O(n).
  public func indexPath(forObject object: Object) -> ListPath? { fetchedObjects?.path(of: object) }

  /// The sections; nil before ``performFetch()``.
  public var sections: ListSectionCollection<Object>? { fetchedObjects?.sections }

  /// Returns the title of a section in an index strip: the title that the delegate gives, or else the first letter of
  /// the name in upper case; nil for an empty name.
  public func sectionIndexTitle(forSectionName sectionName: String) -> String? {
    guard let delegate else { return SectionName.indexTitle(of: sectionName) }
    return delegate.controller(self, sectionIndexTitleForSectionName: sectionName)
  }

  /// The titles of an index strip, one for each section; empty where a section has none. O(sections).
  public var sectionIndexTitles: [String] {
    sections?.map { sectionIndexTitle(forSectionName: $0.name) ?? "" } ?? []
  }

  /// Returns the section for a title of an index strip: the first that has the title, else the first of the greatest
  /// title below it, else that of the least title; nil without sections. The order of the titles doesn't matter.
  /// O(sections).
  public func section(forSectionIndexTitle title: String) -> Int? {
    SectionName.section(for: title, in: sectionIndexTitles)
  }
}

extension FetchedResultsController: ListObserver {
  /// A difference that the controller is telling its delegate of.
  private struct Difference {
    let list: FetchedResults<Object>
    /// The delegate that was told of the beginning, and will be told of the end.
    weak var delegate: (any FetchedResultsControllerDelegate<Object>)?
  }

  /// Tells the delegate. The list calls this method.
  public func listWillChange(_ list: FetchedResults<Object>) {
    guard fetchedObjects === list else { return }
    differences.append(Difference(list: list, delegate: delegate))
    delegate?.controllerWillChangeContent(self)
  }

  /// Tells the delegate. The list calls this method.
  public func listDidChange(_ list: FetchedResults<Object>, _ changes: ListChanges) {
    guard let difference = differences.last(where: { $0.list === list }) else { return }
    tellSteps(changes, of: difference)
    differences.removeAll { $0.list === list }
    difference.delegate?.controllerDidChangeContent(self)
    guard fetchedObjects === list else { return list.removeObserver(self) }
    // A delegate that was set meanwhile may have read the old content. The limit ends an endless sequence of delegates
    // that set one another.
    var told = difference.delegate
    for _ in 0..<SaveHooks.roundLimit {
      guard let late = delegate, late !== told, fetchedObjects === list else { break }
      late.controllerWillChangeContent(self)
      late.controllerDidChangeContent(self)
      told = late
    }
  }

  private func tellSteps(_ changes: ListChanges, of difference: Difference) {
    for section in changes.deletedSections.reversed() {
      delegate(of: difference)?.controller(
        self,
        didChange: section,
        atSectionIndex: section.section,
        for: .delete
      )
    }
    for section in changes.insertedSections {
      delegate(of: difference)?.controller(
        self,
        didChange: section,
        atSectionIndex: section.section,
        for: .insert
      )
    }
    for change in changes.orderedChanges {
      guard let delegate = delegate(of: difference) else { return }
      delegate.controller(
        self,
        didChange: object(of: change, in: difference.list),
        at: change.oldPath,
        for: change.kind,
        newIndexPath: change.newPath
      )
    }
    if let all = changes.collectionDifference {
      delegate(of: difference)?.controller(self, didChangeContentWith: all)
    }
  }

  private func object(of change: ListChanges.Change, in list: FetchedResults<Object>) -> Object {
    let (number, entity) = (change.objectID.number, list.list.entity)
    if change.kind == .delete { return context.objectOrGone(number, entity) }
    return context.object(Object.self, number: number, entity.ordinal)
  }

  /// Returns the delegate that was told of the beginning; nil if the controller shows another list or has another
  /// delegate by now. A method of the delegate may change both.
  private func delegate(of difference: Difference) -> (any FetchedResultsControllerDelegate<Object>)? {
    fetchedObjects === difference.list && delegate === difference.delegate ? delegate : nil
  }
}
