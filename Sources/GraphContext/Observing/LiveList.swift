import Predicates

/// The results of a query that follow what a context shows.
///
/// A list whose predicate and order are one range of a tree holds no IDs: positions are counted (``RankedContent``).
/// Other lists hold the numbers of their objects, and search only for the objects that a change concerns. Lists with a
/// window, and lists that lead through to-many relationships, are queried again.
final class LiveList: SectionedList {
  /// The context; weak, because the context keeps the subscription that tells the list of changes.
  private(set) weak var context: ManagedObjectContext?
  let entity: StoredEntity
  let query: ResolvedQuery
  private let window: RowWindow
  private let access: RankedAccess?
  private let dependencies: ListDependencies
  private var content: any ListContent
  /// The commit below the content.
  private var commit: UInt64
  /// Entries that queries and earlier states have read.
  private var earlierEntries = 0

  /// The share of a list's objects, one in so many: a change that concerns more of them makes the list query again.
  private static let searchedShare = 16

  /// - Parameter section: the path that divides the list.
  init(
    _ query: ResolvedQuery,
    section: ResolvedPath?,
    in context: ManagedObjectContext
  ) throws(ContextError) {
    self.context = context
    self.query = query
    entity = context.coordinator.schema[query.entity.id]
    window = RowWindow(query)
    access = query.rankedAccess
    dependencies = ListDependencies(query, section: section)
    content = NumberedContent([])
    commit = context.source.commit
    content = try currentContent(of: context)
  }

  /// True if positions are counted by a tree, and no IDs are held.
  var isRanked: Bool { !(content is NumberedContent) }

  private func currentContent(of context: ManagedObjectContext) throws(ContextError) -> any ListContent {
    let layers = context.layers(for: query)
    if let access,
      let next = try context.source.rankedContent(access, of: entity, over: layers, after: content)
    {
      return next
    }
    return NumberedContent(
      try context.source.rows(of: query, over: layers, needsRecords: false).map(\.number)
    )
  }

  // MARK: Reading

  /// The window of a list by rank. The content of other lists is already limited to their window.
  private var range: Range<Int> { range(of: content) }

  private func range(of content: any ListContent) -> Range<Int> {
    isRanked ? window.range(in: content.count) : 0..<content.count
  }

  var count: Int { range.count }

  func numbers(at positions: Range<Int>) throws(ContextError) -> [ObjectNumber] {
    let start = range.lowerBound
    return try content.numbers(at: positions.lowerBound + start..<positions.upperBound + start)
  }

  /// Returns the state that the list shows now, which doesn't change with the list.
  ///
  /// - Parameter sections: its sections; nil for one of all objects.
  func arrangement(_ sections: ListSections?) -> ListArrangement {
    ListArrangement(content.kept(), range, sections)
  }

  /// Returns the position of an object; nil if it isn't in the list. O(log n) by rank, else O(n).
  func position(of number: ObjectNumber) throws(ContextError) -> Int? {
    guard let position = try content.positions(of: [number])[0], range.contains(position) else { return nil }
    return position - range.lowerBound
  }

  func hasGroups(of path: ResolvedPath) -> Bool { window.isWhole && content.hasGroups(of: path) }

  func forEachGroup(
    of path: ResolvedPath,
    from position: Int,
    _ body: (AttributeValue, Int) throws -> Bool
  ) throws(ContextError) {
    try content.forEachGroup(of: path, from: position, body)
  }

  // MARK: Following

  /// Shows the context's state, which has changed without an event that says how.
  func moveOn() throws(ContextError) {
    guard isRanked, let context else { return }
    show(try currentContent(of: context), of: context.source.commit)
  }

  /// The state of a list after a change, and the difference to the one before.
  struct Step {
    let changes: [PositionChange]
    fileprivate let next: Next

    fileprivate enum Next {
      case unchanged
      case content(any ListContent, commit: UInt64)
      case edit(NumberEdit)
    }
  }

