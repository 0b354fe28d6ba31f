import Predicates

/// The objects that a query describes, as a live collection: it follows its context, and tells what changes.
///
/// ```swift
/// let songs = try FetchedResults(From<Song>().orderBy(\.title), in: context)
/// let subscription = songs.onChange { changes in
///   for event in changes.events { print(event) }
/// }
/// print(songs.count, songs[0].title)
/// ```
///
/// The list shows the results that a fetch of the query would give at the time of the context's last event: unsaved
/// changes of the context, commits that it has moved to, undone and rolled back changes. It changes after each turn,
/// and within calls such as `save()` that tell of changes first, as ``ManagedObjectContext/onObjectsDidChange(_:)``
/// says. A `for` loop goes through the objects that were there when it began. It depends on every property along the
/// paths of its condition, order and sections: renaming an album moves its songs.
///
/// If condition and order are one range of an index, the index counts positions. The list holds no IDs then, and *k*
/// changes in a list of *n* cost O(*k* log *n*). Any other list holds 8 bytes for each object. A change of such a list
/// costs a pass over them, and a list with a limit, or whose condition goes through to-many relationships, is fetched
/// again. ``isRanked`` and ``explain()`` say which.
///
/// Objects are read in groups, when the program reads one of them. A list belongs to the task of its context, like an
/// object. It follows for as long as the program holds it or a subscription of
/// ``ContextObserver/onChange(notifyInitial:_:)``. Once the context is released, the list is empty.
public final class FetchedResults<Object: ManagedObject>: ContextObserver<ListChanges> {
  /// The query.
  public private(set) var request: From<Object>
  /// The rule that divides the list; nil for a list of one section.
  public private(set) var sectionedBy: SectionedBy<Object>?
  /// The error that prevented reading the list at the last event of its context; nil if there was none. After an error
  /// the list shows the state before. It is fetched again at each further event, unless it is paused, and by
  /// ``refetch(_:)``; once that succeeds, the list tells of a reload.
  public private(set) var failure: ContextError?
  private(set) var list: LiveList
  var sectioning: ListSections?
  let failureAudience = Audience<ContextError>()
  var observers: [ObserverBox<Object>] = []
  private var subscriptions: [ContextSubscription] = []
  /// Objects that are read together.
  private var page: (start: Int, objects: [Object]) = (0, [])
  /// The number of changes of the list so far.
  private(set) var version = 0
  private var hasMissedChanges = false
  /// The changes of events that the list doesn't show yet, because other events were waiting.
  private var untold: ObjectChanges?
  /// True while observers and listeners are told of a difference.
  var isTelling = false
  /// The newest of the fetches that wait until all observers and listeners have received the difference, and the number
  /// of these fetches.
  private var awaited: (request: From<Object>, sectionedBy: SectionedBy<Object>?, count: Int)?

  /// The number of objects that are read together.
  private static var pageCount: Int { 64 }

  /// Fetches the list.
  ///
  /// - Parameters:
  ///   - request: the query. Limit and offset are allowed.
  ///   - sectionedBy: what divides the list. The first key of the request's order must be that of the sections.
  ///   - context: the context that the list follows.
  /// - Throws: what ``ManagedObjectContext/fetch(_:)-(From<Root>)`` throws; `invalidQuery` also where the first key of
  ///   the order isn't that of the sections, and for a request without unsaved changes.
  public init(
    _ request: From<Object>,
    sectionedBy: SectionedBy<Object>? = nil,
    in context: ManagedObjectContext
  ) throws(ContextError) {
    self.request = request
    self.sectionedBy = sectionedBy
    // The changes that were noted so far are in the list already.
    context.tellBeforeObserving()
    (list, sectioning) = try Self.fetched(request, sectionedBy, in: context)
    super.init(.reload, of: context)
    let end = ContextEnd { [weak self] in self?.end() }
    subscriptions = [
      context.onObjectsDidChange { [weak self] changes in
        withExtendedLifetime(end) { self?.follow(changes) }
      },
      context.onDidComplete { [weak self] in self?.moveOn() },
    ]
  }

