import Cambium
import Foundation
import GraphTestSupport
import PageStore
import Predicates
import TestSupport
import Testing

@testable import GraphContext

/// Records of classes that the catalogue doesn't have, and other bytes of hierarchies that no version of the library
/// writes. `verify` reports them, and nothing traps.
struct ForgedHierarchyTests {
  private let container: PersistentContainer

  init() async throws {
    container = try await Media.open()
    try container.inContext { (context: ManagedObjectContext) throws -> Void in
      let shelf = Media.Shelf("A")
      context.insert(shelf)
      let (book, disc) = (Media.Book(1), Media.Disc(2))
      book.notes = [Media.Note("n")]
      book.tags = ["x"]
      disc.tracks = [Media.Tune(3, on: disc)]
      shelf.items = [book, disc]
      shelf.favourites = [book]
      try context.save()
    }
    #expect(try await container.verify() == [])
  }

  private var items: StoredEntity {
    get throws { try #require(container.coordinator.schema.entity(named: "Item")) }
  }

  /// The number of an item.
  private func number(_ code: Int) throws -> ObjectNumber {
    let store = try DynamicStore(container.store)
    let query = DynamicQuery("Item", where: try PredicateTree(format: "code == %d", arguments: [code]))
    return try #require(try store.rows(of: query).first).objectID.number
  }

  /// Plants a copy of the book's record, with its entries in indexes and links, under a number with another class tag.
  private func plant(_ tag: UInt16) async throws -> ObjectNumber {
    let (items, number) = (try items, try number(1))
    let forged = ObjectNumber(rawValue: number.sequence | UInt64(tag) << 50)
    try await container.store.write { transaction in
      let records = try transaction.tree(items.treeName)
      let bytes = try #require(try records.value(for: KeyCoder.key(of: number)))
      _ = try records.put(KeyCoder.key(of: forged), bytes)
      try bytes.withUnsafeBytes { bytes in
        let record = RecordView(validated: bytes, layout: items.layout)
        for index in items.declaredIndexes {
          let tree = try transaction.tree(items.treeName(of: index.id))
          for key in index.keys(of: record, forged) { _ = try tree.put(key, []) }
        }
        for toOne in items.toOnes where !record.isNull(toOne.slot) {
          _ = try transaction.tree(toOne.treeName).put(
            KeyCoder.pair(record.reference(toOne.slot), forged),
            []
          )
        }
      }
      for toMany in items.toManys {
        guard case .pairs(let trees) = toMany.storage else { continue }
        var cursor = try transaction.tree(trees.forward).cursor(in: .prefix(KeyCoder.key(of: number)))
        var elements: [ObjectNumber] = []
        while try cursor.next() {
          if let element = KeyCoder.number(ending: try cursor.key()) { elements.append(element) }
        }
        for element in elements {
          _ = try transaction.tree(trees.forward).put(KeyCoder.pair(forged, element), [])
          _ = try transaction.tree(trees.backward).put(KeyCoder.pair(element, forged), [])
        }
      }
    }
    return forged
  }

  /// Runs a body that may throw and must not trap. The error has to be `corrupt` or to say that the object doesn't exist.
  private func attempt(_ body: @Sendable (ManagedObjectContext) throws -> Void) throws {
    try container.inContext { (context: ManagedObjectContext) throws -> Void in
      do { try body(context) } catch let error as ContextError {
        let known: [ContextError.Code] = [
          .corrupt, .objectNotFound, .unknownEntity, .conflict, .missingDestination, .notUnique, .wrongValue,
        ]
        #expect(known.contains(error.code), "\(error)")
      }
      context.rollback()
    }
  }

  @Test(arguments: [UInt16(0), 4, 99, 4_095]) func aRecordOfAClassThatIsNotThere(tag: UInt16) async throws {
    let forged = try await plant(tag)
    #expect(
      try await container.verify().contains {
        $0.message.contains("a key is \(forged), which is not an object number")
      }
    )
    try attempt { (context: ManagedObjectContext) throws -> Void in
      let error = #expect(throws: ContextError.self) { try context.fetch(From<Media.Item>()) }
      #expect(error?.code == .corrupt)
    }
    try attempt { (context: ManagedObjectContext) throws -> Void in
      #expect(try context.fetch(From<Media.Book>()).map(\.code) == [1])
      #expect(try context.fetch(From<Media.Disc>()).map(\.code) == [2])
    }
    try attempt { (context: ManagedObjectContext) throws -> Void in
      let shelf = try #require(try context.fetchOne(From<Media.Shelf>()))
      _ = shelf.items.map(\.code)
      _ = shelf.items.count
      shelf.items.move(from: 0, to: shelf.items.count - 1)
      shelf.items.append(Media.Disc(9))
      try context.save()
    }
    try attempt { (context: ManagedObjectContext) throws -> Void in
      let shelf = try #require(try context.fetchOne(From<Media.Shelf>()))
      for item in shelf.items { item.title = "other" }
      _ = context.fetchedTitles(shelf)
      try context.save()
    }
    try attempt { (context: ManagedObjectContext) throws -> Void in
      let manager = ContextUndoManager()
      context.undoManager = manager
      let shelf = try #require(try context.fetchOne(From<Media.Shelf>()))
      shelf.favourites = []
      context.undo()
      context.delete(shelf)
      context.undo()
      context.redo()
      try context.save()
    }
    try attempt { (context: ManagedObjectContext) throws -> Void in
      let child = context.makeChild()
      _ = try child.fetch(From<Media.Item>())
      let shelf = try #require(try child.fetchOne(From<Media.Shelf>()))
      child.delete(shelf)
      try child.save()
      try context.save()
    }
    for container in [container] {
      _ = try? await container.batchUpdate(From<Media.Item>(), .set(\.title, to: "batch"))
      _ = try? await container.batchInsert(Media.Disc.self, from: [1], .set(\.code) { $0 })
      _ = try? await container.batchDelete(From<Media.Item>())
    }
    let store = try DynamicStore(container.store)
    _ = try? store.rows(of: DynamicQuery("Item"))
    _ = try? store.rows(of: DynamicQuery("Book"))
    _ = try await container.verify()
  }

