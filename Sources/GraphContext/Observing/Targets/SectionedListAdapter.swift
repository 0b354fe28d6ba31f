/// An adapter that shows several lists, of the same or of different models, as the sections of one surface.
///
/// ```swift
/// let adapter = SectionedListAdapter(target: table)
/// adapter.add(favourites, named: "Favourites")
/// adapter.add(songs, named: "All songs")
/// ```
///
/// A list is one section, whatever sections it has itself. The adapter numbers the sections without gaps, in the order
/// in which lists were added: removing one renumbers those after it, and ``move(_:to:)`` moves one to another position.
/// The adapter reports differences to the target as ``ListDataSource`` does. If a list reloads, its section reloads. A
/// list whose context was released has no objects; the target reloads when something else changes next.
///
/// The adapter holds the lists and the target. The target shows the lists for as long as the program holds the adapter.
public final class SectionedListAdapter: ListSource {
  /// The surface.
  public let target: any ListTarget
  /// True if the target receives the changes in batches. If false, it reloads after each difference. The default is
  /// true.
  public var animatesUpdates = true
  /// True if the target receives a difference in ``ListChanges/stages`` rather than in one batch. The default is false.
  public var appliesInStages = false
  /// The closure that is called after the target has been told that a list has changed, been added or removed.
  public var onDidChangeContent: (() -> Void)?
  private var sections: [any AdaptedSection] = []

  /// Shows no list yet on a target, which reloads.
  public init(target: any ListTarget) {
    self.target = target
    target.source = self
    target.reload()
  }

  /// Adds a list as the last section. A list that was added before stays where it is.
  ///
  /// - Returns: the section's number.
  @discardableResult public func add<Object: ManagedObject>(
    _ list: FetchedResults<Object>,
    named name: String = ""
  ) -> Int {
    if let section = section(of: list) { return section }
    let adapted = AdaptedList(list, name)
    adapted.shown.onChange = { [unowned self, unowned adapted] in show($0, of: adapted.shown) }
    var batch = ListBatch()
    batch.insertedSections = [sections.count]
    tell(batch) { sections.append(adapted) }
    return sections.count - 1
  }

  /// Removes a list, and says whether it was there.
  @discardableResult public func remove<Object: ManagedObject>(_ list: FetchedResults<Object>) -> Bool {
    guard let section = section(of: list) else { return false }
    var batch = ListBatch()
    batch.deletedSections = [section]
    tell(batch) { sections.remove(at: section) }
    return true
  }

  /// Moves a list to another position among the others, and says whether it was there.
  ///
  /// - Parameters:
  ///   - list: the list.
  ///   - place: the section's number afterwards; a number behind the end stands for the end.
  @discardableResult public func move<Object: ManagedObject>(
    _ list: FetchedResults<Object>,
    to place: Int
  ) -> Bool {
    guard let section = section(of: list) else { return false }
    let place = max(0, min(place, sections.count - 1))
    if place == section { return true }
    var batch = ListBatch()
    batch.movedSections = [ListSectionMove(from: section, to: place)]
    tell(batch) { sections.insert(sections.remove(at: section), at: place) }
    return true
  }

  /// Returns the number of a list's section; nil for a list that wasn't added.
  public func section<Object: ManagedObject>(of list: FetchedResults<Object>) -> Int? {
    sections.firstIndex { $0.isOf(list) }
  }

  private func show<Object: ManagedObject>(_ changes: ListChanges, of shown: ShownList<Object>) {
    guard let section = section(of: shown.list) else { return }
    if forgetGoneLists() {
      shown.catchUp()
      target.reload()
      onDidChangeContent?()
      return
    }
    if changes.isReload || !isAnimated {
      var batch = ListBatch()
      batch.reloadedSections = [section]
      return tell(batch) { shown.catchUp() }
    }
    shown.show(changes, in: target, inStages: appliesInStages, section: section)
    onDidChangeContent?()
  }

  private var isAnimated: Bool { animatesUpdates && target.isVisible }

  /// Finds lists whose context was released. Such lists have no objects from then on, and don't report that. So a
  /// surface that still shows their objects can't receive a difference.
  ///
  /// - Returns: whether there are such lists that the surface hasn't been told of.
  private func forgetGoneLists() -> Bool {
    let gone = sections.filter { $0.isGone && !$0.isShownAsGone }
    for section in gone { section.isShownAsGone = true }
    return !gone.isEmpty
  }

  private func tell(_ batch: ListBatch, replacingData: () -> Void) {
    if !forgetGoneLists(), isAnimated {
      target.performBatchUpdates {
        replacingData()
        target.tell(batch)
      }
    } else {
      replacingData()
      target.reload()
    }
    onDidChangeContent?()
  }

  // MARK: The shown content

  /// The number of lists.
  public var sectionCount: Int { sections.count }

  /// Returns how many objects a list has; nil for a section that doesn't exist.
  public func itemCount(inSection section: Int) -> Int? { self[section]?.count }

  /// Returns the name that a list was added with; nil for a section that doesn't exist.
  public func sectionName(_ section: Int) -> String? { self[section]?.name }

  /// Returns the ID of the object at a path; nil for a path that doesn't exist. Until the batch that reports a
  /// deletion, this can be the ID of the deleted object.
  public func objectID(at path: ListPath) -> ManagedObjectID? { self[path.section]?.objectID(at: path.item) }

  /// Returns the object at a path; nil for a path that doesn't exist, and for an object that was deleted.
  public func object(at path: ListPath) -> (any ManagedObject)? { self[path.section]?.object(at: path.item) }

  private subscript(section: Int) -> (any AdaptedSection)? {
    sections.indices.contains(section) ? sections[section] : nil
  }
}

/// A list of any model as a section.
private protocol AdaptedSection: AnyObject {
  var name: String { get }
  var count: Int { get }
  /// True if the list's context was released.
  var isGone: Bool { get }
  /// True if the surface has been told that the context was released.
  var isShownAsGone: Bool { get set }
  func isOf(_ list: AnyObject) -> Bool
  func objectID(at position: Int) -> ManagedObjectID?
  func object(at position: Int) -> (any ManagedObject)?
}

private final class AdaptedList<Object: ManagedObject>: AdaptedSection {
  let shown: ShownList<Object>
  let name: String
  var isShownAsGone = false

  init(_ list: FetchedResults<Object>, _ name: String) {
    shown = ShownList(list, isDivided: false)
    self.name = name
  }

  var count: Int { shown.section(0)?.count ?? 0 }
  var isGone: Bool { shown.list.context == nil }
  func isOf(_ list: AnyObject) -> Bool { shown.list === list }
  func objectID(at position: Int) -> ManagedObjectID? { shown.objectID(at: ListPath(item: position)) }
  func object(at position: Int) -> (any ManagedObject)? { shown.object(at: ListPath(item: position)) }
}
