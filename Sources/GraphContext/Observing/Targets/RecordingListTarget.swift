/// A surface without a screen, for tests of programs: it records its calls, and keeps what a real surface would show.
///
/// ```swift
/// let table = RecordingListTarget()
/// let source = ListDataSource(songs, target: table)
/// song.title = "Zebra"
/// context.processPendingChanges()
/// #expect(table.calls == [.reload, .beginBatch, .moveItems([ListMove(from: ListPath(item: 0), to: ListPath(item: 9))]), .endBatch])
/// #expect(table.violations.isEmpty)
/// ```
///
/// Where a table of UIKit would raise an exception because of the calls, the target notes a violation. Violations are
/// paths that don't exist, an item that goes twice, and a source that changes outside a batch or has another number of
/// items than the batch leads to.
public final class RecordingListTarget<Item>: ListTarget {
  /// The content that the target shows.
  public weak var source: (any ListSource)?
  /// True if the target pretends to be on screen. The default is true.
  public var isVisible = true
  /// A closure that returns true for the paths of items that pretend to be on screen: for all unless it is set.
  public var visibleItems: (ListPath) -> Bool = { _ in true }
  /// The calls so far. To begin anew, set it to an empty array.
  public var calls: [ListTargetCall] = []
  /// The mistakes in calls, a sentence each.
  public private(set) var violations: [String] = []
  private let item: (ManagedObjectID) -> Item
  private var sections: [ShownSection] = []
  /// The operations of the batch so far.
  private var batch: ListBatch?

  private final class ShownItem {
    var item: Item?
  }

  private final class ShownSection {
    var items: [ShownItem]
    init(_ items: [ShownItem]) { self.items = items }
  }

  /// Makes a target.
  ///
  /// - Parameter item: reads the values that are shown of an object. It is called when a surface would draw the item.
  public init(_ item: @escaping (ManagedObjectID) -> Item) { self.item = item }

  /// The items that the target shows, by section. Items whose new values weren't reported show the old ones.
  public var shown: [[Item]] { sections.map { $0.items.compactMap(\.item) } }

  /// Returns whether an item pretends to be on screen.
  public func isItemVisible(at path: ListPath) -> Bool { visibleItems(path) }

  /// Reads everything anew.
  public func reload() {
    calls.append(.reload)
    if batch != nil { violations.append("a reload within a batch") }
    sections = (0..<(source?.sectionCount ?? 0)).map { ShownSection(readItems(inSection: $0)) }
  }

  /// Carries out the changes that `updates` reports.
  public func performBatchUpdates(_ updates: () -> Void) {
    calls.append(.beginBatch)
    if batch != nil { violations.append("a batch within a batch") }
    checkCounts("before a batch")
    batch = ListBatch()
    updates()
    if let batch { carryOut(batch) }
    batch = nil
    checkCounts("after a batch")
    calls.append(.endBatch)
  }

  /// Notes that sections go.
  public func deleteSections(_ sections: [Int]) {
    note(.deleteSections(sections)) { $0.deletedSections += sections }
  }

  /// Notes that sections come.
  public func insertSections(_ sections: [Int]) {
    note(.insertSections(sections)) { $0.insertedSections += sections }
  }

  /// Notes that sections move.
  public func moveSections(_ moves: [ListSectionMove]) {
    note(.moveSections(moves)) { $0.movedSections += moves }
  }

  /// Notes that sections are to be read anew.
  public func reloadSections(_ sections: [Int]) {
    note(.reloadSections(sections)) { $0.reloadedSections += sections }
  }

  /// Notes that items go.
  public func deleteItems(at paths: [ListPath]) { note(.deleteItems(paths)) { $0.deletedItems += paths } }

  /// Notes that items come.
  public func insertItems(at paths: [ListPath]) { note(.insertItems(paths)) { $0.insertedItems += paths } }

  /// Notes that items move.
  public func moveItems(_ moves: [ListMove]) { note(.moveItems(moves)) { $0.movedItems += moves } }

  /// Notes that items have other values.
  public func reconfigureItems(at paths: [ListPath]) {
    note(.reconfigureItems(paths)) { $0.updatedItems += paths }
  }

  private func note(_ call: ListTargetCall, _ change: (inout ListBatch) -> Void) {
    calls.append(call)
    if batch == nil { return violations.append("outside a batch: \(call)") }
    change(&batch!)
  }
}

// MARK: - Carrying out

extension RecordingListTarget {
  private func readItems(inSection section: Int) -> [ShownItem] {
    (0..<(source?.itemCount(inSection: section) ?? 0)).map { item in
      let shown = ShownItem()
      read(shown, at: ListPath(section: section, item: item))
      return shown
    }
  }

