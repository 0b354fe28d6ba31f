import Cambium
import Foundation
import PageStore
import Predicates
import TestSupport
import Testing

@testable import GraphContext

/// Bytes of ordered relationships that no version of the library writes. `verify` reports them, reading them throws
/// `corrupt`, and nothing traps.
struct ForgedListTests {
  private let container: PersistentContainer
  private let list: ManagedObjectID

  init() async throws {
    container = try await PersistentContainer("Lists", models: Playlist.self, Track.self, at: .inMemory)
    list = try await container.performBackgroundTask { context in
      let list = Playlist("A")
      list.queued = OrderedToMany(arrayLiteral: Track("a"), Track("b"), Track("c"))
      context.insert(list)
      list.queued.move(from: 2, to: 0)
      try context.save()
      return list.objectID
    }
    #expect(try await container.verify() == [])
  }

  private var table: ReferenceList {
    get throws {
      try #require(container.coordinator.schema.entity(named: "Track")?.toOnes.compactMap(\.list).last)
    }
  }

  /// Replaces the entry of the first track by one with these bytes for its place.
  private func forge(_ place: [UInt8]) async throws {
    let table = try table
    try await container.store.write { transaction in
      let tree = try transaction.tree(table.treeName)
      var prefix: [UInt8] = []
      KeyCoder.append(.reference(list.number), to: &prefix)
      var old = prefix
      KeyCoder.append(ListPlace(0)._attributeValue, to: &old)
      KeyCoder.append(number: ObjectNumber(rawValue: 3), to: &old)
      #expect(try tree.remove(old))
      var new = prefix
      KeyCoder.append(.data(Data(place)), to: &new)
      KeyCoder.append(number: ObjectNumber(rawValue: 3), to: &new)
      _ = try tree.put(new, [])
    }
  }

  @Test(arguments: [
    [], [0x20, 0], [0x21], [0x28, 1], [0xFF, 1, 2], [0x20, 1, 2, 0], [UInt8](repeating: 0x20, count: 40),
  ])
  func aPlaceThatIsNone(_ bytes: [UInt8]) async throws {
    #expect(ListPlace(bytes) == nil)
    try await forge(bytes)
    #expect(try await !container.verify().isEmpty)
    await #expect(throws: ContextError.self) {
      try await container.performBackgroundTask { context in
        let list = try context.object(Playlist.self, with: self.list)
        #expect(list.queued.first { _ in true } == nil)
        list.queued.insert(Track("new"), at: 0)
        try context.save()
      }
    }
  }

  @Test func aPlaceThatTheRecordHasNot() async throws {
    try await forge(ListPlace(7, fraction: [128]).bytes)
    #expect(try await container.verify().contains { $0.message.contains("Track") })
    let titles = try await container.performBackgroundTask { context in
      try context.object(Playlist.self, with: self.list).queuedTitles
    }
    #expect(Set(titles) == ["a", "b", "c"])
  }

  @Test func aRecordWithAPlaceThatIsNone() async throws {
    let table = try table
    let entity = try #require(container.coordinator.schema.entity(named: "Track"))
    try await container.store.write { transaction in
      let tree = try transaction.tree(entity.treeName)
      let key = KeyCoder.key(of: ObjectNumber(rawValue: 3))
      let stored = try #require(try tree.value(for: key))
      var encoder = RecordEncoder(layout: entity.layout)
      try stored.withUnsafeBytes { bytes in
        let record = try #require(RecordView(bytes, layout: entity.layout))
        let forged = encoder.encode(record, replacing: table.slots.place, with: .data(Data([1, 2, 3])))
        _ = try tree.put(key, Array(forged))
      }
    }
    #expect(try await container.verify().contains { $0.message.contains("queue.place") })
    try await container.performBackgroundTask { context in
      let list = try context.object(Playlist.self, with: self.list)
      list.queued.append(Track("new"))
      #expect(list.queued.count == 4)
    }
  }

  @Test func aCatalogueWithAPlaceOfNothing() async throws {
    var catalogue = container.coordinator.schema.catalogue
    #expect(catalogue.unsoundness == nil)
    let index = try #require(catalogue.entities.firstIndex { $0.name == "Track" })
    let whole = catalogue
    catalogue.entities[index].indexes.removeAll()
    #expect(catalogue.unsoundness == "Track has a place that belongs to no ordered relationship")
    catalogue = whole
    let place = try #require(catalogue.entities[index].properties.firstIndex { $0.name == "queue.place" })
    catalogue.entities[index].properties[place].name = "other"
    #expect(catalogue.unsoundness == "Track has a place that belongs to no ordered relationship")
  }
}
