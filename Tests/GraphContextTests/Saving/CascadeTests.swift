import Cambium
import Foundation
import GraphTestSupport
import PageStore
import TestSupport
import Testing

@testable import GraphContext

@Model private final class Folder {
  var name: String = ""
  @Relationship(deleteRule: .cascade, inverse: \Step.folder) var steps: ToMany<Step> = []
  init() {}
}

@Model private final class Step {
  var place: Int
  @Relationship var folder: Folder?
  @Relationship(deleteRule: .cascade, inverse: \Step.previous) var next: Step?
  @Relationship(deleteRule: .deny) var previous: Step?
  init(_ place: Int) { self.place = place }
}

/// Chains of cascades, and rules that meet in a circle.
struct CascadeTests {
  private static func open() async throws -> PersistentContainer {
    var options = StoreOptions()
    options.durability = .none
    return try await PersistentContainer(
      "Steps",
      models: Folder.self,
      Step.self,
      at: .inMemory,
      options: options
    )
  }

  @Test func aLongChainThatOthersHaveSavedSinceIsDeletedWithoutRecursion() async throws {
    let container = try await Self.open()
    // A background task has the small stack of its thread.
    try await container.performBackgroundTask { context in
      let folder = Folder()
      context.insert(folder)
      try context.save()
      let other = try ManagedObjectContext(coordinator: container.coordinator)
      defer { other.end() }
      var first: Step?
      for place in 0..<8_000 {
        let step = Step(place)
        other.insert(step)
        step.next = first
        first = step
      }
      first?.folder = try other.existingObject(Folder.self, with: folder.objectID)
      try other.save()
      context.delete(folder)
      try context.save()
      #expect(try context.count(From<Step>()) == 0)
    }
    #expect(try await container.verify().isEmpty)
  }

  @Test func aRuleThatDeniesIsContentWhenTheOtherEndGoesToo() async throws {
    let container = try await Self.open()
    let (context, other) = (try container.context(), try container.context())
    let folder = Folder()
    context.insert(folder)
    try context.save()
    try other.refresh()
    let (first, second) = (Step(1), Step(2))
    second.previous = first
    first.folder = try other.existingObject(Folder.self, with: folder.objectID)
    other.insert(second)
    try other.save()
    // The deletion of the first step also deletes the second one. The deny rule of the inverse counts only if an
    // object stays.
    context.delete(folder)
    try context.save()
    #expect(try context.count(From<Step>()) == 0)
    #expect(try await container.verify().isEmpty)
    context.end()
    other.end()
  }
}