  private func read(_ shown: ShownItem, at path: ListPath) {
    guard let id = source?.objectID(at: path) else { return violations.append("no object is at \(path)") }
    shown.item = item(id)
  }

  private func checkCounts(_ time: String) {
    let counts = (0..<(source?.sectionCount ?? 0)).map { source?.itemCount(inSection: $0) ?? 0 }
    let own = sections.map(\.items.count)
    if own != counts { violations.append("\(time) the target has \(own) items, and the source \(counts)") }
  }

  /// Returns the section of a number before the batch.
  private func section(_ number: Int, _ call: String) -> ShownSection? {
    if sections.indices.contains(number) { return sections[number] }
    violations.append("\(call): there is no section \(number)")
    return nil
  }

  /// Returns the items of paths before the batch.
  private func items(at paths: [ListPath], _ call: String, _ gone: Set<Int>) -> [ShownItem?] {
    paths.map { path in
      guard let section = section(path.section, call) else { return nil }
      if gone.contains(path.section) { violations.append("\(call): the section of \(path) goes") }
      if section.items.indices.contains(path.item) { return section.items[path.item] }
      violations.append("\(call): there is no item at \(path)")
      return nil
    }
  }

  private func carryOut(_ batch: ListBatch) {
    let gone = Set(batch.deletedSections)
    let deleted = items(at: batch.deletedItems, "deleteItems", gone)
    let moved = items(at: batch.movedItems.map(\.from), "moveItems", gone)
    let updated = items(at: batch.updatedItems, "reconfigureItems", gone)
    let goneSections = batch.deletedSections.compactMap { section($0, "deleteSections") }
    let movedSections = batch.movedSections.map { section($0.from, "moveSections") }
    let reloaded = batch.reloadedSections.compactMap { section($0, "reloadSections") }
    checkOnce((deleted + moved + updated).compactMap { $0 }, "an item goes, moves or is updated twice")
    checkOnce(
      goneSections + movedSections.compactMap { $0 } + reloaded,
      "a section goes, moves or is reloaded twice"
    )

    let leaving = Set((deleted + moved).compactMap { $0 }.map(ObjectIdentifier.init))
    for section in sections { section.items.removeAll { leaving.contains(ObjectIdentifier($0)) } }
    sections.removeAll { section in (goneSections + movedSections).contains { $0 === section } }
    putSections(batch, movedSections)
    put(batch, moved)
    redraw(reloaded, updated.compactMap { $0 })
  }

  /// Puts in the sections that come and those that move.
  private func putSections(_ batch: ListBatch, _ moved: [ShownSection?]) {
    var arrivals = batch.insertedSections.map { (number: $0, section: ShownSection?.none) }
    for (move, section) in zip(batch.movedSections, moved) {
      if let section { arrivals.append((move.to, section)) }
    }
    for (number, section) in arrivals.sorted(by: { $0.number < $1.number }) {
      if number > sections.count {
        violations.append("a section can't come to \(number)")
      } else {
        sections.insert(section ?? ShownSection(readItems(inSection: number)), at: number)
      }
    }
  }

  /// Puts in the items that come and those that move.
  private func put(_ batch: ListBatch, _ moved: [ShownItem?]) {
    var arrivals = batch.insertedItems.map { (path: $0, item: ShownItem()) }
    for (move, item) in zip(batch.movedItems, moved) {
      if let item { arrivals.append((move.to, item)) }
    }
    for (path, item) in arrivals.sorted(by: { $0.path < $1.path }) {
      guard sections.indices.contains(path.section), !batch.insertedSections.contains(path.section),
        (0...sections[path.section].items.count).contains(path.item)
      else {
        violations.append("an item can't come to \(path)")
        continue
      }
      sections[path.section].items.insert(item, at: path.item)
      read(item, at: path)
    }
  }

  /// Reads items anew that were in the target before, where they are now.
  private func redraw(_ reloaded: [ShownSection], _ updated: [ShownItem]) {
    let updated = Set(updated.map(ObjectIdentifier.init))
    for (number, section) in sections.enumerated() {
      if reloaded.contains(where: { $0 === section }) {
        section.items = readItems(inSection: number)
      } else if !updated.isEmpty {
        for (place, item) in section.items.enumerated() where updated.contains(ObjectIdentifier(item)) {
          read(item, at: ListPath(section: number, item: place))
        }
      }
    }
  }

  private func checkOnce(_ objects: [AnyObject], _ violation: String) {
    if Set(objects.map(ObjectIdentifier.init)).count < objects.count { violations.append(violation) }
  }
}

extension RecordingListTarget where Item == ManagedObjectID {
  /// Makes a target that shows IDs.
  public convenience init() { self.init { $0 } }
}
