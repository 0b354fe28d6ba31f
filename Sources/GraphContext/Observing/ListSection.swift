/// The sections of a list, in its order. Their names and counts are read when the program asks for them.
///
/// Where an index divides the list, the first access to a section reads all sections in front of it, and ``endIndex``
/// reads all sections. The list keeps about 16,000 sections in memory. It keeps only the number of further sections,
/// and reads them again when the program asks for one.
public struct ListSectionCollection<Object: ManagedObject>: RandomAccessCollection {
  let list: FetchedResults<Object>

  /// 0.
  public var startIndex: Int { 0 }
  /// The number of sections.
  public var endIndex: Int { list.sectionCount }

  /// Returns the section at a position, which must exist. O(√sections) once the sections up to there have been read. If
  /// the store can't be read, the section is empty, and the context throws the error later.
  public subscript(position: Int) -> ListSection<Object> {
    if list.lacksSection(position) {
      fatalError("section \(position) of a list of \(endIndex) sections")
    }
    return list.section(at: position)
  }

  /// The titles of an index strip: ``ListSection/indexTitle`` of each section. O(sections).
  public var indexTitles: [String] { map(\.indexTitle) }

  /// Returns the section for a title of an index strip: the first that has the title, else the first of the greatest
  /// title below it, else that of the least title; nil for a list without sections. The order of the titles doesn't
  /// matter. O(sections).
  public func section(forIndexTitle title: String) -> Int? {
    SectionName.section(for: title, in: indexTitles)
  }
}

/// A section of a list, as it was when the program asked for it. It stays so when the list changes. Objects that were
/// deleted meanwhile are included, as deleted ones. Once the context is released, the section is empty.
///
/// If the program keeps a section, the next change of the list costs a copy of 8 bytes for each object. For a list by
/// rank, the section holds the list's snapshot.
public struct ListSection<Object: ManagedObject>: RandomAccessCollection {
  private let list: FetchedResults<Object>
  /// The position of the section in the list.
  public let index: Int
  /// The name that ``SectionedBy`` makes of the values that the objects have in common. Empty for nil.
  public let name: String
  /// The positions of the section's objects in the whole list.
  public let range: Range<Int>
  /// All objects of the list in the state that the section belongs to.
  private let state: ListArrangement
  private let version: Int

  init(list: FetchedResults<Object>, index: Int, name: String, range: Range<Int>) {
    self.init(list, index, name, range, list.arrangement(isDivided: false), list.version)
  }

  /// - Parameters:
  ///   - state: all objects of the list, when it had the section.
  ///   - version: the list's version at that time.
  init(
    _ list: FetchedResults<Object>,
    _ index: Int,
    _ name: String,
    _ range: Range<Int>,
    _ state: ListArrangement,
    _ version: Int
  ) {
    (self.list, self.index, self.name, self.range) = (list, index, name, range)
    (self.state, self.version) = (state, version)
  }

  /// The first letter of the name in upper case, for an index strip; empty for an empty name.
  public var indexTitle: String { SectionName.indexTitle(of: name) ?? "" }

  /// 0.
  public var startIndex: Int { 0 }
  /// The number of objects in the section.
  public var endIndex: Int { list.context == nil ? 0 : range.count }

  /// Returns the object at a position in the section, which must exist.
  public subscript(position: Int) -> Object {
    guard position >= 0, position < endIndex else {
      fatalError("item \(position) of a section of \(endIndex) objects")
    }
    // The list reads objects in groups.
    if list.version == version { return list[range.lowerBound + position] }
    return list.object(at: range.lowerBound + position, of: state)
  }
}
