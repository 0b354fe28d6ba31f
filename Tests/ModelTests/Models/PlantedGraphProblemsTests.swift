import Cambium
import Foundation
import GraphTestSupport
import PageStore
import Predicates
import TestSupport
import Testing

@testable import GraphContext

// A shop: an index of each sort, a value of each kind that has wrong bytes, and a relationship of each sort of storage.
private enum Shop {
  @Model final class Item {
    #Index<Item>([\.title])
    #Index<Item>([\.title], folding: .case)
    #Unique<Item>([\.code])
    var title: String
    var code: Int
    var price: Decimal?
    var isNew: Bool
    var note: Data?
    @Relationship var maker: Maker?
    @Relationship(inverse: \Tag.items) var tags: [Tag] = []
    init(_ code: Int, _ maker: Maker?) {
      title = "Item \(code)"
      self.code = code
      price = Decimal(code)
      isNew = code % 2 == 0
      self.maker = maker
    }
  }
  @Model final class Maker {
    var name: String
    @Relationship(inverse: \Item.maker) var items: [Item] = []
    @Relationship var seal: Seal?
    init(_ name: String) { self.name = name }
  }
  @Model final class Seal {
    @Relationship(inverse: \Maker.seal) var maker: Maker?
    init() {}
  }
  @Model final class Tag {
    var name: String
    @Relationship var items: [Item] = []
    init(_ name: String) { self.name = name }
  }

  static let models: [any ManagedObject.Type] = [Item.self, Maker.self, Seal.self, Tag.self]

  static func open(_ path: String? = nil) async throws -> PersistentContainer {
    let location = path.map { StoreLocation.file(URL(fileURLWithPath: $0)) } ?? .inMemory
    return try await PersistentContainer("Shop", models: models, at: location)
  }

  /// Items 1 to `count`, of which each has the one tag, and makers 1 and 2, of which the first has the seal.
  static func fill(_ container: PersistentContainer, count: Int = 12) async throws {
    try await container.performBackgroundTask { context in
      let (first, second, tag, seal) = (Maker("A"), Maker("B"), Tag("t"), Seal())
      for object in [first, second] { context.insert(object) }
      context.insert(tag)
      context.insert(seal)
      seal.maker = first
      for code in 1...count {
        let item = Item(code, code % 3 == 0 ? nil : code % 3 == 1 ? first : second)
        context.insert(item)
        item.tags = [tag]
      }
      try context.save()
    }
  }
}

/// Each rule of Docs/Records.md is violated once. `verify` reports each violation.
struct PlantedGraphProblemsTests {
  private typealias Plant = @Sendable (inout WriteTransaction, ResolvedSchema) throws -> Void

  private func key(_ number: ObjectNumber) -> [UInt8] { KeyCoder.key(of: number) }

  /// Returns the problems that verifying a store reports after a change, and checks that it reported none before.
  private func problems(_ plants: [Plant]) async throws -> [IntegrityProblem] {
    let shop = try await Shop.open()
    try await Shop.fill(shop)
    #expect(try await shop.verify() == [])
    let schema = shop.coordinator.schema
    try await shop.store.write { transaction in
      for plant in plants { try plant(&transaction, schema) }
    }
    return try await shop.verify()
  }

  private func expect(_ message: String, in tree: String, _ plant: @escaping Plant) async throws {
    let found = try await problems([plant])
    let name = try await Shop.open().tree(tree)
    #expect(found.contains { $0.message.contains(message) && $0.tree == name }, "\(message): \(found)")
  }

  /// Changes the record of an object.
  private func record(
    of entity: String = "Item",
    _ number: ObjectNumber = 1,
    _ change: @escaping @Sendable (inout [UInt8], RecordLayout, EntitySchema) -> Void
  ) -> Plant {
    { transaction, schema in
      let stored = try #require(schema.entity(named: entity))
      let tree = try transaction.tree(stored.treeName)
      var bytes = try #require(try tree.value(for: KeyCoder.key(of: number)))
      change(&bytes, stored.layout, stored.schema)
      _ = try tree.put(KeyCoder.key(of: number), bytes)
    }
  }

  private func put(_ name: String, _ key: [UInt8], _ value: [UInt8] = []) -> Plant {
    { transaction, schema in _ = try transaction.tree(schema.tree(name)).put(key, value) }
  }

  private func remove(_ name: String, _ key: [UInt8]) -> Plant {
    { transaction, schema in _ = try transaction.tree(schema.tree(name)).remove(key) }
  }

  private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

  // MARK: The tree `schema`

