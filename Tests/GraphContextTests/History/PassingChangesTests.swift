import Cambium
import Foundation
import GraphTestSupport
import TestSupport
import Testing

@testable import GraphContext

private enum Store {
  @Model final class Owner {
    @Relationship(deleteRule: .cascade) var boxes: [Box] = []
    init() {}
  }
  @Model final class Box {
    @Relationship(inverse: \Owner.boxes) var owner: Owner?
    @Relationship(deleteRule: .cascade) var items: [Item] = []
    init() {}
  }
  @Model final class Item {
    @Relationship(inverse: \Box.items) var box: Box?
    @Relationship var tags: [Tag] = []
    init() {}
  }
  @Model final class Tag {
    @Relationship(inverse: \Item.tags) var items: [Item] = []
    init() {}
  }
}

/// The history of a save that adds objects and links which a delete rule removes in the same save.
struct PassingChangesTests {
  /// Another context assigns the box of a new item to an owner that this context deletes. The save inserts the item,
  /// and the delete rule deletes it.
  @Test func whatNeverWasInTheStoreIsNoChange() async throws {
    let container = try await PersistentContainer(
      "Boxes",
      models: Store.Owner.self,
      Store.Box.self,
      Store.Item.self,
      Store.Tag.self,
      at: .inMemory
    )
    try await container.keepHistory()
    let context = try container.context()
    defer { context.end() }
    let (owner, box, tag) = (Store.Owner(), Store.Box(), Store.Tag())
    context.insert(owner)
    context.insert(box)
    context.insert(tag)
    try context.save()
    let (ownerID, boxID) = (owner.objectID, box.objectID)
    let item = Store.Item()
    context.insert(item)
    item.box = box
    item.tags = [tag]
    context.delete(owner)
    try await container.write { context in
      let owner = try context.existingObject(Store.Owner.self, with: ownerID)
      try context.existingObject(Store.Box.self, with: boxID).owner = owner
    }
    context.mergePolicy = .mergeByPropertyObjectTrump
    try context.save()
    let changes = try #require(try await container.history().last).changes
    #expect(Set(changes.map(\.objectID.entityName)) == ["Owner", "Box"])
    #expect(try await container.verify().map(\.description) == [])
  }

  /// The sum of the lengths of the runs has more than 64 bits.
  @Test func anEntryOfTooManyInsertionsIsRefused() {
    var entry = HistoryEntry(
      header: .init(position: 0, previousCommit: 7, date: Date(timeIntervalSinceReferenceDate: 5)),
      author: nil,
      contextName: nil
    )
    let run = UInt64(1)...(UInt64(1) << 62) - 1
    entry.objects = (0..<5).map { _ in .init(entity: .init(rawValue: 3), inserted: [run]) }
    #expect(entry.bytes(of: 9).withUnsafeBytes { HistoryEntry($0, of: 9) } == nil)
    entry.objects = [.init(entity: .init(rawValue: 3), inserted: [1...9])]
    #expect(entry.bytes(of: 9).withUnsafeBytes { HistoryEntry($0, of: 9) } != nil)
  }
}