  private static func fetched(
    _ request: From<Object>,
    _ sectionedBy: SectionedBy<Object>?,
    in context: ManagedObjectContext
  ) throws(ContextError) -> (LiveList, ListSections?) {
    let query = try context.observedQuery(request)
    guard let sectionedBy else { return (try LiveList(query, section: nil, in: context), nil) }
    let entity = try context.modelEntity(of: Object.self)
    let schema = context.coordinator.schema
    let path = try ContextError.resolving { () throws(QueryError) in
      let entity = schema.entitySchema(of: Object.self, entity)
      let path = try PathResolver(entity: entity, schema: schema.schema).resolve(sectionedBy.names.get()).path
      try path.checkComparable("divided")
      guard query.sort.first?.path == path else {
        throw QueryError(
          .arguments,
          "A list that is divided by “\(path.name)” must be sorted by it first.",
          keyPath: path.name
        )
      }
      return path
    }
    let list = try LiveList(query, section: path, in: context)
    var sections = ListSections(path, name: sectionedBy.name)
    try sections.read(list, in: context)
    return (list, sections)
  }

  /// True if positions are counted by an index, so that the list holds no IDs.
  public var isRanked: Bool { list.isRanked }

  /// Entries of trees that the list has read since it was made, to find positions and objects: records, and entries of
  /// indexes.
  public var entriesWalked: Int { list.entriesWalked }

  /// Bytes of memory that the list holds, about: 8 for each object of a list that isn't by rank, 24 for each section
  /// that is held, and some for each unsaved object of a list by rank. Memory of objects counts for the context, memory
  /// of pages for the store.
  public var byteCount: Int { list.byteCount + (sectioning?.runs.byteCount ?? 0) }

  /// Removes an observer or an owner, which receives nothing from now on, not even the rest of a difference.
  public override func removeObserver(_ observer: AnyObject) {
    observers.first { $0.isOf(observer) }?.remove()
    observers.removeAll(where: \.isGone)
    super.removeObserver(observer)
  }

  /// Returns the plan that answers the list's query, with a line that says how the list finds positions.
  public func explain() throws(ContextError) -> QueryPlan {
    guard let context else { throw ContextError.contextGone() }
    // A list reads whole records.
    var query = list.query
    query.fetchedProperties = nil
    var plan = try context.explain(query, analyze: false)
    plan.listing = isRanked ? .byRank : .byNumbers(list.count)
    return plan
  }
}

// MARK: - Reading

extension FetchedResults: RandomAccessCollection {
  /// 0.
  public var startIndex: Int { 0 }
  /// The number of objects.
  public var endIndex: Int { context == nil ? 0 : list.count }

  /// Returns the object at a position. O(1) for objects that are read together, else O(log n) for a list by rank.
  ///
  /// The position must exist. If the store can't be read, the result is an object that stands for no stored one, and
  /// the context throws the error later, as ``ManagedObjectContext`` says.
  public subscript(position: Int) -> Object {
    guard position >= 0, position < endIndex else {
      fatalError("position \(position) of a list of \(endIndex) objects")
    }
    if !(page.start..<page.start + page.objects.count).contains(position) {
      guard let context else { fatalError("a list without a context has no objects") }
      let page = readPage(with: position, in: context)
      // A page that can't be read now may be readable later.
      if position - page.start >= page.objects.count { return context.object(Object.self, number: .none) }
      self.page = page
    }
    return page.objects[position - page.start]
  }

  /// Returns the object at a path: `list[section: 1, item: 2]`. The path must exist.
  ///
  /// If the store can't be read, the result is an object that stands for no stored one, and the context throws the
  /// error later.
  public subscript(section section: Int, item item: Int) -> Object {
    let found = sections[section]
    guard item >= 0, item < found.count else {
      if let context, !isKnown(section: section) { return context.object(Object.self, number: .none) }
      fatalError("item \(item) of a section of \(found.count) objects")
    }
    return self[found.range.lowerBound + item]
  }

  /// Returns the object at a path. The path must exist.
  public subscript(path: ListPath) -> Object { self[section: path.section, item: path.item] }

  /// Returns the object at a position; nil if there is none.
  public subscript(safe position: Int) -> Object? {
    position >= 0 && position < endIndex ? self[position] : nil
  }

  /// Returns the object at a path; nil if there is none.
  public subscript(safe path: ListPath) -> Object? {
    guard hasSection(path.section) else { return nil }
    let range = section(at: path.section).range
    return path.item >= 0 && path.item < range.count ? self[range.lowerBound + path.item] : nil
  }

  /// Returns the IDs of the objects at some positions. No object is made for them. Positions that don't exist are left
  /// out.
  ///
  /// - Throws: `store` or `corrupt` if the store can't be read.
  public func objectIDs(at positions: Range<Int>) throws(ContextError) -> [ManagedObjectID] {
    guard let context else { return [] }
    return try list.numbers(at: positions.clamped(to: 0..<list.count)).map { context.id($0, list.entity) }
  }

