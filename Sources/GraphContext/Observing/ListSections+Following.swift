import Predicates

extension ListSections {
  /// Sections that have come and gone, and the paths of changed objects.
  struct Difference {
    /// The paths by the index of the change.
    var paths: [(old: ListPath?, new: ListPath?)]
    var inserted: [ListChanges.SectionChange] = []
    var deleted: [ListChanges.SectionChange] = []
  }

  /// Brings the sections up to date. O(changes · (√sections + log changes)).
  ///
  /// - Parameter names: of the sections of the changed objects.
  /// - Returns: nil where objects that stay are in other sections than before. In that case an object of another name
  ///   has come between them, or has left the position between two sections of one name. Then the sections must be read
  ///   anew.
  mutating func update(_ changes: [PositionChange], _ names: [ObjectNumber: String]) -> Difference? {
    var difference = Difference(paths: changes.map { ($0.old.map { runs.path(of: $0) }, nil) })
    var emptied: Set<Int> = []
    for section in difference.paths.compactMap(\.old?.section) where section < runs.count {
      runs.change(section, by: -1)
      if runs[section].count == 0 { emptied.insert(section) }
    }
    var inserted: [Int] = []
    for change in changes.sorted(by: { ($0.new ?? -1) < ($1.new ?? -1) }) {
      guard let position = change.new, let name = names[change.number] else { continue }
      guard insert(name, at: position, &inserted) else { return nil }
    }
    guard remove(emptied.sorted(), &inserted, &difference) else { return nil }
    for (index, change) in changes.enumerated() {
      difference.paths[index].new = change.new.map { runs.path(of: $0) }
    }
    difference.inserted = inserted.map { .init(section: $0, name: runs[$0].name) }
    return difference
  }

  /// Returns the names of the sections of changed objects that the list has. They are read before the sections change,
  /// because reading may fail.
  func names(
    of changes: [PositionChange],
    _ query: ResolvedQuery,
    in context: ManagedObjectContext
  ) throws(ContextError) -> [ObjectNumber: String] {
    let numbers = changes.filter { $0.new != nil }.map(\.number)
    var values: [ObjectNumber: AttributeValue] = [:]
    if numbers.isEmpty { return [:] }
    try context.forEachRow(of: query, numbers, reading: [path]) { values[$0] = $1[0] }
    var names: [ObjectNumber: String] = [:]
    for (number, value) in values { names[number] = try sectionName(of: value) }
    return names
  }

  /// Counts an object into a section. Its position is known, and all objects before it are counted already. The section
  /// is that of the object before it, one that follows, or a new one.
  ///
  /// - Parameter inserted: the positions of the new sections, ascending, as objects are counted in the order of their
  ///   positions.
  /// - Returns: false if the object would tear a section apart.
  private mutating func insert(_ name: String, at position: Int, _ inserted: inout [Int]) -> Bool {
    var section = 0
    if position > 0, runs.count > 0 {
      let last = runs.path(of: position - 1)
      section = last.section
      if runs[section].name.isSame(as: name) {
        runs.change(section, by: 1)
        return true
      }
      if last.item + 1 < runs[section].count { return false }
      section += 1
    }
    let new = section
    // Sections that have been emptied may get objects again. Behind them is the first section with objects.
    while section < runs.count {
      if runs[section].name.isSame(as: name) {
        runs.change(section, by: 1)
        return true
      }
      if runs[section].count > 0 { break }
      section += 1
    }
    runs.insert(SectionRuns.Run(name: name, count: 1), at: new)
    inserted.append(new)
    return true
  }

  /// Takes the sections away that have stayed empty.
  ///
  /// - Parameters:
  ///   - emptied: positions in the old list, ascending.
  ///   - inserted: the positions of the new sections, ascending.
  /// - Returns: false if that leaves neighbours of one name.
  private mutating func remove(
    _ emptied: [Int],
    _ inserted: inout [Int],
    _ difference: inout Difference
  ) -> Bool {
    var removed: [Int] = []
    var before = 0
    for old in emptied {
      while before < inserted.count, inserted[before] <= old + before { before += 1 }
      let section = old + before
      guard runs[section].count == 0 else { continue }
      difference.deleted.append(.init(section: old, name: runs[section].name))
      removed.append(section)
    }
    for section in removed.reversed() {
      runs.remove(section)
      if section > 0, section < runs.count, runs[section - 1].count > 0,
        runs[section - 1].name.isSame(as: runs[section].name)
      {
        return false
      }
    }
    var gone = 0
    for index in inserted.indices {
      while gone < removed.count, removed[gone] < inserted[index] { gone += 1 }
      inserted[index] -= gone
    }
    return true
  }
}