  @Test func aDerivedValueOfAnotherClass() async throws {
    let (items, number) = (try items, try number(2))
    let slot = try #require(items.schema.storedProperty(named: "noteCount")).slot
    try await container.store.write { transaction in
      let records = try transaction.tree(items.treeName)
      let key = KeyCoder.key(of: number)
      var encoder = RecordEncoder(layout: items.layout)
      let bytes = try #require(try records.value(for: key)).withUnsafeBytes { stored in
        [UInt8](
          encoder.encode(RecordView(validated: stored, layout: items.layout), replacing: slot, with: .int(0))
        )
      }
      _ = try records.put(key, bytes)
    }
    #expect(
      try await container.verify().contains {
        $0.message == "Item \(number) has a noteCount, which its class doesn't declare"
      }
    )
  }

  @Test func anElementTooMany() async throws {
    let items = try items
    let index = try #require(items.declaredIndexes.first { $0.isOfElements })
    let tree = items.treeName(of: index.id)
    let numbers = [try number(1), ObjectNumber(rawValue: 1 << 50 | 77)]
    for number in numbers {
      try await container.store.write { transaction in
        var key: [UInt8] = []
        KeyCoder.append(.string("zz"), to: &key)
        KeyCoder.append(.int(0), to: &key)
        KeyCoder.append(number: number, to: &key)
        _ = try transaction.tree(tree).put(key, [])
      }
      #expect(try await container.verify().contains { $0.message.contains("elements in lists of Item") })
      try attempt { (context: ManagedObjectContext) throws -> Void in
        _ = try context.fetch(From<Media.Item>().where { $0.tags.contains("zz") }).map(\.title)
        _ = try context.count(From<Media.Item>().where { $0.tags.contains("zz") && $0.title == "" })
      }
    }
  }
}

extension ManagedObjectContext {
  fileprivate func fetchedTitles(_ shelf: Media.Shelf) -> [String] {
    let request = From<Media.Item>().where { $0.shelf == shelf }.orderBy(.position(in: \.shelf))
    return (try? fetch(request).map(\.title)) ?? []
  }
}