  /// Looks at the context's state after a change. The list shows it once it takes the step.
  ///
  /// A child is told of its parent's changes and of its own one after the other, but shows both when it is told of the
  /// first. Until the list knows of both, it isn't sorted by the values that the context shows. So no position can be
  /// searched for in it.
  func step(after changes: ObjectChanges) throws(ContextError) -> Step {
    guard let context else { return Step(changes: [], next: .unchanged) }
    let readBefore = context.source.counters.treeEntries
    defer { earlierEntries += context.source.counters.treeEntries - readBefore }
    let schema = context.coordinator.schema
    var numbers = ownNumbers(changes, schema)
    var isRead = changes.invalidatesAll || dependencies.isVague(changes, schema)
    for condition in dependencies.isEmpty ? [] : dependencies.conditions(changes, schema) {
      let concerned = try self.concerned(by: condition, in: context)
      numbers.formUnion(concerned.numbers)
      isRead = isRead || concerned.areOfListAlone
    }
    if isRead { return try reread(touched: numbers, in: context) }
    if numbers.isEmpty, !isRanked || commit == context.source.commit {
      return Step(changes: [], next: .unchanged)
    }
    if context.showsUntoldChanges { return try reread(touched: numbers, in: context) }
    if isRanked { return try rank(numbers, in: context) }
    if !window.isWhole || numbers.count > content.count / Self.searchedShare {
      return try reread(touched: numbers, in: context)
    }
    guard let content = content as? NumberedContent else { return Step(changes: [], next: .unchanged) }
    return try search(numbers, in: content, context)
  }

  /// Shows the state that a step leads to.
  func take(_ step: Step) {
    switch step.next {
    case .unchanged: break
    case .content(let next, let commit): show(next, of: commit)
    case .edit(let edit): (content as? NumberedContent)?.apply(edit)
    }
  }

  private func show(_ next: any ListContent, of commit: UInt64) {
    earlierEntries += content.entriesWalked
    (content, self.commit) = (next, commit)
  }

  /// Bytes of memory, without the snapshot and its pages.
  var byteCount: Int { content.byteCount }

  /// Entries of trees that have been read so far.
  var entriesWalked: Int { earlierEntries + content.entriesWalked }

  /// Returns the objects for which a condition holds. If these are too many to search for each, only those that the
  /// list has. The list must be queried again then.
  private func concerned(
    by condition: NormalPredicate,
    in context: ManagedObjectContext
  ) throws(ContextError) -> (numbers: [ObjectNumber], areOfListAlone: Bool) {
    var concerned = ResolvedQuery(
      entity: query.entity,
      normal: .all([condition]),
      sort: [],
      limit: nil,
      offset: 0
    )
    let layers = context.layers(for: query)
    var areOfListAlone = false
    if let content = content as? NumberedContent {
      let limit = window.isWhole ? content.count / Self.searchedShare : 0
      areOfListAlone = try context.source.count(of: concerned, over: layers) > limit
      if areOfListAlone { concerned = concerned.restricted(to: content.numbers) }
    }
    let rows = try context.source.rows(of: concerned, over: layers, needsRecords: false)
    return (rows.map(\.number), areOfListAlone)
  }

  /// Returns the changed objects of the list's own entity.
  private func ownNumbers(_ changes: ObjectChanges, _ schema: ResolvedSchema) -> Set<ObjectNumber> {
    var numbers: Set<ObjectNumber> = []
    for ids in [changes.inserted, changes.updated, changes.deleted, changes.refreshed] {
      for id in ids where schema.entity(id.entity)?.ordinal == entity.ordinal { numbers.insert(id.number) }
    }
    return numbers
  }

  /// Counts the positions of changed objects before and after.
  private func rank(
    _ numbers: Set<ObjectNumber>,
    in context: ManagedObjectContext
  ) throws(ContextError) -> Step {
    let next = try currentContent(of: context)
    let difference = try PositionDifference(changes(of: numbers.sorted(), to: next))
    return Step(
      changes: try difference.changes(in: window, from: content, to: next),
      next: .content(next, commit: context.source.commit)
    )
  }

  private func changes(
    of numbers: [ObjectNumber],
    to next: any ListContent
  ) throws(ContextError) -> [PositionChange] {
    let (olds, news) = (try content.positions(of: numbers), try next.positions(of: numbers))
    return numbers.indices.compactMap { index in
      if olds[index] == nil, news[index] == nil { return nil }
      return PositionChange(number: numbers[index], old: olds[index], new: news[index])
    }
  }

  /// Queries the list again.
  private func reread(
    touched: Set<ObjectNumber>,
    in context: ManagedObjectContext
  ) throws(ContextError) -> Step {
    let next = try currentContent(of: context)
    let new = try next.numbers(at: range(of: next))
    let changes = PositionDifference.changes(from: try numbers(at: 0..<count), to: new, touched: touched)
    return Step(changes: changes, next: .content(next, commit: context.source.commit))
  }