  /// Returns the position of an object of the context; nil if it isn't in the list. O(log n) for a list by rank, else
  /// O(n).
  public func position(of object: Object) -> Int? {
    guard let context, object._$state.host === context else { return nil }
    return context.deferringError(nil) { () throws(ContextError) in
      try list.position(of: object._$state.number)
    }
  }

  /// Returns the path of an object of the context; nil if it isn't in the list.
  public func path(of object: Object) -> ListPath? { position(of: object).map(path(at:)) }

  /// Reads the page that a position is in. The page has no objects if the store can't be read.
  private func readPage(
    with position: Int,
    in context: ManagedObjectContext
  ) -> (start: Int, objects: [Object]) {
    let start = position / Self.pageCount * Self.pageCount
    let range = start..<Swift.min(start + Self.pageCount, endIndex)
    let objects: [Object] = context.deferringError([]) { () throws(ContextError) in
      try context.objects(Object.self, list.numbers(at: range), list.entity)
    }
    return (start, objects)
  }
}

extension ManagedObjectContext {
  /// Returns the objects of some numbers. The records of objects that aren't in memory are read together.
  func objects<Object: ManagedObject>(
    _ type: Object.Type,
    _ numbers: [ObjectNumber],
    _ entity: StoredEntity
  ) throws(ContextError) -> [Object] {
    if kept.areManyForFetch(source.keptByteCount) { releaseKept() }
    let missing = numbers.filter { entities[entity.ordinal].known[$0] == nil }
    let records = try source.records(missing[...], of: entity, byteLimit: MemberReading.batchByteLimit)
    let found = Dictionary(zip(missing, records)) { first, _ in first }
    return numbers.map { number in
      if let record = found[number] ?? nil {
        return object(type, number: number, record: record, entity.ordinal)
      }
      // A list that is about to change may still have objects that other contexts have deleted.
      return objectOrGone(number, entity)
    }
  }
}

// MARK: - Following

extension FetchedResults {
  /// Follows the context again. If it has changed meanwhile, the list is fetched again, and tells of a reload.
  ///
  /// - Throws: what the fetch throws; the list then stays paused.
  public func resume() throws(ContextError) {
    guard isPaused else { return }
    if hasMissedChanges || failure != nil { return try refetch() }
    isPaused = false
    // A save of the context may have moved it on.
    moveOn()
  }

  /// Fetches the list again, with another query if one is given, and tells of a reload. A list that is paused follows
  /// its context again, and one with a ``failure`` has none afterwards.
  ///
  /// If the list is reporting a difference, it shows the new results once all observers and listeners have received the
  /// difference.
  ///
  /// - Throws: what the fetch throws; the list then stays as it is.
  public func refetch(_ request: From<Object>? = nil) throws(ContextError) {
    try refetch(
      request ?? awaited?.request ?? self.request,
      sectionedBy: awaited.map(\.sectionedBy) ?? sectionedBy
    )
  }

  /// Fetches the list again, with another query and other sections, or none, and tells of a reload. A list that is
  /// paused follows again.
  ///
  /// - Throws: what the initializer throws; the list then stays as it is.
  public func refetch(_ request: From<Object>, sectionedBy: SectionedBy<Object>?) throws(ContextError) {
    guard let context else { throw ContextError.contextGone() }
    context.tellBeforeObserving()
    let (list, sections) = try Self.fetched(request, sectionedBy, in: context)
    (isPaused, hasMissedChanges) = (false, false)
    show(list, sections, request, sectionedBy, in: context)
  }

  /// Shows a list that was fetched again: at once, or, if a difference is being reported, once all observers and
  /// listeners have received it.
  private func show(
    _ list: LiveList,
    _ sections: ListSections?,
    _ request: From<Object>,
    _ sectionedBy: SectionedBy<Object>?,
    in context: ManagedObjectContext
  ) {
    func show() {
      telling {
        (self.list, sectioning) = (list, sections)
        (self.request, self.sectionedBy) = (request, sectionedBy)
        (failure, untold) = (nil, nil)
        hasChanged()
        return .reload
      }
    }
    guard isTelling else { return context.eventQueue.holding(show) }
    awaited = (request, sectionedBy, (awaited?.count ?? 0) + 1)
    context.eventQueue.add {
      self.awaited?.count -= 1
      if self.awaited?.count == 0 { self.awaited = nil }
      show()
    }
  }

  private func hasChanged() {
    page = (0, [])
    version += 1
  }

