import Cambium
import Foundation
import GraphTestSupport
import PageStore
import TestSupport
import Testing

@testable import GraphContext

@Model private final class Branch {
  var name: String
  @Relationship var parent: Branch?
  @Relationship(deleteRule: .cascade, inverse: \Branch.parent) var children: ToMany<Branch> = []
  @Relationship var tree: Tree?
  init(_ name: String) { self.name = name }
}

@Model private final class Tree {
  var name: String
  @Relationship(inverse: \Branch.tree) var branches: [Branch] = []
  init(_ name: String) { self.name = name }
}

/// Two contexts that move on at any time, also with unsaved changes, as a view context does. Whichever objects the
/// other context has deleted, reading doesn't fail and both ends of a relationship agree.
struct MergingContextsTests {
  @Test func contextsThatMoveOnWithUnsavedChangesStayWhole() async throws {
    var options = StoreOptions()
    options.durability = .none
    let container = try await PersistentContainer(
      "Trees",
      models: Branch.self,
      Tree.self,
      at: .inMemory,
      options: options
    )
    var run = try MergingRun(container)
    for _ in 0..<1_500 { try run.step() }
    try run.finish()
  }
}

/// One run over two contexts.
private struct MergingRun {
  private let container: PersistentContainer
  private let contexts: [ManagedObjectContext]
  private var generator = SeededGenerator()
  private var saveCount = 0

  init(_ container: PersistentContainer) throws {
    self.container = container
    contexts = [try container.context(), try container.context()]
  }

  mutating func step() throws {
    let context = generator.pick(contexts)
    switch generator.number(in: 0...9) {
    case 0...1: try insert(context)
    case 2...4: try change(context)
    case 5: try delete(context)
    case 6: try save(context)
    case 7: if generator.chance(1, in: 4) { context.rollback() }
    default: try context.refresh()
    }
    try check(context)
  }

  mutating func finish() throws {
    #expect(saveCount > 10)
    for context in contexts {
      context.rollback()
      try context.refresh()
    }
    let states = try contexts.map { context in
      try context.fetch(From<Branch>()).map { branch in
        [branch.objectID, branch.parent?.objectID, branch.tree?.objectID]
      }
    }
    #expect(states[0] == states[1])
    for context in contexts { context.end() }
  }

  private mutating func pick<Object: ManagedObject>(
    _ type: Object.Type,
    _ context: ManagedObjectContext
  ) throws
    -> Object?
  {
    let objects = try context.fetch(From<Object>())
    return objects.isEmpty ? nil : generator.pick(objects)
  }

  private mutating func insert(_ context: ManagedObjectContext) throws {
    if generator.chance(1, in: 3) { return context.insert(Tree("t")) }
    let branch = Branch("b")
    branch.parent = try pick(Branch.self, context)
    branch.tree = try pick(Tree.self, context)
    context.insert(branch)
  }

  private mutating func change(_ context: ManagedObjectContext) throws {
    guard let branch = try pick(Branch.self, context) else { return }
    switch generator.number(in: 0...2) {
    case 0: branch.name += "x"
    case 1: branch.parent = try pick(Branch.self, context)
    default: branch.tree = generator.chance(1, in: 3) ? nil : try pick(Tree.self, context)
    }
  }

  private mutating func delete(_ context: ManagedObjectContext) throws {
    if generator.chance(1, in: 2) {
      if let branch = try pick(Branch.self, context) { context.delete(branch) }
    } else if let tree = try pick(Tree.self, context) {
      context.delete(tree)
    }
  }

  private mutating func save(_ context: ManagedObjectContext) throws {
    do throws(ContextError) {
      try context.save()
      saveCount += 1
    } catch {
      #expect([.conflict, .missingDestination].contains(error.code), "\(error)")
      context.rollback()
    }
    #expect(try container.verify().isEmpty)
  }

  /// Reads all objects of the context. A failure would show in the next fetch.
  private func check(_ context: ManagedObjectContext) throws {
    let branches = try context.fetch(From<Branch>())
    for branch in branches {
      _ = (branch.name, branch.parent?.name, branch.tree?.name)
      let children = branches.filter { $0.parent === branch }
      try #require(branch.children.map(\.objectID) == children.map(\.objectID))
    }
    for tree in try context.fetch(From<Tree>()) {
      let members = branches.filter { $0.tree === tree }
      try #require(tree.branches.map(\.objectID) == members.map(\.objectID))
    }
    _ = try context.count(From<Branch>())
  }
}
