import Cambium

/// Some rows of a list on a terminal, which are drawn again when one of them changes.
final class TerminalListTarget: ListTarget {
  weak var source: (any ListSource)?
  let isVisible = true
  /// Positions of the rows in the whole list.
  let rows: Range<Int>
  /// Called with the rows that were inserted, moved or changed since the last time.
  var draw: (Set<ManagedObjectID>) -> Void = { _ in }
  private var marked: Set<ManagedObjectID> = []

  init(rows: Range<Int>) { self.rows = rows }

  /// The paths of the existing rows. O(sections).
  var paths: [ListPath] {
    guard let source else { return [] }
    var (paths, start) = ([ListPath](), 0)
    for section in 0..<source.sectionCount where start < rows.upperBound {
      let end = start + (source.itemCount(inSection: section) ?? 0)
      for position in rows.clamped(to: start..<end) {
        paths.append(ListPath(section: section, item: position - start))
      }
      start = end
    }
    return paths
  }

  func isItemVisible(at path: ListPath) -> Bool { paths.contains(path) }

  func reload() { draw([]) }

  func performBatchUpdates(_ updates: () -> Void) {
    marked = []
    updates()
    draw(marked)
  }

  // A section that appears or disappears changes rows, and everything is drawn anyway.
  func deleteSections(_ sections: [Int]) {}
  func insertSections(_ sections: [Int]) {}
  func moveSections(_ moves: [ListSectionMove]) {}
  func reloadSections(_ sections: [Int]) {}
  func deleteItems(at paths: [ListPath]) {}
  func insertItems(at paths: [ListPath]) { mark(paths) }
  func moveItems(_ moves: [ListMove]) { mark(moves.map(\.to)) }
  // A batch that changes values alone leaves the paths as they are.
  func reconfigureItems(at paths: [ListPath]) { mark(paths) }

  private func mark(_ paths: [ListPath]) { marked.formUnion(paths.compactMap { source?.objectID(at: $0) }) }
}
