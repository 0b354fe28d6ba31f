import Cambium
import Testing

@testable import GraphContext

/// Views of relationships that are made of a sequence, and emptied.
struct CollectionsOfSequencesTests {
  @Model final class Shelf {
    var name: String
    @Relationship(inverse: \Volume.shelves) var volumes: ToMany<Volume> = []
    @Relationship(.ordered, inverse: \Volume.queues) var queue: OrderedToMany<Volume> = []
    init(_ name: String) { self.name = name }
  }

  @Model final class Volume {
    var title: String
    @Relationship var shelves: ToMany<Shelf> = []
    @Relationship var queues: [Shelf] = []
    init(_ title: String) { self.title = title }
  }

  private func open() async throws -> PersistentContainer {
    try await PersistentContainer("Shelves", models: Shelf.self, Volume.self, at: .inMemory)
  }

  @Test func aCollectionHasEachObjectOfTheSequenceOnce() {
    let volumes = ["a", "b", "c"].map { Volume($0) }
    let twice = ToMany(volumes + volumes)
    #expect(twice.map(\.title) == ["a", "b", "c"])
    let slice = ToMany(volumes[1...])
    #expect(slice.map(\.title) == ["b", "c"])
    let set = ToMany(Set(volumes))
    #expect(set.count == 3)
    let ordered = OrderedToMany([volumes[2], volumes[0], volumes[2]])
    #expect(ordered.map(\.title) == ["c", "a"])
    let copy = OrderedToMany(ordered)
    #expect(copy.map(\.title) == ["c", "a"])
  }

  @Test func literalsMakeTheSameCollections() {
    let volume = Volume("a")
    let (none, nothing) = (ToMany<Volume>([]), OrderedToMany<Volume>([]))
    #expect(none.isEmpty && nothing.isEmpty)
    let members: ToMany<Volume> = [volume, volume]
    let ordered: OrderedToMany<Volume> = [volume, volume]
    #expect(members.count == 1 && ordered.count == 1)
  }

  @Test func aRelationshipIsSetToASequence() async throws {
    let container = try await open()
    try await container.performBackgroundTask { context in
      let (shelf, other) = (Shelf("A"), Shelf("B"))
      context.insert(shelf)
      context.insert(other)
      let volumes = ["a", "b", "c"].map { Volume($0) }
      shelf.volumes = ToMany(volumes)
      shelf.queue = OrderedToMany([volumes[2], volumes[0], volumes[1]])
      other.volumes = ToMany(shelf.volumes)
      other.volumes.remove(volumes[0])
      #expect(shelf.volumes.count == 3 && other.volumes.count == 2)
      try context.save()
      #expect(shelf.queue.map(\.title) == ["c", "a", "b"])
      #expect(volumes[1].shelves.count == 2)
    }
    #expect(try await container.verify().map(\.description) == [])
  }

  @Test func allMembersAreRemoved() async throws {
    let unattached = Shelf("A")
    unattached.volumes = ToMany(["a", "b"].map { Volume($0) })
    var copy = unattached.volumes
    copy.removeAll()
    #expect(copy.isEmpty && unattached.volumes.count == 2)
    unattached.volumes.removeAll()
    #expect(unattached.volumes.isEmpty)

    let container = try await open()
    try await container.performBackgroundTask { context in
      let shelf = Shelf("B")
      context.insert(shelf)
      shelf.volumes = ToMany(["a", "b"].map { Volume($0) })
      try context.save()
      shelf.volumes.removeAll()
      #expect(shelf.volumes.isEmpty)
      context.rollback()
      #expect(shelf.volumes.count == 2)
      shelf.volumes.append(Volume("c"))
      shelf.volumes.removeAll()
      try context.save()
      #expect(shelf.volumes.isEmpty)
      #expect(try context.count(From<Volume>()) == 3)
    }
    #expect(try await container.verify().map(\.description) == [])
  }
}
