import Predicates

// The sections of a list. Where an index divides the list, the list reads a section when the program asks for it.

extension FetchedResults {
  /// The sections; one with no name for a list that isn't divided, none for a divided list without objects.
  public var sections: ListSectionCollection<Object> { ListSectionCollection(list: self) }

  /// Returns the path of a position, which must exist. O(√sections). Where an index divides the list, sections up to
  /// the position that weren't read before are read, too.
  ///
  /// If the store can't be read, the path is wrong, and the context throws the error later.
  public func path(at position: Int) -> ListPath {
    guard let sectioning else { return ListPath(section: 0, item: position) }
    if !sectioning.isHeld(position: position) {
      reading { sections, list throws(ContextError) in try sections.hold(position: position, in: list) }
    }
    return self.sectioning?.runs.path(of: position) ?? ListPath(section: 0, item: position)
  }

  var sectionCount: Int {
    guard context != nil else { return 0 }
    guard let sectioning else { return 1 }
    if !sectioning.isComplete {
      reading { sections, list throws(ContextError) in try sections.complete(in: list) }
    }
    return self.sectioning?.runs.count ?? 1
  }

  /// Returns false if the list couldn't find out whether a section exists. In that case the read of the store failed,
  /// or a damaged index counts more or fewer objects than the list has.
  func isKnown(section: Int) -> Bool {
    guard let sectioning else { return true }
    return sectioning.isHeld(section: section)
      && (!sectioning.isComplete || sectioning.runs.total == endIndex)
  }

  /// Returns true if the list has read all existing sections, and the section isn't among them.
  func lacksSection(_ index: Int) -> Bool { !hasSection(index) && (index < 0 || isKnown(section: index)) }

  /// Returns true for a section that exists. Reads the sections up to this one, and none behind it.
  func hasSection(_ index: Int) -> Bool {
    guard index >= 0, context != nil else { return false }
    hold(section: index)
    return index < sectioning?.runs.count ?? 1
  }

  /// Returns a section, which must exist. If the store can't be read it is empty, and the context throws the error
  /// later.
  func section(at index: Int) -> ListSection<Object> {
    hold(section: index)
    guard let sectioning else { return ListSection(list: self, index: index, name: "", range: 0..<endIndex) }
    let isThere = sectioning.isHeld(section: index) && index < sectioning.runs.count
    return ListSection(
      list: self,
      index: index,
      name: isThere ? sectioning.runs[index].name : "",
      range: sectioning.positions(ofSection: index, in: endIndex)
    )
  }

  /// Returns the positions of the objects of a section; none if the section doesn't exist.
  ///
  /// - Throws: what ``allSections()`` throws.
  func positions(ofSection index: Int) throws(ContextError) -> Range<Int> {
    if sectioning?.isHeld(section: index) == false {
      try holding { sections, list throws(ContextError) in try sections.hold(section: index, in: list) }
    }
    guard let sectioning else { return 0..<endIndex }
    guard sectioning.isHeld(section: index) else {
      throw ContextError(.invalidQuery, "the closure that names the sections of a list has changed the list")
    }
    return sectioning.positions(ofSection: index, in: endIndex)
  }

  private func hold(section: Int) {
    if sectioning?.isHeld(section: section) ?? true { return }
    reading { sections, list throws(ContextError) in try sections.hold(section: section, in: list) }
  }

  /// Reads sections of the state that the list shows. The context throws an error later.
  private func reading(_ body: (inout ListSections, LiveList) throws(ContextError) -> Void) {
    context?.deferringError(()) { () throws(ContextError) in try holding(body) }
  }

  /// Reads sections of the state that the list shows.
  ///
  /// The program's closure that names sections may look at the list. So the sections that were read are stored only
  /// afterwards.
  private func holding(
    _ body: (inout ListSections, LiveList) throws(ContextError) -> Void
  ) throws(ContextError) {
    guard context != nil, var sections = sectioning else { return }
    let (list, version) = (self.list, self.version)
    if !isTelling { sections.releaseMany(list) }
    try body(&sections, list)
    if version == self.version { sectioning = sections }
  }

  /// Returns all sections, held; nil for a list that isn't divided. O(sections).
  ///
  /// - Throws: `store` or `corrupt` if the store can't be read; `invalidQuery` where the program's closure gives values
  ///   other names than before.
  func allSections() throws(ContextError) -> SectionRuns? { try sectioning?.all(in: list) }

  /// Returns the object at a position of an earlier state of the list, whose context must still exist. If the store
  /// can't be read, this is an object that stands for no stored one.
  func object(at position: Int, of state: ListArrangement) -> Object {
    guard let context else { fatalError("a section can't be read: the context of its list no longer exists") }
    let number = context.deferringError(nil) { () throws(ContextError) in try state.number(at: position) }
    return context.objectOrGone(number ?? .none, list.entity)
  }
}