  @Test func leasesThatAreMissingOrTooLow() async throws {
    let lease = try await Shop.open().coordinator.schema.numbersKey("Item")
    try await expect("there is no lease of numbers for Item", in: "schema", remove("schema", lease))
    try await expect(
      "Item 12 has a number that was not leased",
      in: "schema",
      put("schema", lease, SchemaTree.bytes(UInt64(12)))
    )
    try await expect("for Item is damaged", in: "schema", put("schema", lease, [1, 2]))
    try await expect("for Item is damaged", in: "schema", put("schema", lease, SchemaTree.bytes(UInt64.max)))
    #expect(try await problems([put("schema", lease, SchemaTree.bytes(UInt64(13)))]) == [])
  }

  @Test func numbersThatNoObjectCanHave() async throws {
    let beyond = SchemaTree.bytes(ObjectNumber.greatestSequence + 2)
    let lease = try await Shop.open().coordinator.schema.numbersKey("Item")
    try await expect("for Item is damaged", in: "schema", put("schema", lease, beyond))
    for rawValue in [0, 1 << 50 | 1, 1 << 62 | 1, 1 << 63 | 1] as [UInt64] {
      let number = ObjectNumber(rawValue: rawValue)
      try await expect(
        "a key is \(number), which is not an object number",
        in: "e/Item",
        put("e/Item", key(number))
      )
      try await expect(
        "the maker of Item 1 is not a valid value of the kind reference",
        in: "e/Item",
        record { bytes, layout, schema in
          guard let slot = schema.stored.first(where: { $0.name == "maker" })?.slot else { return }
          let place = layout.fields[slot].position
          bytes.replaceSubrange(place..<place + 8, with: SchemaTree.bytes(rawValue))
        }
      )
    }
  }

  @Test func aRuinedSchema() async throws {
    try await expect("the schema (DecodingError", in: "schema", put("schema", bytes("model"), bytes("{}")))
    try await expect("the schema of the store is missing", in: "schema", remove("schema", bytes("model")))
    try await expect("the format version", in: "schema", remove("schema", bytes("format")))
    try await expect(
      "newer library",
      in: "schema",
      put("schema", bytes("format"), SchemaTree.bytes(UInt32(77)))
    )
    try await expect("strings is damaged", in: "schema", put("schema", bytes("folding"), bytes("16")))
    try await expect("folding of strings is missing", in: "schema", remove("schema", bytes("folding")))
    try await expect("the key other means nothing", in: "schema", put("schema", bytes("other"), []))
    try await expect("numbers/Nobody means nothing", in: "schema", put("schema", bytes("numbers/Nobody"), []))
    try await expect("the store has no schema", in: "schema") { transaction, _ in
      try transaction.dropTree("schema")
    }
    try await expect("not the one that the store is used with", in: "schema") { transaction, schema in
      var changed = schema.catalogue
      changed.version = Schema.Version(9)
      _ = try transaction.tree("schema").put(SchemaTree.modelKey, SchemaTree.encoded(changed))
    }
  }

  @Test func aCatalogueThatMakesNoSense() async throws {
    func expect(
      _ message: String,
      _ change: @escaping @Sendable (inout CataloguedSchema) throws -> Void
    ) async throws {
      try await self.expect(message, in: "schema") { transaction, schema in
        var changed = schema.catalogue
        try change(&changed)
        _ = try transaction.tree("schema").put(SchemaTree.modelKey, SchemaTree.encoded(changed))
      }
    }
    try await expect("is used twice or was never given") { $0.nextNumber = 3 }
    try await expect("is used twice or was never given") { $0.entities[1].indexes = $0.entities[0].indexes }
    try await expect("has two owners") { $0.entities[1].tree = $0.entities[0].tree }
    try await expect("has two owners") { $0.entities[1].tree = "schema" }
    try await expect("lacks a property or has one too many") { $0.entities[0].properties.removeFirst() }
    try await expect("leads to no entity") { $0.entities.removeLast() }
    try await expect("of its kind") { $0.entities[0].properties[0].absentValue = .uuid(UUID()) }
    for tree in ["schema", "e/Item"] {
      try await self.expect("it removes the tree", in: "schema") { transaction, schema in
        var state = MigrationState(
          target: schema.catalogue,
          steps: [],
          totalRowCount: 0,
          droppedTrees: [schema.tree(tree)]
        )
        state.isSwitched = true
        try SchemaTree.store(state, in: &transaction)
      }
    }
    let layout = try await Shop.open().coordinator.schema.catalogue.entities[0]
    let key = SchemaTree.layoutKey(0, of: layout.number)
    try await self.expect("lacks a property", in: "schema", remove("schema", key))
    try await self.expect("DecodingError", in: "schema", put("schema", key, bytes("[]")))
    let next = SchemaTree.layoutKey(2, of: layout.number)
    try await self.expect("means nothing", in: "schema", put("schema", next, bytes("{}")))
  }

