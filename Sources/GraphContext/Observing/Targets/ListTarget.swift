/// A surface that shows a list: a table of a graphical interface, lines of a terminal.
///
/// A ``ListDataSource`` or a ``SectionedListAdapter`` drives it. The target asks its ``source`` what to show, and shows
/// it until a method tells it otherwise.
///
/// For a change, either ``reload()`` is called, or ``performBatchUpdates(_:)`` once or, in stages, several times.
/// Within a batch each method is called at most once, in the order in which they stand here, and only with at least one
/// element. There are two kinds of paths and section numbers, as in UIKit:
///
/// - those of elements that go or are shown anew, and the beginnings of moves, are **before** the batch;
/// - those of elements that come, and the ends of moves, are **after** the batch.
///
/// So a target collects the calls of a batch. At its end the target takes away the elements that go or move, then puts
/// in the elements that come or move, in ascending order of the new paths. A section that goes takes its items along,
/// and one that comes brings its items: there are no calls for these.
public protocol ListTarget: AnyObject {
  /// The content that the target shows. The driver of the target sets it, and then calls ``reload()``. The target
  /// should hold the source weakly, because the source holds the target.
  var source: (any ListSource)? { get set }
  /// True if the target is on screen. While it isn't, it is told to reload, and receives no batches.
  var isVisible: Bool { get }
  /// Returns whether an item that the target knows is on screen, by its path before the batch. The target isn't told of
  /// new values of an item that isn't on screen: it reads them when the item comes on screen. True unless the target
  /// says otherwise.
  func isItemVisible(at path: ListPath) -> Bool

  /// Reads everything anew.
  func reload()
  /// Calls `updates` once, before it returns, and shows the changes that it reports. The source has the old state until
  /// `updates` runs, and the new one afterwards.
  func performBatchUpdates(_ updates: () -> Void)

  /// Notes that sections were removed; descending, before the batch.
  func deleteSections(_ sections: [Int])
  /// Notes that sections were added; ascending, after the batch.
  func insertSections(_ sections: [Int])
  /// Notes that sections have moved, with their items; ascending by their new numbers.
  func moveSections(_ moves: [ListSectionMove])
  /// Notes that all items of sections are to be read anew; ascending, before the batch.
  func reloadSections(_ sections: [Int])
  /// Notes that items were removed; descending, before the batch.
  func deleteItems(at paths: [ListPath])
  /// Notes that items were added; ascending, after the batch.
  func insertItems(at paths: [ListPath])
  /// Notes that items have moved, ascending by their new paths. As a rule they have other values, too: they are to be
  /// read anew.
  func moveItems(_ moves: [ListMove])
  /// Notes that items have other values, and keep their position; ascending, before the batch. An item may be shown
  /// anew without being replaced.
  func reconfigureItems(at paths: [ListPath])
}

extension ListTarget {
  /// Returns true.
  public func isItemVisible(at path: ListPath) -> Bool { true }
}

/// The content that a ``ListTarget`` shows: the numbers of sections and items, and the objects.
public protocol ListSource: AnyObject {
  /// The number of sections.
  var sectionCount: Int { get }
  /// Returns how many items a section has; nil for a section that doesn't exist.
  func itemCount(inSection section: Int) -> Int?
  /// Returns the name of a section; nil for one that doesn't exist.
  func sectionName(_ section: Int) -> String?
  /// Returns the ID of the object at a path; nil for a path that doesn't exist. Until the batch that reports a
  /// deletion, this can be the ID of the deleted object.
  func objectID(at path: ListPath) -> ManagedObjectID?
}
