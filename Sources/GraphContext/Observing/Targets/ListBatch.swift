/// A move of an item from one path to another one.
public struct ListMove: Sendable, Hashable {
  /// The path before the batch.
  public let from: ListPath
  /// The path after the batch.
  public let to: ListPath

  /// Makes a move.
  public init(from: ListPath, to: ListPath) {
    (self.from, self.to) = (from, to)
  }
}

/// A move of a section from one position to another one.
public struct ListSectionMove: Sendable, Hashable {
  /// The position before the batch.
  public let from: Int
  /// The position after the batch.
  public let to: Int

  /// Makes a move.
  public init(from: Int, to: Int) {
    (self.from, self.to) = (from, to)
  }
}

/// The changes that a ``ListTarget`` receives in one batch. See there which paths and numbers are those before the
/// batch.
public struct ListBatch: Sendable, Hashable {
  /// Sections that go, descending; before the batch.
  public internal(set) var deletedSections: [Int] = []
  /// Sections that come with their items, ascending; after the batch.
  public internal(set) var insertedSections: [Int] = []
  /// Sections that move with their items, ascending by their new positions. No difference of one list has any:
  /// ``SectionedListAdapter/move(_:to:)``.
  public internal(set) var movedSections: [ListSectionMove] = []
  /// Sections that are read anew, ascending; before the batch. No difference of one list has any.
  public internal(set) var reloadedSections: [Int] = []
  /// Items that go, descending, without those of sections that go; before the batch.
  public internal(set) var deletedItems: [ListPath] = []
  /// Items that come, ascending, without those of sections that come; after the batch.
  public internal(set) var insertedItems: [ListPath] = []
  /// Items that move, ascending by their new paths.
  public internal(set) var movedItems: [ListMove] = []
  /// Items with other values, ascending; before the batch.
  public internal(set) var updatedItems: [ListPath] = []

  /// True if there is nothing to tell.
  public var isEmpty: Bool { self == ListBatch() }

  fileprivate mutating func sort() {
    deletedItems.sort(by: >)
    insertedItems.sort()
    movedItems.sort { $0.to < $1.to }
    updatedItems.sort()
  }
}

extension ListChanges {
  /// The changes as one batch. A move out of a section that goes becomes an insertion, because the section takes the
  /// item along. A move into a section that comes becomes a deletion, because the section brings the item. O(k log k)
  /// for k changes; empty for a reload.
  public var batch: ListBatch {
    var batch = sectionBatch(isDeleting: true, isInserting: true)
    for change in changes {
      let old = change.oldPath.flatMap { newNumber(ofSection: $0.section) == nil ? nil : $0 }
      let new = change.newPath.flatMap { isInserted($0.section) ? nil : $0 }
      switch (old, new) {
      case (let old?, let new?) where change.isMove: batch.movedItems.append(ListMove(from: old, to: new))
      case (let old?, _?): batch.updatedItems.append(old)
      case (let old?, nil): batch.deletedItems.append(old)
      case (nil, let new?): batch.insertedItems.append(new)
      case (nil, nil): break
      }
    }
    batch.sort()
    return batch
  }

  /// The changes as up to four batches, one after the other, for surfaces that can't carry out every mixture of
  /// operations in one batch:
  ///
  /// 1. items with other values, moved ones included;
  /// 2. sections and items that go;
  /// 3. sections that come, still without items;
  /// 4. items that come and move.
  ///
  /// The paths before a batch are those after the previous batch. Batches without operations are left out. Unlike in
  /// ``batch``, an item may move into a section that comes.
  ///
  /// O(k log k) for k changes; none for a reload.
  public var stages: [ListBatch] {
    var updates = ListBatch()
    var deletions = sectionBatch(isDeleting: true, isInserting: false)
    let sections = sectionBatch(isDeleting: false, isInserting: true)
    var rest = ListBatch()
    let gone = changes(.delete).compactMap(\.oldPath).sorted()
    for change in changes {
      let old = change.oldPath.flatMap { newNumber(ofSection: $0.section) == nil ? nil : $0 }
      switch (old, change.newPath) {
      case (let old?, let new?):
        updates.updatedItems.append(old)
        guard change.isMove, let section = newNumber(ofSection: old.section) else { continue }
        let before = gone.insertionIndex(sorted: old) { $0 }
        let first = gone.insertionIndex(sorted: ListPath(section: old.section, item: 0)) { $0 }
        let from = ListPath(section: section, item: old.item - (before - first))
        rest.movedItems.append(ListMove(from: from, to: new))
      case (let old?, nil): deletions.deletedItems.append(old)
      case (nil, let new?): rest.insertedItems.append(new)
      case (nil, nil): break
      }
    }
    return [updates, deletions, sections, rest].filter { !$0.isEmpty }.map { batch in
      var batch = batch
      batch.sort()
      return batch
    }
  }

  private func sectionBatch(isDeleting: Bool, isInserting: Bool) -> ListBatch {
    var batch = ListBatch()
    if isDeleting { batch.deletedSections = deletedSections.reversed().map(\.section) }
    if isInserting { batch.insertedSections = insertedSections.map(\.section) }
    return batch
  }

  private func isInserted(_ section: Int) -> Bool {
    insertedSections.contains(sorted: section, by: \.section)
  }

  /// The changes of the list without its sections.
  var undivided: ListChanges {
    var result = ListChanges([], origin: origin)
    result.isReload = isReload
    result.changes = changes.map { change in
      Change(
        objectID: change.objectID,
        oldPath: change.oldPosition.map { ListPath(item: $0) },
        newPath: change.newPosition.map { ListPath(item: $0) },
        oldPosition: change.oldPosition,
        newPosition: change.newPosition,
        isMove: change.isMove,
        changedProperties: change.changedProperties
      )
    }
    return result
  }
}

extension ListBatch {
  /// Returns the batch for a list that is this section of a surface.
  func inSection(_ section: Int) -> ListBatch {
    func path(_ path: ListPath) -> ListPath { ListPath(section: section, item: path.item) }
    var batch = self
    batch.deletedItems = deletedItems.map(path)
    batch.insertedItems = insertedItems.map(path)
    batch.movedItems = movedItems.map { ListMove(from: path($0.from), to: path($0.to)) }
    batch.updatedItems = updatedItems.map(path)
    return batch
  }
}

extension ListTarget {
  /// Tells of a batch, in the order that the protocol promises.
  func tell(_ batch: ListBatch) {
    func tell<Element>(_ elements: [Element], _ method: ([Element]) -> Void) {
      if !elements.isEmpty { method(elements) }
    }
    tell(batch.deletedSections, deleteSections)
    tell(batch.insertedSections, insertSections)
    tell(batch.movedSections, moveSections)
    tell(batch.reloadedSections, reloadSections)
    tell(batch.deletedItems, deleteItems)
    tell(batch.insertedItems, insertItems)
    tell(batch.movedItems, moveItems)
    tell(batch.updatedItems, reconfigureItems)
  }
}
