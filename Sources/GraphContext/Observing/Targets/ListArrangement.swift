import Predicates

/// Which objects are at which paths in one state of a list, or between two states. It stays what it is when the list changes.
///
/// Memory: the sections, and a word for each object that has been taken out.
struct ListArrangement {
  private let content: any ListContent
  /// The position in the content that the list begins with.
  private let start: Int
  private(set) var runs: SectionRuns
  /// Positions in the list, ascending, of objects that have been taken out.
  private var removed: [Int] = []

  init(_ content: any ListContent, from start: Int, _ runs: SectionRuns) {
    (self.content, self.start, self.runs) = (content, start, runs)
  }

  /// How many objects a section has; nil if there is no such section.
  func count(inSection section: Int) -> Int? {
    section >= 0 && section < runs.count ? Int(runs[section].count) : nil
  }

  /// The object at a path; nil if there is none. O(√sections + log removed), and what the content takes.
  func number(at path: ListPath) throws(ContextError) -> ObjectNumber? {
    guard let count = count(inSection: path.section), path.item >= 0, path.item < count else { return nil }
    let place = runs.start(of: path.section) + path.item
    let position = start + removed.number(ofGap: place) { $0 }
    // A damaged index may count more objects in its groups than the list has.
    guard position < content.count else { return nil }
    return try content.numbers(at: position..<position + 1).first
  }

  /// The state between two that a stage leads to, unless it is the last one.
  ///
  /// - Parameters:
  ///   - stage: one of ``ListChanges/stages``. At most one of them takes something out.
  ///   - changes: the difference that the stage belongs to.
  func after(_ stage: ListBatch, of changes: ListChanges) -> ListArrangement {
    var next = self
    next.remove(stage)
    for section in stage.insertedSections.isEmpty ? [] : changes.insertedSections {
      next.runs.insert(SectionRuns.Run(name: section.name, count: 0), at: section.section)
    }
    return next
  }

  private mutating func remove(_ stage: ListBatch) {
    if stage.deletedItems.isEmpty, stage.deletedSections.isEmpty { return }
    removed = stage.deletedItems.map { runs.start(of: $0.section) + $0.item }
    for section in stage.deletedSections {
      let start = runs.start(of: section)
      removed += start..<start + Int(runs[section].count)
    }
    removed.sort()
    for path in stage.deletedItems { runs.change(path.section, by: -1) }
    for section in stage.deletedSections { runs.remove(section) }
  }
}

extension FetchedResults {
  /// What the list shows, whatever it shows later.
  ///
  /// - Parameter isDivided: false for one section of all objects.
  func arrangement(isDivided: Bool) -> ListArrangement {
    guard context != nil else { return ListArrangement(NumberedContent([]), from: 0, SectionRuns()) }
    if isDivided, let runs = sectioning?.runs { return list.arrangement(runs) }
    var all = SectionRuns()
    all.append("", list.count)
    return list.arrangement(all)
  }
}
