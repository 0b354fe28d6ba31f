import Cambium
import Testing

@testable import GraphContext

/// Objects that lead to each other, in chains longer than a stack is deep.
struct LongChainTests {
  @Model final class Link {
    var number: Int
    @Relationship(deleteRule: .cascade, inverse: \Link.previous) var next: Link?
    @Relationship var previous: Link?
    init(_ number: Int) { self.number = number }
  }

  @Model final class Branch {
    var number: Int
    @Relationship(deleteRule: .cascade, inverse: \Branch.parent) var children: [Branch] = []
    @Relationship var parent: Branch?
    init(_ number: Int) { self.number = number }
  }

  private static let length = 40_000

  /// Returns the first of `length` new objects, each of which leads to the next.
  private func chain() -> Link {
    var first = Link(0)
    for number in 1..<Self.length {
      let link = Link(number)
      link.next = first
      first = link
    }
    return first
  }

  private func nest() -> Branch {
    var root = Branch(0)
    for number in 1..<Self.length {
      let branch = Branch(number)
      branch.children.append(root)
      root = branch
    }
    return root
  }

  @Test func droppingNewObjectsNeedsNoStack() {
    var link: Link? = chain()
    let kept = link?.next?.next
    link = nil
    // An object that is still referenced keeps the objects that it leads to.
    var count = 0
    var rest = kept
    while let next = rest {
      count += 1
      rest = next.next
    }
    #expect(link == nil && count == Self.length - 2)
    var branch: Branch? = nest()
    #expect(branch?.children.count == 1)
    branch = nil
  }

  @Test func insertingAndDeletingThemNeedsNoStack() async throws {
    let container = try await PersistentContainer("Chains", models: Link.self, Branch.self, at: .inMemory)
    try await container.performBackgroundTask { context in
      let (link, branch) = (chain(), nest())
      context.insert(link)
      context.insert(branch)
      #expect(context.insertedObjects.count == 2 * Self.length)
      context.delete(link)
      context.delete(branch)
      #expect(context.insertedObjects.isEmpty)
      context.insert(chain())
      context.rollback()
      try context.save()
      #expect(try context.count(From<Link>()) == 0)
    }
  }
}
