import Cambium
import GraphTestSupport
import TestSupport
import Testing

@testable import GraphContext

/// Arrays of members that are changed in place, one access after the other.
struct AppendingTests {
  @Model final class Parent {
    var name: String
    @Relationship(deleteRule: .cascade, inverse: \Child.parent) var children: [Child] = []
    @Relationship(inverse: \Friend.parents) var friends: [Friend] = []
    init(_ name: String) { self.name = name }
  }

  @Model final class Child {
    var number: Int
    @Relationship var parent: Parent?
    init(_ number: Int) { self.number = number }
  }

  @Model final class Friend {
    var number: Int
    @Relationship var parents: ToMany<Parent> = []
    init(_ number: Int) { self.number = number }
  }

  private func open() async throws -> PersistentContainer {
    try await PersistentContainer("Family", models: Parent.self, Child.self, Friend.self, at: .inMemory)
  }

  /// A number for which making a new list for each change would take minutes.
  private static let count = 20_000

  @Test func manyAreAppendedOneByOne() async throws {
    try await open().performBackgroundTask { context in
      let parent = Parent("A")
      context.insert(parent)
      for number in 0..<Self.count {
        let child = Child(number)
        parent.children.append(child)
        #expect(child.parent === parent)
      }
      try context.save()
      #expect(try context.count(From<Child>().where { $0.parent == parent }) == Self.count)
      #expect(parent.children.map(\.number) == Array(0..<Self.count))
    }
  }

  /// Twice as many appends list twice as many members, not four times as many: each member from before the appends is
  /// listed once.
  @Test func appendingListsTheMembersOnce() async throws {
    try await open().performBackgroundTask { context in
      for count in [100, 200, 400, 800] {
        let parents = (0..<2).map { Parent("\($0)") }
        for parent in parents {
          context.insert(parent)
          parent.children = (0..<count).map(Child.init)
        }
        try context.save()
        let before = context.view.counters.membersListed
        for number in 0..<count {
          for parent in parents {
            parent.children.append(Child(number))
            // Neither of these lists anything.
            parent.friends.append(Friend(number))
            parent.name = "\(number)"
          }
        }
        #expect(context.view.counters.membersListed - before == 2 * count)
      }
    }
  }

  @Test func manyAreAppendedToAnObjectInNoContext() {
    let (friend, parent) = (Friend(0), Parent("A"))
    for number in 0..<Self.count {
      friend.parents.append(Parent("\(number)"))
      parent.children.append(Child(number))
    }
    friend.parents.append(contentsOf: Array(friend.parents))
    #expect(friend.parents.count == Self.count && parent.children.count == Self.count)
    var copy = friend.parents
    copy.append(parent)
    #expect(
      copy.count == Self.count + 1 && friend.parents.count == Self.count && !friend.parents.contains(parent)
    )
  }

  /// Random changes of the same relationships in all possible ways, beside plain arrays.
  @Test func listsThatAreKeptAreRight() async throws {
    let container = try await open()
    var generator = SeededGenerator()
    for _ in 0..<60 {
      let seed = generator.next()
      try await container.performBackgroundTask { context in
        var random = SeededGenerator(seed: seed)
        try Self.live(context, &random)
      }
    }
  }

  private static func live(_ context: ManagedObjectContext, _ random: inout SeededGenerator) throws {
    let parents = (0..<3).map { Parent("\($0)") }
    parents.forEach(context.insert)
    var children = (0..<4).map(Child.init)
    let friends = (0..<4).map(Friend.init)
    friends.forEach(context.insert)
    /// By parent, in the order of insertion.
    var model = parents.map { _ in Set<ObjectIdentifier>() }
    var friendships = model
    func give(_ child: Child, to owner: Int?) {
      for place in model.indices { model[place].remove(ObjectIdentifier(child)) }
      if let owner { model[owner].insert(ObjectIdentifier(child)) }
    }
    var history: [String] = []
    for _ in 0..<40 {
      let place = random.number(in: 0...2)
      let parent = parents[place]
      let child = children[random.number(in: 0...(children.count - 1))]
      let friend = friends[random.number(in: 0...3)]
      let step = random.number(in: 0...11)
      history.append("\(step) \(place)")
      switch step {
      case 0...2:
        let fresh = Child(children.count)
        children.append(fresh)
        parent.children.append(fresh)
        give(fresh, to: place)
      case 3:
        parent.children.append(child)
        give(child, to: place)
      case 4:
        child.parent = parent
        context.insert(child)
        give(child, to: place)
      case 5:
        child.parent = nil
        give(child, to: nil)
      case 6:
        let gone = parent.children.first
        parent.children.removeFirst(gone == nil ? 0 : 1)
        if let gone { give(gone, to: nil) }
      case 7:
        // Several changes in one access.
        let fresh = Child(children.count)
        children.append(fresh)
        func change(_ list: inout [Child]) {
          let gone = list.popLast()
          list.append(fresh)
          list.append(child)
          if let gone { give(gone, to: nil) }
        }
        change(&parent.children)
        give(fresh, to: place)
        give(child, to: place)
      case 8:
        parent.friends.append(friend)
        friendships[place].insert(ObjectIdentifier(friend))
      case 9:
        friend.parents.remove(parent)
        friendships[place].remove(ObjectIdentifier(friend))
      case 10:
        friend.parents.append(parent)
        friendships[place].insert(ObjectIdentifier(friend))
      default:
        children.forEach(context.insert)
        try context.save()
      }
      for (place, parent) in parents.enumerated() {
        #expect(Set(parent.children.map { ObjectIdentifier($0) }) == model[place], "\(history)")
        #expect(parent.children.allSatisfy { $0.parent === parent }, "\(history)")
        #expect(Set(parent.friends.map { ObjectIdentifier($0) }) == friendships[place], "\(history)")
      }
    }
  }
}