  /// Handles the release of the context: listeners receive nothing any more.
  private func end() {
    audience.end()
    failureAudience.end()
    observers = []
  }

  private func follow(_ changes: ObjectChanges) {
    audience.releaseEnded()
    failureAudience.releaseEnded()
    guard let context else { return }
    if isPaused {
      hasMissedChanges = true
      return
    }
    if untold?.append(changes) == nil { untold = changes }
    // The events that wait have happened by now, so the list shows the state that the context shows.
    context.tellOfUntold()
    if !context.hasWaitingEvents { showUntold() }
  }

  /// Shows the changes of the events so far.
  private func showUntold() {
    guard let context, let changes = untold.take() else { return }
    do throws(ContextError) {
      let next = try Cancellation.ignored { () throws(ContextError) in
        if failure == nil { return try self.next(after: changes, in: context) }
        let (list, sections) = try Self.fetched(request, sectionedBy, in: context)
        return .reload(list, sections)
      }
      switch next {
      case .step(let step, _, _) where step.changes.isEmpty: list.take(step)
      case .step(let step, let sections, let difference):
        telling {
          list.take(step)
          sectioning = sections
          hasChanged()
          return listChanges(step.changes, difference, changes, context)
        }
      case .reload(let list, let sections):
        show(list, sections, request, sectionedBy, in: context)
      }
    } catch {
      fail(error, in: context)
    }
  }

  /// Keeps the state that the list shows, and reports the error. At the next event the list tries again.
  private func fail(_ error: ContextError, in context: ManagedObjectContext) {
    let isKnown = failure?.code == error.code
    failure = error
    if !isKnown { tellFailure(error, in: context) }
  }

  /// The next state of a list after a change.
  private enum Next {
    case step(LiveList.Step, ListSections?, ListSections.Difference?)
    case reload(LiveList, ListSections?)
  }

  /// Reads the next state of the list. Until the caller takes it, the list shows the state before.
  private func next(
    after changes: ObjectChanges,
    in context: ManagedObjectContext
  ) throws(ContextError) -> Next {
    // Sections are those of the whole state that the context shows.
    if !changes.invalidatesAll, sectioning == nil || !context.showsUntoldChanges {
      let step = try list.step(after: changes)
      guard var sections = sectioning, !step.changes.isEmpty else { return .step(step, sectioning, nil) }
      sections.releaseMany(list)
      do throws(ContextError) {
        try sections.hold(around: step.changes, in: list)
      } catch  where error.code == .invalidQuery {
        // The program's closure gives other names than before.
        let (list, sections) = try Self.fetched(request, sectionedBy, in: context)
        return .reload(list, sections)
      }
      // Until the step is taken, observers look at the same sections.
      sectioning = sections
      let names = try sections.names(of: step.changes, list.query, in: context)
      if let difference = sections.update(step.changes, names) { return .step(step, sections, difference) }
    }
    let (list, sections) = try Self.fetched(request, sectionedBy, in: context)
    return .reload(list, sections)
  }

  /// Moves on after a save: the same objects are at the same positions, but of another commit.
  private func moveOn() {
    guard let context, failure == nil, !isPaused else { return }
    // That isn't so if there are unsaved changes that no event has reported.
    if context.hasWaitingEvents || context.showsUntoldChanges { return }
    do throws(ContextError) {
      try Cancellation.ignored { () throws(ContextError) in try list.moveOn() }
    } catch {
      fail(error, in: context)
    }
  }

  private func listChanges(
    _ changes: [PositionChange],
    _ difference: ListSections.Difference?,
    _ cause: ObjectChanges,
    _ context: ManagedObjectContext
  ) -> ListChanges {
    var result = ListChanges([], origin: cause.origin)
    result.author = cause.author
    result.insertedSections = difference?.inserted ?? []
    result.deletedSections = difference?.deleted ?? []
    result.changes = changes.enumerated().map { index, change in
      let paths =
        difference?.paths[index]
        ?? (old: change.old.map { ListPath(item: $0) }, new: change.new.map { ListPath(item: $0) })
      let id = context.id(change.number, list.entity)
      let stays = paths.old.map { result.newNumber(ofSection: $0.section) == paths.new?.section } ?? false
      return ListChanges.Change(
        objectID: id,
        oldPath: paths.old,
        newPath: paths.new,
        oldPosition: change.old,
        newPosition: change.new,
        isMove: change.old != nil && change.new != nil && (change.isMove || !stays),
        changedProperties: cause.changedProperties[id] ?? []
      )
    }
    return result
  }
}
