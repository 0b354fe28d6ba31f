import Predicates

/// A division of a list into sections, which is kept up to date with the list's changes.
///
/// ``isLazy`` lists have an index that contains the values of the sections in the list's order. They read sections up
/// to the one that the program asks for. Some chunks of the sections that have been read are held, which means that
/// names and counts are in memory. The other chunks have only the numbers of their sections and objects, and can be
/// read again. Other lists read and hold all their sections at once.
///
/// Sections are read in the state (the snapshot) that the list shows. A chunk that isn't held contains no shown object
/// with unsaved changes: an update holds the sections of all changed objects first.
struct ListSections {
  /// The sections that have been read: from the list's beginning.
  var runs = SectionRuns()
  /// True if the list has no sections behind those in ``runs``.
  private(set) var isComplete = true
  private(set) var isLazy = false
  let path: ResolvedPath
  private let name: @Sendable (AttributeValue) -> String?
  var limits = Limits()

  /// Limits for reading sections and keeping them in memory.
  struct Limits {
    /// The number of sections or, in ``objects``, of objects after which a read ends: at the first section behind them.
    var sections = SectionRuns.chunkCount
    var objects = 65_536
    /// The number of chunks that stay in memory.
    var chunks = 32
  }

  init(_ path: ResolvedPath, name: @escaping @Sendable (AttributeValue) -> String?) {
    (self.path, self.name) = (path, name)
  }

  /// Divides a list anew. O(1) for a list that an index divides, else O(rows), or O(groups) where an index counts them.
  mutating func read(_ list: LiveList, in context: ManagedObjectContext) throws(ContextError) {
    isLazy = list.hasGroups(of: path)
    isComplete = !isLazy || list.count == 0
    runs = SectionRuns()
    if isLazy { return }
    var runs = SectionRuns()
    var failure: ContextError?
    func append(_ value: AttributeValue, _ count: Int) {
      do throws(ContextError) { runs.append(try sectionName(of: value), count) } catch { failure = error }
    }
    if let groups = try counts(of: list.query, context) {
      for (value, count) in groups { append(value, count) }
    } else {
      let layers = context.layers(for: list.query)
      try context.forEachRow(of: list.query, reading: [path], layers) { _, values in append(values[0], 1) }
    }
    if let failure { throw failure }
    self.runs = runs
  }

  /// Returns the number of objects for each value of the path, in the list's order; nil for a list with a window.
  private func counts(
    of query: ResolvedQuery,
    _ context: ManagedObjectContext
  ) throws(ContextError) -> [(AttributeValue, Int)]? {
    guard RowWindow(query).isWhole, let first = query.sort.first else { return nil }
    var all = query
    all.sort = []
    let grouping = try ContextError.resolving { () throws(QueryError) in
      try ResolvedGrouping(
        all,
        by: [QueryColumn(path, storeID: context.storeID)],
        [ResolvedAggregate(.count, of: nil, named: "count")],
        in: context.coordinator.schema.schema
      )
    }
    let groups = try context.source.another().groups(of: grouping, over: context.layers(for: query)).rows
    func isBefore(_ a: [AttributeValue], _ b: [AttributeValue]) -> Bool {
      let order = ValueComparison.sortOrder(a[0], b[0])
      return first.isAscending ? order < 0 : order > 0
    }
    return groups.sorted(by: isBefore).map { row in
      if case .int(let count) = row[1] { (row[0], Int(count)) } else { (row[0], 0) }
    }
  }

  func sectionName(of value: AttributeValue) throws(ContextError) -> String {
    guard let name = name(SectionName.canonical(value)) else {
      throw ContextError(.corrupt, "a list is divided by \(path.name), which holds no value of its type")
    }
    return name
  }
}

// MARK: - Reading what is asked for

extension ListSections {
  /// Returns whether the section of a position is in memory.
  func isHeld(position: Int) -> Bool {
    isAllHeld || runs.part(ofPosition: position)?.isHeld ?? isComplete
  }

  /// Returns whether a section is in memory, or is known not to exist.
  func isHeld(section: Int) -> Bool {
    isAllHeld || (section < runs.count ? runs.part(ofSection: section).isHeld : isComplete)
  }

  private var isAllHeld: Bool { isComplete && runs.areAllHeld }

  /// Reads the sections up to the one of a position, and holds that section.
  mutating func hold(position: Int, in list: some SectionedList) throws(ContextError) {
    try read(in: list) { $0.total > position }
    if let part = runs.part(ofPosition: position) { try hold(part, in: list) }
  }

  /// Reads the sections up to a given one, and holds it if it exists.
  mutating func hold(section: Int, in list: some SectionedList) throws(ContextError) {
    try read(in: list) { $0.count > section }
    if section < runs.count { try hold(runs.part(ofSection: section), in: list) }
  }

