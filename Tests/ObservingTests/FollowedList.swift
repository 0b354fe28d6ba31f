import Cambium
import Testing

@testable import GraphContext

/// A list, and a plain array that follows it by its differences alone.
final class FollowedList {
  let request: From<Departure>
  let list: FetchedResults<Departure>
  private let section: ((Departure) -> String)?
  private let context: ManagedObjectContext
  /// The first state, with all differences applied to it.
  private(set) var mirror: [ManagedObjectID]
  private var names: [String]
  private(set) var changeCount = 0
  private var subscription: ContextSubscription?
  let label: String

  init(
    _ request: From<Departure>,
    _ sectionedBy: SectionedBy<Departure>? = nil,
    section: ((Departure) -> String)? = nil,
    in context: ManagedObjectContext
  ) throws {
    (self.request, self.section, self.context) = (request, section, context)
    label = "\(request)\(section == nil ? "" : " in sections")"
    list = try FetchedResults(request, sectionedBy: sectionedBy, in: context)
    mirror = try context.fetchIDs(request)
    names = list.sections.map(\.name)
    subscription = list.onChange { [unowned self] in
      changeCount += 1
      follow($0)
    }
  }

  private func follow(_ changes: ListChanges) {
    #expect(!changes.isEmpty, "\(label)")
    if changes.isReload {
      mirror = list.map(\.objectID)
      names = list.sections.map(\.name)
      return
    }
    let old = mirror
    guard let new = changes.applied(to: old, { $0 }) else {
      Issue.record("\(label): a difference that doesn't fit")
      return
    }
    mirror = new
    #expect(changes.collectionDifference.flatMap { old.applying($0) } == new, "\(label)")
    for change in changes.changes {
      if let position = change.oldPosition { #expect(old[position] == change.objectID) }
      if let position = change.newPosition { #expect(new[position] == change.objectID) }
      if let path = change.newPath, let position = change.newPosition {
        #expect(list.path(at: position) == path)
      }
    }
    for section in changes.deletedSections.reversed() {
      #expect(names[section.section] == section.name, "\(label)")
      names.remove(at: section.section)
    }
    for section in changes.insertedSections { names.insert(section.name, at: section.section) }
  }

  /// Compares the list, and the array that has followed it, with a fetch.
  func check() throws {
    let expected = try context.fetch(request)
    let ids = expected.map(\.objectID)
    try #require(mirror == ids, "\(label): differences")
    try #require(list.count == ids.count, "\(label): count")
    try #require(Array(list).map(\.objectID) == ids, "\(label): list")
    guard let section else { return }
    var (expectedNames, counts): ([String], [Int]) = ([], [])
    for object in expected {
      let name = section(object)
      if expectedNames.last == name {
        counts[counts.count - 1] += 1
      } else {
        expectedNames.append(name)
        counts.append(1)
      }
    }
    try #require(list.sections.map(\.name) == expectedNames, "\(label): sections")
    try #require(list.sections.map(\.count) == counts, "\(label): counts")
    try #require(names == expectedNames, "\(label): sections that come and go")
  }
}
