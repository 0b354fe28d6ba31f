import Cambium
import Testing

@testable import GraphContext

/// Links that are made in one way and changed in another, around insertion, deletion and lists that are kept.
struct LinkTests {
  @Model final class Parent {
    var name: String
    @Relationship(inverse: \Child.parent) var children: [Child] = []
    @Relationship(inverse: \Item.owner) var items: ToMany<Item> = []
    @Relationship(inverse: \Friend.parents) var friends: [Friend] = []
    init(_ name: String) { self.name = name }
  }

  @Model final class Child {
    var number: Int
    @Relationship var parent: Parent?
    /// Without an inverse.
    @Relationship var buddy: Child?
    init(_ number: Int) { self.number = number }
  }

  @Model final class Item {
    var number: Int
    @Relationship var owner: Parent?
    init(_ number: Int) { self.number = number }
  }

  @Model final class Friend {
    var number: Int
    @Relationship var parents: ToMany<Parent> = []
    init(_ number: Int) { self.number = number }
  }

  @Model final class Node {
    var number: Int
    @Relationship(deleteRule: .cascade, inverse: \Node.parent) var children: [Node] = []
    @Relationship var parent: Node?
    init(_ number: Int) { self.number = number }
  }

  private func inContext(_ body: @Sendable @escaping (ManagedObjectContext) throws -> Void) async throws {
    let container = try await PersistentContainer(
      "Links",
      models: Parent.self,
      Child.self,
      Item.self,
      Friend.self,
      Node.self,
      at: .inMemory
    )
    try await container.performBackgroundTask(body)
  }

  @Test func aMemberThatBringsAnotherAlongIsListedWithIt() async throws {
    try await inContext { context in
      let (parent, first, second) = (Parent("p"), Child(1), Child(2))
      second.parent = parent
      first.buddy = second
      context.insert(parent)
      parent.children.append(first)
      parent.children.append(Child(3))
      parent.children.removeLast()
      #expect(Set(parent.children) == [first, second])
      try context.save()
      #expect(first.parent === parent && second.parent === parent)
    }
  }

  @Test func aMemberThatTakesAnotherAwayIsListedWithoutIt() async throws {
    try await inContext { context in
      let (root, first, second, third) = (Node(0), Node(1), Node(2), Node(3))
      context.insert(root)
      second.children = [first]
      root.children += [first, second]
      #expect(root.children == [first, second] && first.parent === root && second.children.isEmpty)
      second.children.append(first)
      root.children.append(third)
      root.children.removeFirst()
      #expect(root.children == [third])
    }
  }

  /// By the end of the access, another object may have the memory address of a removed member.
  @Test func aMemberAtTheAddressOfAnotherIsNoticed() async throws {
    try await inContext { context in
      let parent = Parent("p")
      context.insert(parent)
      parent.children = (0..<3).map(Child.init)
      for number in 1_000..<2_500 { context.insert(Child(number)) }
      try context.save()
      let other = try ManagedObjectContext(coordinator: context.coordinator)
      let known = try #require(try other.fetchOne(From<Parent>()))
      func change(_ list: inout [Child]) throws -> Int? {
        let gone = ObjectIdentifier(list.removeLast())
        let others = try other.fetch(From<Child>().where { $0.number >= 1_000 })
        guard let same = others.first(where: { ObjectIdentifier($0) == gone }) else { return nil }
        list.append(same)
        return same.number
      }
      let added = try change(&known.children)
      #expect(known.children.map(\.number) == [0, 1] + [added].compactMap(\.self))
      other.end()
    }
  }

  @Test func membersThatWereReplacedBeforeStayOutside() async throws {
    try await inContext { context in
      let saved = Child(1)
      context.insert(saved)
      try context.save()
      let parent = Parent("p")
      parent.children = [Child(99)]
      parent.children = [saved]
      try context.save()
      #expect(try context.count(From<Child>()) == 1 && saved.parent === parent)
    }
  }

  @Test func aSavedMemberAnywhereInAnAssignedListBringsItsOwner() async throws {
    try await inContext { context in
      let saved = Child(1)
      context.insert(saved)
      let parent = Parent("p")
      parent.children = [saved] + (0..<40).map(Child.init)
      #expect(saved.parent === parent && parent.isInserted && parent.children.count == 41)
    }
  }

  @Test func theReferenceOfADeletedObjectIsUnlinkedOnce() async throws {
    try await inContext { context in
      let (first, second, item) = (Parent("p"), Parent("q"), Item(1))
      [first, second].forEach { context.insert($0) }
      item.owner = first
      try context.save()
      item.owner = second
      #expect(second.items.count == 1)
      context.delete(item)
      item.owner = nil
      #expect(first.items.count == 0 && second.items.count == 0 && Array(second.items).isEmpty)
      try context.save()
    }
  }

  @Test func aViewDoesNotOutliveItsOwnersInsertion() async throws {
    try await inContext { context in
      let (owner, item) = (Parent("q"), Item(1))
      context.insert(owner)
      item.owner = owner
      try context.save()
      let passing = Parent("p")
      context.insert(passing)
      var view = passing.items
      context.rollback()
      #expect(view.count == 0 && view.isEmpty && Array(view).isEmpty && !view.contains(item))
      view.remove(item)
      #expect(item.owner === owner)
      view.append(item)
      let error = #expect(throws: ContextError.self) { try context.save() }
      #expect(error?.code == .objectNotFound && item.owner === owner)
      context.rollback()
    }
  }

  @Test func aLinkToADeletedObjectCanBeTakenBackFromEitherEnd() async throws {
    try await inContext { context in
      for takesBack in [0, 1, 2] {
        let (parent, friend) = (Parent("p"), Friend(1))
        context.insert(parent)
        context.insert(friend)
        try context.save()
        context.delete(parent)
        parent.friends.append(friend)
        switch takesBack {
        case 0: friend.parents.remove(parent)
        case 1: parent.friends = []
        default: context.delete(friend)
        }
        try context.save()
      }
      let (child, root) = (Node(1), Node(2))
      context.insert(child)
      context.insert(root)
      try context.save()
      context.delete(child)
      child.parent = root
      context.delete(root)
      try context.save()
      #expect(try context.count(From<Node>()) == 0)
    }
  }

  @Test func keyPathsIntoAListAreMistakes() {
    for keyPath in [\Parent.children[0].number, \Parent.children.first!.number] {
      let mistake = #expect(throws: QueryError.self) { try Parent.predicatePath(of: keyPath) }
      #expect(mistake?.code == .keyPath)
    }
  }
}
