import Cambium
import TestSupport
import Testing

@testable import GraphContext

/// Surfaces of lists of every kind show what the lists have, in values too, after random changes.
struct RandomTargetTests {
  private static let stepCount = TestEffort.times(40, long: 1_500)

  /// A list, and a surface of it for each way of reporting changes.
  private struct Surfaces {
    let list: FetchedResults<Departure>
    let label: String
    let targets: [RecordingListTarget<String>]
    let sources: [ListDataSource<Departure>]

    init(_ followed: FollowedList) throws {
      (list, label) = (followed.list, followed.label)
      let context = try #require(list.context)
      targets = (0..<3).map { _ in RecordingListTarget { RandomTargetTests.text(of: $0, in: context) } }
      sources = targets.map { [list] in ListDataSource(list, target: $0) }
      sources[1].appliesInStages = true
    }

    func check() throws {
      let expected = list.sections.map {
        $0.map { RandomTargetTests.text(of: $0.objectID, in: list.context!) }
      }
      for (target, kind) in zip(targets, ["one batch", "stages", "sometimes hidden"]) {
        try #require(target.violations == [], "\(label), \(kind): \(target.calls)")
        try #require(target.shown == expected, "\(label), \(kind): \(target.calls)")
        target.calls = []
      }
    }
  }

  private static func text(of id: ManagedObjectID, in context: ManagedObjectContext) -> String {
    guard let object: Departure = try? context.existingObject(with: id) else { return "gone \(id)" }
    return "\(id.number) \(object.minute) \(object.city) \(object.status ?? "")"
  }

  @Test(arguments: [0, 40]) func surfacesShowTheirLists(count: Int) async throws {
    var run = try await ListRun(SeededGenerator(), count: count)
    let surfaces = try run.lists.map(Surfaces.init)
    let context = try #require(surfaces[0].list.context)
    let together = [false, true].map { inStages in
      let target = RecordingListTarget { Self.text(of: $0, in: context) }
      let adapter = SectionedListAdapter(target: target)
      adapter.appliesInStages = inStages
      for surface in surfaces { adapter.add(surface.list) }
      return (target: target, adapter: adapter)
    }
    for step in 0..<Self.stepCount {
      for surface in surfaces { surface.targets[2].isVisible = step % 3 != 0 }
      try await run.step()
      for surface in surfaces { try surface.check() }
      let expected = surfaces.map { $0.list.map { Self.text(of: $0.objectID, in: context) } }
      for (target, adapter) in together {
        try #require(target.violations == [], "step \(step)")
        try #require(target.shown == expected, "step \(step), in stages: \(adapter.appliesInStages)")
      }
    }
  }
}
