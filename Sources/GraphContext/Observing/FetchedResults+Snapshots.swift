import Predicates

// The states of a list as values.

extension FetchedResults {
  /// The objects of the list as it is now, as a value. O(n).
  ///
  /// - Throws: `store` or `corrupt` if the store can't be read; `invalidQuery` where a closure names sections in another way than before.
  public func snapshot() throws(ContextError) -> ListSnapshot<Object> {
    if context == nil { throw ContextError.contextGone() }
    return try snapshot(of: 0..<list.count, try allSections())
  }

  /// A sequence of the list's snapshots: first as it is, then after each difference. A consumer that is slow gets the newest. It ends when the list or its context is
  /// released.
  ///
  /// - Throws: `store` or `corrupt` if the store can't be read.
  public func snapshots() throws(ContextError) -> AsyncStream<ListSnapshot<Object>> {
    let first = try snapshot()
    return audience.stream(from: first, .bufferingNewest(1)) { [weak self] _ in try? self?.snapshot() }
  }

  /// The objects of the first section of a name, as a value; none if there is no such section. O(sections + objects of the section).
  ///
  /// - Throws: what ``snapshot()`` throws.
  public func snapshot(ofSectionNamed name: String) throws(ContextError) -> ListSnapshot<Object> {
    if context == nil { throw ContextError.contextGone() }
    guard let sections = try allSections() else {
      return try snapshot(of: 0..<(name.isEmpty ? list.count : 0), nil)
    }
    guard let index = sections.names.firstIndex(where: { $0.isSame(as: name) }) else {
      return try snapshot(of: 0..<0, nil)
    }
    let start = Swift.min(sections.start(of: index), list.count)
    return try snapshot(of: start..<Swift.min(start + sections[index].count, list.count), nil)
  }

  /// A sequence of the snapshots of one section: first as it is, then after each difference in which objects of the section come, go, move or change. A section that isn't there has no
  /// objects. A consumer that is slow gets the newest. The sequence ends when the list or its context is released.
  ///
  /// - Throws: what ``snapshot()`` throws.
  public func snapshots(ofSectionNamed name: String) throws(ContextError) -> AsyncStream<ListSnapshot<Object>>
  {
    let first = try snapshot(ofSectionNamed: name)
    return audience.stream(from: first, .bufferingNewest(1)) { [weak self] changes in
      guard let self, concerns(changes, sectionNamed: name) else { return nil }
      return try? snapshot(ofSectionNamed: name)
    }
  }

  /// True if a difference changes something in a section. The list shows the state after the difference. O(k √sections) for k changes.
  private func concerns(_ changes: ListChanges, sectionNamed name: String) -> Bool {
    if changes.isReload
      || (changes.insertedSections + changes.deletedSections).contains(where: { $0.name.isSame(as: name) })
    {
      return true
    }
    let sections = changes.changes.flatMap { change in
      [change.newPath?.section, change.oldPath.flatMap { changes.newNumber(ofSection: $0.section) }]
    }
    return Set(sections).contains { $0.map { section(at: $0).name.isSame(as: name) } ?? false }
  }

  private func snapshot(
    of range: Range<Int>,
    _ sections: SectionRuns?
  ) throws(ContextError) -> ListSnapshot<Object> {
    guard let context else { throw ContextError.contextGone() }
    return ListSnapshot(try list.numbers(at: range), list.entity, context.storeID, sections)
  }
}