  @Test func treesThatBelongToNothing() async throws {
    for name in ["e/Nobody", "i/Item/isNew", "r/Item/tags", "m/Item/maker", "stray"] {
      try await expect("belongs to no entity", in: name, put(name, key(1)))
    }
  }

  // MARK: Records

  @Test func theFrameOfARecord() async throws {
    try await expect("is not an object number", in: "e/Item", put("e/Item", [1, 2, 3]))
    try await expect("is not an object number", in: "e/Item", put("e/Item", key(0)))
    try await expect(
      "the record of Item 1 is damaged",
      in: "e/Item",
      record { bytes, _, _ in bytes.removeLast() }
    )
    for place in [0, 2] {
      try await expect(
        "bits set that mean nothing",
        in: "e/Item",
        record { bytes, _, _ in bytes[place] ^= 2 }
      )
    }
    // No such layout.
    try await expect("record of Item 1 is damaged", in: "e/Item", record { bytes, _, _ in bytes[5] = 2 })
    // A bit after that of the last slot.
    try await expect("bits set that mean nothing", in: "e/Item", record { bytes, _, _ in bytes[16] |= 0x80 })
    try await expect(
      "is of the later commit",
      in: "e/Item",
      record { bytes, _, _ in bytes[15] = 1 }
    )
    try await expect(
      "bits set that mean nothing",
      in: "e/Item",
      record { bytes, layout, schema in
        guard let price = schema.storedProperty(named: "price") else { return }
        bytes[Int(layout.fields[price.slot].nullByte)] |= layout.fields[price.slot].nullMask
      }
    )
  }

  @Test func theValuesOfARecord() async throws {
    func change(_ name: String, _ byte: UInt8, at place: Int = 0) -> Plant {
      record { bytes, layout, schema in
        guard let slot = schema.storedProperty(named: name)?.slot else { return }
        let field = layout.fields[slot]
        let start = field.kind.fixedByteCount == nil ? layout.variableOffset : field.position
        bytes[start + place] = byte
      }
    }
    let isNewProblem = "isNew of Item 1 is not a valid value of the kind bool"
    try await expect(isNewProblem, in: "e/Item", change("isNew", 2))
    let priceProblem = "price of Item 1 is not a valid value of the kind decimal"
    try await expect(priceProblem, in: "e/Item", change("price", 7))
    let titleProblem = "title of Item 1 is not a valid value of the kind string"
    try await expect(titleProblem, in: "e/Item", change("title", 0xFF))
    try await expect(
      "has no title",
      in: "e/Item",
      record { bytes, layout, schema in
        guard let slot = schema.storedProperty(named: "title")?.slot else { return }
        bytes[Int(layout.fields[slot].nullByte)] |= layout.fields[slot].nullMask
      }
    )
    try await expect(
      "the maker of Item 1 is not a valid value of the kind reference",
      in: "e/Item",
      record { bytes, layout, schema in
        guard let slot = schema.storedProperty(named: "maker")?.slot else { return }
        for place in 0..<8 { bytes[layout.fields[slot].position + place] = 0 }
      }
    )
  }

  // MARK: Indexes and relationships

