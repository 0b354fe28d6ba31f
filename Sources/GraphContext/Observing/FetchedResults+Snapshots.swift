import Predicates

// The states of a list as values.

extension FetchedResults {
  /// Returns the objects of the list as it is now, as a value. O(n).
  ///
  /// - Throws: `store` or `corrupt` if the store can't be read; `invalidQuery` where a closure gives sections other
  ///   names than before.
  public func snapshot() throws(ContextError) -> ListSnapshot<Object> {
    if context == nil { throw ContextError.contextGone() }
    return try snapshot(of: 0..<list.count, try allSections())
  }

  /// Returns a sequence of the list's snapshots: first as it is, then after each difference. A slow consumer gets only
  /// the newest. The sequence ends when the list or its context is released.
  ///
  /// - Throws: `store` or `corrupt` if the store can't be read.
  public func snapshots() throws(ContextError) -> AsyncStream<ListSnapshot<Object>> {
    let first = try snapshot()
    return audience.stream(from: first, .bufferingNewest(1)) { [weak self] _ in try? self?.snapshot() }
  }

  /// Returns the objects of the first section of a name, as a value; none if there is no such section. O(sections +
  /// objects of the section).
  ///
  /// - Throws: what ``snapshot()`` throws.
  public func snapshot(ofSectionNamed name: String) throws(ContextError) -> ListSnapshot<Object> {
    try snapshot(ofSection: number(ofSectionNamed: name))
  }

  /// Returns a sequence of the snapshots of one section: first as it is, then after each difference in which objects of
  /// the section come, go, move or change. A section that doesn't exist has no objects. A slow consumer gets only the
  /// newest. The sequence ends when the list or its context is released.
  ///
  /// A difference that concerns other sections costs O(k) for k changes. One that concerns this section costs its
  /// objects, too.
  ///
  /// - Throws: what ``snapshot()`` throws.
  public func snapshots(ofSectionNamed name: String) throws(ContextError) -> AsyncStream<ListSnapshot<Object>>
  {
    var section = SectionOfName(name, number: try number(ofSectionNamed: name))
    let first = try snapshot(ofSection: section.number)
    return audience.stream(from: first, .bufferingNewest(1)) { [weak self] changes in
      guard let self, section.follow(changes) else { return nil }
      // A state that can't be read is left out, and read again after the next difference.
      guard let state = try? snapshot(of: &section) else {
        section.lose()
        return nil
      }
      return state
    }
  }

  private func snapshot(of section: inout SectionOfName) throws(ContextError) -> ListSnapshot<Object> {
    if section.isLost { section.find(at: try number(ofSectionNamed: section.name)) }
    return try snapshot(ofSection: section.number)
  }

  /// Returns the number of the first section of a name; nil if there is none. O(sections).
  private func number(ofSectionNamed name: String) throws(ContextError) -> Int? {
    if context == nil { throw ContextError.contextGone() }
    guard let sections = try allSections() else { return name.isEmpty ? 0 : nil }
    return sections.names.firstIndex { $0.isSame(as: name) }
  }

  private func snapshot(ofSection number: Int?) throws(ContextError) -> ListSnapshot<Object> {
    try snapshot(of: number.map(positions(ofSection:)) ?? 0..<0, nil)
  }

  private func snapshot(
    of range: Range<Int>,
    _ sections: SectionRuns?
  ) throws(ContextError) -> ListSnapshot<Object> {
    guard let context else { throw ContextError.contextGone() }
    return ListSnapshot(try list.numbers(at: range), list.entity, context.storeID, sections)
  }
}