  /// Reads how many sections there are.
  mutating func complete(in list: some SectionedList) throws(ContextError) {
    try read(in: list) { _ in false }
  }

  /// Holds the sections that an update of changed objects looks at: those of their old and new positions, and the
  /// neighbours of these.
  mutating func hold(around changes: [PositionChange], in list: some SectionedList) throws(ContextError) {
    if isAllHeld { return }
    let olds = changes.compactMap(\.old).sorted()
    var positions = Set(olds)
    for (place, new) in changes.compactMap(\.new).sorted().enumerated() {
      // Between two objects that stay.
      for gap in [new - place - 1, new - place] where gap >= 0 {
        positions.insert(olds.number(ofGap: gap) { $0 })
      }
    }
    for position in positions.sorted() where position < list.count {
      try read(in: list) { $0.total > position }
      guard let part = runs.part(ofPosition: position) else { continue }
      try hold(part, in: list)
      let section = runs.path(of: position).section
      if section > 0 { try hold(section: section - 1, in: list) }
      try hold(section: section + 1, in: list)
    }
  }

  /// Returns all sections, held. O(sections).
  func all(in list: some SectionedList) throws(ContextError) -> SectionRuns {
    var copy = self
    try copy.complete(in: list)
    for part in copy.runs.parts { try copy.hold(part, in: list) }
    return copy.runs
  }

  /// Returns the positions of the objects of a section; an empty range at the end unless the section is there and held.
  /// A damaged index may count more objects than there are: the surplus has no positions.
  func positions(ofSection index: Int, in count: Int) -> Range<Int> {
    guard isHeld(section: index), index < runs.count else { return count..<count }
    let start = min(runs.start(of: index), count)
    return start..<min(start + runs[index].count, count)
  }

  private mutating func hold(_ part: SectionRuns.Part, in list: some SectionedList) throws(ContextError) {
    if !part.isHeld { runs.hold(part, try sections(of: part, at: part.positions.lowerBound, in: list)) }
  }

  /// Returns the sections of a part that aren't held, and begin at a position.
  ///
  /// - Throws: `invalidQuery` where the names differ from those before; errors of reading.
  func sections(
    of part: SectionRuns.Part,
    at position: Int,
    in list: some SectionedList
  ) throws(ContextError) -> [SectionRuns.Run] {
    let (found, total) = try runs(from: position, in: list) { $1 >= part.positions.count }
    guard found.count == part.count, total == part.positions.count else {
      throw ContextError(
        .invalidQuery,
        "a list is divided by \(path.name), and its sections differ from those that were read first"
      )
    }
    return found
  }

  /// Reads on until `isEnough` returns true for the sections that have been read.
  private mutating func read(
    in list: some SectionedList,
    until isEnough: (SectionRuns) -> Bool
  ) throws(ContextError) {
    while !isComplete, !isEnough(runs) {
      let limits = limits
      let (next, total) = try runs(from: runs.total, in: list) { count, total in
        count >= limits.sections || total >= limits.objects && count > 0
      }
      if !next.isEmpty { runs.append(next, isHeld: runs.heldChunkCount < limits.chunks) }
      isComplete = runs.total >= list.count || total == 0
    }
  }

  /// Reads sections from one that begins at a position. The read ends before a section if `isEnough` returns true then.
  private func runs(
    from position: Int,
    in list: some SectionedList,
    until isEnough: (_ sections: Int, _ objects: Int) -> Bool
  ) throws(ContextError) -> (runs: [SectionRuns.Run], total: Int) {
    var (runs, total) = ([SectionRuns.Run](), 0)
    try list.forEachGroup(of: path, from: position) { value, count in
      let name = try sectionName(of: value)
      if let last = runs.indices.last, runs[last].name.isSame(as: name) {
        runs[last].count += count
      } else {
        if isEnough(runs.count, total) { return false }
        runs.append(SectionRuns.Run(name: name, count: count))
      }
      total += count
      return true
    }
    return (runs, total)
  }

  /// Holds fewer sections, where they can be read again. Sections that are held for a difference that is being reported
  /// must stay held.
  mutating func releaseMany(_ list: some SectionedList) {
    if isLazy, runs.heldChunkCount > limits.chunks, list.hasGroups(of: path) { runs.releaseAll() }
  }
}

/// A state of a list whose sections are read when the program asks for them.
protocol SectionedList {
  var count: Int { get }
  /// Returns whether objects with one value of a path are neighbours that an index counts, and no unsaved change
  /// concerns the list's objects.
  func hasGroups(of path: ResolvedPath) -> Bool
  /// Calls `body` for each group of neighbours from a position on, until it returns false: with the value of a path
  /// that they have in common, and their number. The position must be that of the first object of a group, and none of
  /// the objects may be unsaved.
  func forEachGroup(
    of path: ResolvedPath,
    from position: Int,
    _ body: (AttributeValue, Int) throws -> Bool
  ) throws(ContextError)
}
