import Predicates

/// The paths of the objects in one state of a list, or between two states. It doesn't change with the list.
///
/// Memory: the sections, and a word for each object that has been taken out.
struct ListArrangement {
  private let content: any ListContent
  /// The positions in the content that the list has.
  private let range: Range<Int>
  /// Sections that aren't held are read from the content; nil for one section of all objects.
  private var sections: ListSections?
  /// Positions in the list, ascending, of objects that have been taken out.
  private var removed: [Int] = []

  init(_ content: any ListContent, _ range: Range<Int>, _ sections: ListSections?) {
    (self.content, self.range, self.sections) = (content, range, sections)
  }

  var sectionCount: Int { sections?.runs.count ?? 1 }

  /// Returns a section, and how many objects come before it; nil if there is no such section. It is held from then on.
  ///
  /// - Throws: `store` or `corrupt` if the store can't be read.
  mutating func section(_ section: Int) throws(ContextError) -> (run: SectionRuns.Run, start: Int)? {
    guard section >= 0, section < sectionCount else { return nil }
    guard var sections else { return (SectionRuns.Run(name: "", count: range.count - removed.count), 0) }
    let part = sections.runs.part(ofSection: section)
    if !part.isHeld {
      // Objects may have been taken out of the parts before, but not of a part that isn't held.
      let position = removed.number(ofGap: part.positions.lowerBound) { $0 }
      sections.runs.hold(part, try sections.sections(of: part, at: position, in: content))
      self.sections = sections
    }
    return (sections.runs[section], sections.runs.start(of: section))
  }

  /// Returns the object at a path; nil if there is none. O(√sections + log removed), and the time of the content.
  mutating func number(at path: ListPath) throws(ContextError) -> ObjectNumber? {
    guard let (run, start) = try section(path.section), path.item >= 0, path.item < run.count else {
      return nil
    }
    return try number(at: start + path.item)
  }

  /// Returns the object at a position; nil if there is none.
  func number(at place: Int) throws(ContextError) -> ObjectNumber? {
    let position = range.lowerBound + removed.number(ofGap: place) { $0 }
    // A damaged index may count more objects in its groups than the list has.
    guard position < content.count else { return nil }
    return try content.numbers(at: position..<position + 1).first
  }

  /// Returns the state after a stage that isn't the last one: a state between two states of the list.
  ///
  /// - Parameters:
  ///   - stage: one of ``ListChanges/stages``. At most one of them takes something out.
  ///   - changes: the difference that the stage belongs to.
  func after(_ stage: ListBatch, of changes: ListChanges) -> ListArrangement {
    var next = self
    next.remove(stage)
    for section in stage.insertedSections.isEmpty ? [] : changes.insertedSections {
      next.sections?.runs.insert(SectionRuns.Run(name: section.name, count: 0), at: section.section)
    }
    return next
  }

  private mutating func remove(_ stage: ListBatch) {
    if stage.deletedItems.isEmpty, stage.deletedSections.isEmpty { return }
    guard var runs = sections?.runs else {
      removed = stage.deletedItems.map(\.item).sorted()
      return
    }
    removed = stage.deletedItems.map { runs.start(of: $0.section) + $0.item }
    for section in stage.deletedSections {
      let start = runs.start(of: section)
      removed += start..<start + runs[section].count
    }
    removed.sort()
    for path in stage.deletedItems { runs.change(path.section, by: -1) }
    for section in stage.deletedSections { runs.remove(section) }
    sections?.runs = runs
  }
}

extension FetchedResults {
  /// Returns the state that the list shows now, which doesn't change with the list.
  ///
  /// - Parameter isDivided: false for one section of all objects.
  func arrangement(isDivided: Bool) -> ListArrangement {
    guard context != nil else { return ListArrangement(NumberedContent([]), 0..<0, nil) }
    guard isDivided, sectioning != nil else { return list.arrangement(nil) }
    // Reads how many sections there are.
    _ = sectionCount
    return list.arrangement(sectioning)
  }
}