  @Test func entriesOfIndexes() async throws {
    for index in ["i/Item/title", "i/Item/title[c]", "i/Item/code"] {
      let first: Plant = { transaction, schema in
        let tree = try transaction.tree(schema.tree(index))
        _ = try tree.remove(try #require(try tree.entry(at: 0)).key)
      }
      try await expect("the index has no entry for Item", in: index, first)
      try await expect("13 entries for 12 objects", in: index, put(index, [0] + key(1)))
      try await expect("a value of 1 bytes instead of none", in: index) { transaction, schema in
        let tree = try transaction.tree(schema.tree(index))
        _ = try tree.put(try #require(try tree.entry(at: 0)).key, [1])
      }
    }
    try await expect("two objects of Item have the same code", in: "i/Item/code") { transaction, schema in
      let tree = try transaction.tree(schema.tree("i/Item/code"))
      let first = try #require(try tree.entry(at: 0)).key
      _ = try tree.put(first.dropLast(8) + KeyCoder.key(of: 99), [])
    }
  }

  @Test func entriesOfReferences() async throws {
    let pair = KeyCoder.pair(1, 1)
    try await expect("has no entry", in: "r/Item/maker", remove("r/Item/maker", pair))
    try await expect(
      "9 entries for 8 references",
      in: "r/Item/maker",
      put("r/Item/maker", KeyCoder.pair(9, 9))
    )
    try await expect("a value of 2 bytes", in: "r/Item/maker", put("r/Item/maker", pair, [1, 2]))
    try await expect("which doesn't exist", in: "r/Item/maker", remove("e/Maker", key(1)))
    try await expect("doesn't refer back", in: "r/Seal/maker") { transaction, schema in
      let maker = try #require(schema.entity(named: "Maker"))
      let slot = try #require(maker.toOnes.first).slot
      let tree = try transaction.tree(schema.tree("e/Maker"))
      var bytes = try #require(try tree.value(for: KeyCoder.key(of: 1)))
      bytes[maker.layout.fields[slot].position] = 2
      _ = try tree.put(KeyCoder.key(of: 1), bytes)
    }
  }

  @Test func links() async throws {
    let (there, back) = ("m/Item/tags", "m/Tag/items")
    try await expect("no inverse link", in: there, remove(back, KeyCoder.pair(1, 1)))
    try await expect("no inverse link", in: back, put(back, KeyCoder.pair(1, 12_000)))
    try await expect("is not a pair", in: there, put(there, [1]))
    try await expect("which doesn't exist", in: there, put(there, KeyCoder.pair(1, 9)))
    try await expect("linked to Item 50, which doesn't exist", in: back, put(back, KeyCoder.pair(1, 50)))
    try await expect("a value of 1 bytes", in: there, put(there, KeyCoder.pair(1, 1), [1]))
    try await expect("a value of 1 bytes", in: back, put(back, KeyCoder.pair(1, 1), [1]))
  }

  // MARK: Several at once

  @Test func everyProblemIsReturned() async throws {
    let found = try await problems([
      put("schema", bytes("model"), bytes("ruined")), put("stray", [1]),
      record { bytes, _, _ in bytes.removeLast() }, record(2) { bytes, _, _ in bytes[5] = 1 },
      put("i/Item/title", [0] + key(1)), remove("m/Tag/items", KeyCoder.pair(1, 3)),
    ])
    let schema = try await Shop.open().coordinator.schema
    let expected = Set(["schema", "stray", "e/Item", "i/Item/title", "m/Item/tags"].map(schema.tree))
    #expect(Set(found.compactMap(\.tree)).isSuperset(of: expected), "\(found)")
    #expect(found.filter { $0.tree == schema.tree("e/Item") }.count == 2, "\(found)")
  }

  /// A page of records and one of an index that can't be read, beside a problem on another page of each.
  @Test func pagesThatCannotBeReadHideNothingElse() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("shop.cambium")
    var shop = try await Shop.open(path)
    try await Shop.fill(shop, count: 2_000)
    let schema = shop.coordinator.schema
    let plants = [
      record(2_000) { bytes, _, _ in bytes.removeLast() },
      put("schema", schema.numbersKey("Tag"), SchemaTree.bytes(UInt64(1))),
    ]
    try await shop.store.write { transaction in
      for plant in plants { try plant(&transaction, schema) }
    }
    try await shop.close()
    let pages = try ["e/Item", "i/Item/code"].map(schema.tree).map { try Self.damageLeaf(of: $0, in: path) }
    shop = try await Shop.open(path)
    let found = try await shop.verify()
    for (page, tree) in zip(pages, ["e/Item", "i/Item/code"].map(schema.tree)) {
      let hits = found.filter { $0.tree == tree && $0.page != nil }
      #expect(hits.map(\.page) == [page], "\(found)")
      #expect(found.contains { $0.tree == tree && $0.message.contains("that it lacks are not reported") })
    }
    #expect(found.contains { $0.message == "the record of Item 2000 is damaged" }, "\(found)")
    #expect(found.contains { $0.message.contains("Tag 1 has a number that was not leased") }, "\(found)")
    #expect(found.count == 6, "\(found)")
  }

  /// Flips a bit of the first leaf of a tree, and returns its page.
  private static func damageLeaf(of tree: String, in path: String) throws -> UInt64 {
    var options = StoreOptions()
    options.isReadOnly = true
    let store = try Store.open(at: path, options: options)
    let reader = try store.snapshot().tree(tree)
    let (shape, first) = (try reader.shape(named: tree), try #require(try reader.entry(at: 0)).key)
    #expect(shape.levels.count > 1)
    try store.close()
    let inspector = try FileInspector(path: path)
    // Of the leaves with the first key, the newest one is used: checkpoints have left older ones.
    let leaves = try (0..<inspector.pageCount).map { try inspector.page($0) }
      .filter { $0.treeID == shape.treeID && $0.kind == "leaf" && $0.entries.first?.key == first }
    let page = try #require(leaves.max { ($0.birth ?? 0) < ($1.birth ?? 0) }).number
    let handle = try FileHandle(forUpdating: URL(fileURLWithPath: path))
    let offset = page * UInt64(inspector.pageSize) + 50
    try handle.seek(toOffset: offset)
    let byte = try #require(try handle.read(upToCount: 1)?.first)
    try handle.seek(toOffset: offset)
    try handle.write(contentsOf: Data([byte ^ 1]))
    try handle.close()
    return page
  }
}
