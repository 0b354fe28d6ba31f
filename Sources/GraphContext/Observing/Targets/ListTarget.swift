/// A surface that shows a list: a table of a graphical interface, lines of a terminal.
///
/// A ``ListDataSource`` or a ``SectionedListAdapter`` drives it. The target asks its ``source`` what to show, and keeps what it has shown until it is told otherwise.
///
/// Of a change, either ``reload()`` is called, or ``performBatchUpdates(_:)`` once or, in stages, some times. Within a batch each method is called at most once, in the order in
/// which they stand here, and none without an element. Two kinds of paths and section numbers, as in UIKit:
///
/// - those of what goes, is shown anew, or moves from somewhere are **before** the batch;
/// - those of what comes, or moves to somewhere, are **after** the batch.
///
/// So a target collects the calls of a batch, and at its end takes away what goes and what moves, then puts in what comes and what moves, in ascending order of the new
/// paths. A section that goes takes its items along, and one that comes brings its items: there are no calls for these.
public protocol ListTarget: AnyObject {
  /// What the target shows. Who drives the target sets it, and then calls ``reload()``. The target should hold it weakly, because it is held by it.
  var source: (any ListSource)? { get set }
  /// Whether the target is on screen. It is told to reload, and of no batch, while it isn't.
  var isVisible: Bool { get }
  /// Whether an item that the target has been told of is on screen, by its path before the batch. New values of one that isn't are not told: the target reads them when it
  /// comes on screen. True unless the target says otherwise.
  func isItemVisible(at path: ListPath) -> Bool

  /// Reads everything anew.
  func reload()
  /// Calls `updates` once, before it returns, and shows what that tells. The source has the old state until `updates` runs, and the new one afterwards.
  func performBatchUpdates(_ updates: () -> Void)

  /// Sections have gone; descending, before the batch.
  func deleteSections(_ sections: [Int])
  /// Sections have come; ascending, after the batch.
  func insertSections(_ sections: [Int])
  /// Sections have another place, with their items; ascending by their new numbers.
  func moveSections(_ moves: [ListSectionMove])
  /// All items of sections are to be read anew; ascending, before the batch.
  func reloadSections(_ sections: [Int])
  /// Items have gone; descending, before the batch.
  func deleteItems(at paths: [ListPath])
  /// Items have come; ascending, after the batch.
  func insertItems(at paths: [ListPath])
  /// Items have another place, ascending by that, and other values as a rule: they are to be read anew.
  func moveItems(_ moves: [ListMove])
  /// Items have other values, and keep their place; ascending, before the batch. An item may be shown anew without being replaced.
  func reconfigureItems(at paths: [ListPath])
}

extension ListTarget {
  /// True.
  public func isItemVisible(at path: ListPath) -> Bool { true }
}

/// What a ``ListTarget`` shows: how many sections and items there are, and which objects these are.
public protocol ListSource: AnyObject {
  /// How many sections there are.
  var sectionCount: Int { get }
  /// How many items a section has; nil for a section that doesn't exist.
  func itemCount(inSection section: Int) -> Int?
  /// The name of a section; nil for one that doesn't exist.
  func sectionName(_ section: Int) -> String?
  /// The ID of the object at a path; nil for a path that doesn't exist. It may be that of an object that is gone, until the batch that says so.
  func objectID(at path: ListPath) -> ManagedObjectID?
}
