// Loops over sections and their objects. They go through the sections and objects that were there when they began, as
// loops over a list do.

extension ListSectionCollection {
  /// An iterator over the sections that the list has when the loop begins, in their order, even if the list changes
  /// meanwhile.
  ///
  /// A change of the list within the loop costs what ``ListSection`` says of a section that is kept.
  public struct Iterator: IteratorProtocol {
    private let list: FetchedResults<Object>
    private var sections: ListArrangement
    private let objects: ListArrangement
    private let version: Int
    private var index = 0

    init(_ list: FetchedResults<Object>) {
      self.list = list
      // Reads how many sections there are.
      sections = list.arrangement(isDivided: true)
      (objects, version) = (list.arrangement(isDivided: false), list.version)
    }

    /// Returns the next section; nil at the end, and once the context is released. If the store can't be read, the
    /// section is empty, and the context throws the error later.
    public mutating func next() -> ListSection<Object>? {
      guard let context = list.context, index < sections.sectionCount else { return nil }
      defer { index += 1 }
      if list.version == version { return list.section(at: index) }
      let found = context.deferringError(nil) { () throws(ContextError) in try sections.section(index) }
      let start = found?.start ?? 0
      let range = start..<start + (found?.run.count ?? 0)
      return ListSection(list, index, found?.run.name ?? "", range, objects, version)
    }
  }

  /// Begins a loop: `for section in list.sections { … }`. Where an index divides the list, it reads how many sections
  /// there are.
  public func makeIterator() -> Iterator { Iterator(list) }
}

extension ListSection {
  /// An iterator over the objects of the section. Objects that were deleted meanwhile are included, as deleted ones.
  public struct Iterator: IteratorProtocol {
    private let section: ListSection
    private var position = 0

    init(_ section: ListSection) { self.section = section }

    /// Returns the next object; nil at the end, and once the context is released.
    public mutating func next() -> Object? {
      guard position < section.endIndex else { return nil }
      defer { position += 1 }
      return section[position]
    }
  }

  /// Begins a loop: `for song in section { … }`. O(1).
  public func makeIterator() -> Iterator { Iterator(self) }
}
