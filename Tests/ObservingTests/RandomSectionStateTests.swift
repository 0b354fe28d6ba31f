import Cambium
import TestSupport
import Testing

@testable import GraphContext

/// Sections that are followed by their names, through random changes of lists of every kind.
struct RandomSectionStateTests {
  private static let stepCount = TestEffort.times(40, long: 1_500)

  /// A list, and the states of some sections according to its differences. These states are compared with those of
  /// the list.
  private final class Followed {
    let list: FetchedResults<Departure>
    var sections: [String: SectionOfName] = [:]
    var states: [String: [ManagedObjectID]] = [:]
    var subscription: ContextSubscription?
    /// The number of differences that did not concern a section.
    var quietCount = 0

    init(_ list: FetchedResults<Departure>) throws {
      self.list = list
      try add()
      subscription = list.onChange { [unowned self] changes in
        for name in sections.keys {
          let wasLost = sections[name]?.isLost == true
          let isConcerned = sections[name]?.follow(changes) == true
          if isConcerned { states[name] = nil } else { quietCount += 1 }
          let mayBeLost = wasLost || changes.isReload || changes.deletedSections.contains { $0.name == name }
          #expect(sections[name]?.isLost == false || mayBeLost, "section \(name)")
        }
      }
    }

    /// Follows the sections that the list has by now, too.
    func add() throws {
      for (number, section) in list.sections.enumerated() where sections[section.name] == nil {
        sections[section.name] = SectionOfName(section.name, number: number)
        states[section.name] = section.map(\.objectID)
      }
    }

    func check(_ step: Int) throws {
      let all = list.sections.map { (name: $0.name, ids: $0.map(\.objectID)) }
      for name in sections.keys {
        let number = all.firstIndex { $0.name == name }
        if sections[name]?.isLost == true { sections[name]?.find(at: number) }
        let ids = number.map { all[$0].ids } ?? []
        try #require(sections[name]?.number == number, "step \(step), section \(name)")
        if let state = states[name] { try #require(state == ids, "step \(step), section \(name)") }
        states[name] = ids
        try #require(Array(try list.snapshot(ofSectionNamed: name)) == ids)
      }
      try add()
    }
  }

  @Test(arguments: [0, 40]) func sectionsAreFollowedByTheirNames(count: Int) async throws {
    var run = try await ListRun(SeededGenerator(), count: count)
    let followed = try run.lists.map { try Followed($0.list) }
    for step in 0..<Self.stepCount {
      try await run.step()
      for list in followed { try list.check(step) }
    }
    #expect(followed.reduce(0) { $0 + $1.quietCount } > 0)
  }
}