  /// Searches for the positions of the changed objects that match. O(list + changed · log list), with O(changed · log
  /// list) records read.
  private func search(
    _ changed: Set<ObjectNumber>,
    in content: NumberedContent,
    _ context: ManagedObjectContext
  ) throws(ContextError) -> Step {
    let numbers = changed.sorted()
    var matching = query.restricted(to: numbers)
    matching.sort = query.sort
    let layers = context.layers(for: query)
    let found = try context.source.rows(of: matching, over: layers, needsRecords: false).map(\.number)
    let olds = content.positions(of: numbers)
    let removed = olds.compactMap { $0 }.sorted()
    let places = try places(of: found, in: StayingNumbers(content, without: removed), context)
    let edit = NumberEdit(
      removed: removed,
      inserted: zip(places, found).enumerated().map { ($0.offset + $0.element.0, $0.element.1) }
    )
    let news = Dictionary(
      edit.inserted.map { ($0.number, $0.position) },
      uniquingKeysWith: { first, _ in first }
    )
    let candidates = zip(numbers, olds).compactMap { number, old in
      let new = news[number]
      return old == nil && new == nil ? nil : PositionChange(number: number, old: old, new: new)
    }
    return Step(changes: PositionDifference(candidates).changes, next: .edit(edit))
  }

  /// Counts the objects of a sorted list that come before each of some other objects, which are sorted too. The keys of
  /// all objects that are compared in a step are read together.
  private func places(
    of wanted: [ObjectNumber],
    in list: StayingNumbers,
    _ context: ManagedObjectContext
  ) throws(ContextError) -> [Int] {
    let keys = try sortKeys(of: wanted, context)
    var bounds = wanted.map { _ in (low: 0, high: list.count) }
    while true {
      let open = bounds.indices.filter { bounds[$0].low < bounds[$0].high }
      if open.isEmpty { return bounds.map(\.low) }
      let middles = open.map { (bounds[$0].low + bounds[$0].high) / 2 }
      let probes = try sortKeys(of: middles.map { list[$0] }, context)
      for (index, middle) in zip(open, middles) {
        let (key, probe) = (keys[wanted[index]] ?? [], probes[list[middle]] ?? [])
        if probe.lexicographicallyPrecedes(key) {
          bounds[index].low = middle + 1
        } else {
          bounds[index].high = middle
        }
      }
    }
  }

  private func sortKeys(
    of numbers: [ObjectNumber],
    _ context: ManagedObjectContext
  ) throws(ContextError) -> [ObjectNumber: [UInt8]] {
    var keys: [ObjectNumber: [UInt8]] = [:]
    keys.reserveCapacity(numbers.count)
    try context.forEachRow(of: query, numbers, reading: query.sort.map(\.path)) { number, values in
      var key = SortKey()
      for (sort, value) in zip(query.sort, values) { key.append(value, isAscending: sort.isAscending) }
      key.append(number, isAscending: query.isIDAscending)
      keys[number] = key.bytes
    }
    return keys
  }
}

/// The numbers of a list without those at some positions.
private struct StayingNumbers {
  private let content: NumberedContent
  private let removed: [Int]

  /// - Parameter removed: ascending.
  init(_ content: NumberedContent, without removed: [Int]) {
    (self.content, self.removed) = (content, removed)
  }

  var count: Int { content.count - removed.count }

  subscript(place: Int) -> ObjectNumber { content.numbers[removed.number(ofGap: place) { $0 }] }
}

extension ManagedObjectContext {
  /// Calls `body` with the values at the ends of paths for each of some objects that the context shows, in no order.
  func forEachRow(
    of query: ResolvedQuery,
    _ numbers: some Collection<ObjectNumber>,
    reading paths: [ResolvedPath],
    _ body: (ObjectNumber, [AttributeValue]) -> Void
  ) throws(ContextError) {
    let all = ResolvedQuery(entity: query.entity, normal: .constant(true), sort: [], limit: nil, offset: 0)
    try forEachRow(of: all.restricted(to: numbers), reading: paths, layers(for: query), body)
  }

  /// Calls `body` with the values at the ends of paths for each row of a query, in its order.
  func forEachRow(
    of query: ResolvedQuery,
    reading paths: [ResolvedPath],
    _ layers: UnsavedLayers?,
    _ body: (ObjectNumber, [AttributeValue]) -> Void
  ) throws(ContextError) {
    let columns = paths.map { QueryColumn($0, storeID: storeID) }
    let selection = try ContextError.resolving { () throws(QueryError) in
      try ResolvedSelection(query: query, columns: columns, isDistinct: false)
    }
    let reading = source.another()
    defer { source.counters.add(reading.counters) }
    try reading.forEachRow(of: selection, over: layers) { row, reader, fields in
      body(row.number, try fields.map { try reader.value(of: $0) })
      return true
    }
  }
}
