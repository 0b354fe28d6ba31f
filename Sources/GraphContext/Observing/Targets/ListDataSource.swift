/// A source that shows a list on a surface, and keeps the surface up to date.
///
/// ```swift
/// let songs = try FetchedResults(From<Song>().orderBy(\.title), in: context)
/// let source = ListDataSource(songs, target: table)
/// ```
///
/// After a difference of the list, the target reloads once if the difference is a reload, if ``animatesUpdates`` is
/// false or if the target isn't visible. Else it receives the difference in a batch, as ``ListTarget`` says:
/// ``ListChanges/batch``, or ``ListChanges/stages``. The source shows the new state from within the batch, before the
/// target's methods are called. New values of items that aren't visible are left out, and if no change is left, no
/// method is called.
///
/// The data source holds the list and the target. The target shows the list for as long as the program holds the data
/// source.
public final class ListDataSource<Object: ManagedObject>: ListSource {
  /// The list.
  public var list: FetchedResults<Object> { shown.list }
  /// The surface.
  public let target: any ListTarget
  /// True if the target receives the changes in batches. If false, it reloads after each difference. The default is
  /// true.
  public var animatesUpdates = true
  /// True if the target receives a difference in ``ListChanges/stages`` rather than in one batch. The default is false.
  public var appliesInStages = false
  /// The closure that is called after the target has been told of a difference.
  public var onDidChangeContent: ((ListChanges) -> Void)?
  private let shown: ShownList<Object>

  /// Shows the list on a target, which reloads.
  public init(_ list: FetchedResults<Object>, target: any ListTarget) {
    self.target = target
    shown = ShownList(list, isDivided: true)
    shown.onChange = { [unowned self] in show($0) }
    target.source = self
    target.reload()
  }

  private func show(_ changes: ListChanges) {
    if changes.isReload || !animatesUpdates || !target.isVisible {
      shown.catchUp()
      target.reload()
    } else {
      shown.show(changes, in: target, inStages: appliesInStages)
    }
    onDidChangeContent?(changes)
  }

  // MARK: The shown content

  /// The number of sections that the target is to show.
  public var sectionCount: Int { shown.list.context == nil ? 0 : shown.arrangement.sectionCount }

  /// Returns how many items a section has; nil for a section that doesn't exist.
  public func itemCount(inSection section: Int) -> Int? { shown.section(section)?.count }

  /// Returns the name of a section; nil for one that doesn't exist.
  public func sectionName(_ section: Int) -> String? { shown.section(section)?.name }

  /// Returns the ID of the object at a path; nil for a path that doesn't exist. Until the batch that reports a
  /// deletion, this can be the ID of the deleted object.
  public func objectID(at path: ListPath) -> ManagedObjectID? { shown.objectID(at: path) }

  /// Returns the object at a path; nil for a path that doesn't exist, and for an object that was deleted.
  public func object(at path: ListPath) -> Object? { shown.object(at: path) }
}
