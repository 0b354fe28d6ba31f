import Cambium
import Foundation
import GraphTestSupport
import PageStore
import Predicates
import TestSupport
import Testing

@testable import GraphContext

struct ReopeningTests {
  @Test func whatWasSavedIsThereAfterReopening() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("library.cambium")
    var ids: [ManagedObjectID] = []
    for round in 0..<5 {
      let library = try await Library.open(at: path)
      let seen = ids
      ids += try await library.performBackgroundTask { context in
        for (number, id) in seen.enumerated() {
          #expect(try context.existingObject(Writer.self, with: id).rank == number)
        }
        let writers = (0..<30).map { Writer("w", email: "\(round)-\($0)", rank: seen.count + $0) }
        for writer in writers { context.insert(writer) }
        try context.save()
        return writers.map(\.objectID)
      }
      #expect(try await library.verify().isEmpty)
      try await library.close()
    }
    #expect(Set(ids).count == 150)
  }

  @Test func whatWasSavedIsThereThoughTheStoreWasNotClosed() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("library.cambium")
    for durability in [Durability.full, .relaxed] {
      let id: ManagedObjectID
      do {
        let library = try await Library.open(at: path)
        id = try await library.performBackgroundTask { context in
          let writer = Writer("A")
          context.insert(writer)
          try context.save(durability: durability)
          return writer.objectID
        }
      }
      let again = try await Library.open(at: path)
      #expect(
        try await again.performBackgroundTask { try $0.existingObject(Writer.self, with: id).name } == "A"
      )
      #expect(try await again.verify().isEmpty)
    }
  }

  @Test func numbersAreNeverUsedTwice() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("library.cambium")
    var highest: ObjectNumber = 0
    for _ in 0..<4 {
      let library = try await Library.open(at: path)
      let number = try await library.performBackgroundTask { context in
        let writer = Writer("A")
        context.insert(writer)
        try context.save()
        let number = writer.objectID.number
        context.delete(writer)
        try context.save()
        return number
      }
      #expect(number > highest)
      highest = number
      try await library.close()
    }
  }

  @Test func manyNumbersInOneSaveAreLeased() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("library.cambium")
    let library = try await Library.open(at: path)
    try await library.performBackgroundTask { context in
      for number in 0..<5_000 { context.insert(Desk(number)) }
      try context.save()
    }
    try await library.close()
    let again = try await Library.open(at: path)
    let number = try await again.performBackgroundTask { context in
      let desk = Desk(0)
      context.insert(desk)
      try context.save()
      return desk.objectID.number
    }
    #expect(number > 5_000)
    try await again.close()
  }

  @Test(arguments: [[UInt8](repeating: 0xFF, count: 8), [1], [UInt8](repeating: 1, count: 9)])
  func aLeaseThatIsNoneIsDamage(_ lease: [UInt8]) async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("library.cambium")
    let library = try await Library.open(at: path)
    let key = library.coordinator.schema.numbersKey("Writer")
    try await library.store.write { transaction in
      _ = try transaction.tree(SchemaTree.name).put(key, lease)
    }
    try await library.close()
    let error = await #expect(throws: ContextError.self) { try await Library.open(at: path) }
    #expect(error?.code == .corrupt && error?.message.contains("Writer") == true)
  }

  /// The last number can be used. No save writes a lease that an opening would take for damage.
  @Test func numbersThatEndRefuseTheSave() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("library.cambium")
    let library = try await Library.open(at: path)
    let key = library.coordinator.schema.numbersKey("Writer")
    try await library.store.write { transaction in
      let lease = SchemaTree.bytes(ObjectNumbers.greatest)
      _ = try transaction.tree(SchemaTree.name).put(key, lease)
    }
    try await library.close()
    for _ in 0..<2 {
      let again = try await Library.open(at: path)
      let error = await #expect(throws: ContextError.self) {
        try await again.performBackgroundTask { context in
          context.insert(Writer("A"))
          try context.save()
        }
      }
      #expect(error?.code == .tooManyObjects)
      try await again.close()
    }
  }

  @Test func twoContainersOnOneFileAreTheSameStore() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("library.cambium")
    let (first, second) = (try await Library.open(at: path), try await Library.open(at: path))
    #expect(first.coordinator === second.coordinator)
    #expect(first.storeID == second.storeID)
  }

  private func save(_ name: String, in library: PersistentContainer) async throws {
    try await library.performBackgroundTask { context in
      context.insert(Writer(name))
      try context.save()
    }
  }

  /// Opens the file anew, with options that are refused if this process still has the store open. All commits have to
  /// be in a checkpoint.
  private func expectClosedStore(at path: String) throws {
    var options = StoreOptions()
    options.isReadOnly = true
    let store = try Store.open(at: path, options: options)
    #expect(try store.statistics.checkpointCommit == store.lastCommit)
    try store.close()
  }

  @Test func closingAContainerAgainTakesNothingFromTheOther() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("library.cambium")
    let (first, second) = (try await Library.open(at: path), try await Library.open(at: path))
    let context = try first.newBackgroundContext()
    try await save("A", in: first)
    for _ in 0..<3 { try await first.close() }
    #expect(throws: ContextError.self) { try first.newBackgroundContext() }
    #expect(throws: ContextError.self) { try first.checkpoint() }
    await #expect(throws: ContextError.self) { try await save("B", in: first) }
    try await save("B", in: second)
    // An existing context stays usable as long as the store is open.
    #expect(try await context.perform { try $0.count(From(Writer.self)) } == 2)
    #expect(throws: (any Error).self) { try expectClosedStore(at: path) }
    try await second.close()
    await #expect(throws: ContextError.self) {
      try await context.perform { try $0.count(From(Writer.self)) }
    }
    try expectClosedStore(at: path)
  }

  @Test func aContainerThatIsLetGoDoesNotKeepTheStoreOpen() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("library.cambium")
    let last = try await Library.open(at: path)
    // The context outlives its container, and doesn't keep the store open.
    let context = try await Library.open(at: path).newBackgroundContext()
    try await save("A", in: last)
    try await last.close()
    try expectClosedStore(at: path)
    await #expect(throws: ContextError.self) {
      try await context.perform { try $0.count(From(Writer.self)) }
    }
  }

  @Test func aContainerThatCannotBeMadeDoesNotKeepTheStoreOpen() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("library.cambium")
    let library = try await Library.open(at: path)
    await #expect(throws: ContextError.self) {
      try await PersistentContainer("Desks", models: Desk.self, at: URL(fileURLWithPath: path))
    }
    try await library.close()
    try expectClosedStore(at: path)
  }
}

// The same entity in several shapes.
private enum Original {
  @Model final class Item {
    #Index<Item>([\.name])
    var name: String
    var amount: Int
    init(_ name: String, _ amount: Int) {
      self.name = name
      self.amount = amount
    }
  }
}

private enum Indexed {
  @Model final class Item {
    #Index<Item>([\.amount])
    #Unique<Item>([\.name])
    var name: String
    var amount: Int
    init(_ name: String, _ amount: Int) {
      self.name = name
      self.amount = amount
    }
  }
  @Model final class Box {
    var label: String
    init(_ label: String) { self.label = label }
  }
}

private enum Changed {
  @Model final class Item {
    // A change that can be inferred, among changes that can't.
    var name: String?
    var extra: Int = 0
    var amount: String
    var code: Int
    @Relationship var owner: Owner
    init(_ name: String, _ amount: String, _ owner: Owner) {
      self.name = name
      self.amount = amount
      code = 0
      self.owner = owner
    }
  }
  @Model final class Owner {
    init() {}
  }
}

// Two independent relationships, and the same two as a pair of inverses.
private enum Apart {
  @Model final class Left {
    @Relationship var right: Right?
    init() {}
  }
  @Model final class Right {
    @Relationship var left: Left?
    init() {}
  }
}

private enum Paired {
  @Model final class Left {
    @Relationship(inverse: \Right.left) var right: Right?
    init() {}
  }
  @Model final class Right {
    @Relationship var left: Left?
    init() {}
  }
}

struct SchemaChangeTests {
  private func fill(_ path: String, names: [String]) async throws {
    let container = try await PersistentContainer(
      "Items",
      models: Original.Item.self,
      at: URL(fileURLWithPath: path)
    )
    try await container.performBackgroundTask { context in
      for (number, name) in names.enumerated() { context.insert(Original.Item(name, number)) }
      try context.save()
    }
    try await container.close()
  }

  @Test func modelsThatTheStoreCannotHoldAreRefusedAndNothingIsWritten() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("items.cambium")
    try await fill(path, names: ["a", "b"])
    let before = try Data(contentsOf: URL(fileURLWithPath: path))
    let error = await #expect(throws: ContextError.self) {
      try await PersistentContainer(
        "Items",
        models: Changed.Item.self,
        Changed.Owner.self,
        at: URL(fileURLWithPath: path)
      )
    }
    #expect(error?.code == .schemaMismatch)
    let obstacles = error?.refusal?.obstacles ?? []
    #expect(
      obstacles.map(\.message).sorted() == [
        "Item.amount is int64 in the store and string in the model",
        "Item.code is new, not optional, and has no default for the objects in the store",
        "Item.owner is new and required, and the objects in the store have no value for it",
      ]
    )
    #expect(obstacles.allSatisfy { $0.entity == "Item" })
    #expect(obstacles.compactMap(\.property).sorted() == ["amount", "code", "owner"])
    #expect(obstacles.allSatisfy { error?.message.contains($0.message) == true }, "\(error?.message ?? "")")
    #expect(error?.refusal?.offenderCount == 0)
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
  }

  @Test func anotherInverseOfAToOneRelationshipIsRefused() async throws {
    let folder = try TemporaryFolder()
    let url = URL(fileURLWithPath: folder.file("pairs.cambium"))
    let apart = try await PersistentContainer("Pairs", models: Apart.Left.self, Apart.Right.self, at: url)
    try await apart.performBackgroundTask { context in
      let (first, second, right) = (Apart.Left(), Apart.Left(), Apart.Right())
      for left in [first, second] { context.insert(left) }
      // One right for two lefts, and no right that leads back. A pair of inverses can't have such links.
      first.right = right
      second.right = right
      try context.save()
    }
    try await apart.close()
    let before = try Data(contentsOf: url)
    let error = await #expect(throws: ContextError.self) {
      try await PersistentContainer("Pairs", models: Paired.Left.self, Paired.Right.self, at: url)
    }
    #expect(error?.code == .schemaMismatch)
    #expect(
      error?.refusal?.obstacles.map(\.message) == [
        "Left.right has another inverse in the store than in the model",
        "Right.left has another inverse in the store than in the model",
      ]
    )
    #expect(try Data(contentsOf: url) == before)
  }

  @Test func newEntitiesAndIndexesAreTakenUp() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("items.cambium")
    try await fill(path, names: ["a", "b", "c"])
    let container = try await PersistentContainer(
      "Items",
      models: Indexed.Item.self,
      Indexed.Box.self,
      at: URL(fileURLWithPath: path)
    )
    #expect(try await container.verify().map(\.description) == [])
    try await container.performBackgroundTask { context in
      context.insert(Indexed.Box("new"))
      context.insert(Indexed.Item("d", 9))
      try context.save()
      context.insert(Indexed.Item("a", 10))
      let error = #expect(throws: ContextError.self) { try context.save() }
      #expect(error?.code == .notUnique)
    }
    #expect(try await container.verify().map(\.description) == [])
    #expect(!(try container.newestView().snapshot.treeNames.contains("i/Item/amount,name")))
    try await container.close()
  }

  @Test func aConstraintThatTheObjectsBreakIsRefused() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("items.cambium")
    try await fill(path, names: ["a", "b", "a"])
    let before = try Data(contentsOf: URL(fileURLWithPath: path))
    let error = await #expect(throws: ContextError.self) {
      try await PersistentContainer(
        "Items",
        models: Indexed.Item.self,
        Indexed.Box.self,
        at: URL(fileURLWithPath: path)
      )
    }
    #expect(error?.code == .notUnique)
    #expect(error?.context.values == [.string("a")])
    #expect(error?.message.contains("name \"a\"") == true)
    let offenders = error?.refusal?.offenders ?? []
    #expect(offenders.map(\.objectID.number) == [1, 3] && error?.refusal?.offenderCount == 2)
    #expect(offenders.allSatisfy { $0.rule == .unique && $0.properties == ["name"] })
    #expect(offenders.allSatisfy { $0.objectID.entityName == "Item" && $0.values == [.string("a")] })
    let hiding = await #expect(throws: ContextError.self) {
      try await PersistentContainer(
        "Items",
        models: Indexed.Item.self,
        Indexed.Box.self,
        at: URL(fileURLWithPath: path),
        showsValuesInErrors: false
      )
    }
    #expect(hiding?.code == .notUnique && hiding?.context.properties == ["name"])
    #expect(hiding?.context.values == [] && hiding?.message.contains("\"a\"") == false)
    #expect(hiding?.message.contains("is not the only one with name") == true, "\(hiding?.message ?? "")")
    #expect(hiding?.refusal?.offenders.map(\.values) == [[], []])
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
    let again = try await PersistentContainer(
      "Items",
      models: Original.Item.self,
      at: URL(fileURLWithPath: path)
    )
    #expect(try await again.verify().isEmpty)
    try await again.close()
  }

  @Test func verifyFindsEntriesThatDoNotFitTheRecords() async throws {
    let library = try await Library.open()
    try await library.performBackgroundTask { context in
      let publisher = Publisher("Ace")
      for number in 0..<10 { context.insert(Book("b\(number)", publisher: publisher)) }
      try context.save()
    }
    #expect(try await library.verify().isEmpty)
    let key: [UInt8] = try await library.store.write { transaction in
      let tree = try transaction.tree(library.tree("i/Book/title"))
      let key = try #require(try tree.entry(at: 3)).key
      _ = try tree.remove(key)
      return key
    }
    #expect(try await library.verify().contains { $0.tree == library.tree("i/Book/title") })
    try await library.store.write { transaction in
      _ = try transaction.tree(library.tree("i/Book/title")).put(key, [])
      _ = try transaction.tree(library.tree("r/Book/publisher")).put(KeyCoder.pair(1, 99), [])
    }
    #expect(try await library.verify().map(\.tree) == [library.tree("r/Book/publisher")])
    try await library.store.write { transaction in
      _ = try transaction.tree(library.tree("r/Book/publisher")).remove(KeyCoder.pair(1, 99))
      _ = try transaction.tree(library.tree("e/Publisher")).remove(KeyCoder.key(of: 1))
    }
    #expect(try await library.verify().contains { $0.message.contains("which doesn't exist") })
  }

  @Test func verifyFindsAPairThatIsNone() async throws {
    let library = try await Library.open()
    try await library.performBackgroundTask { context in
      let desk = Desk(1)
      context.insert(desk)
      desk.writer = Writer("A")
      try context.save()
    }
    #expect(try await library.verify().isEmpty)
    let writer = try #require(library.coordinator.schema.entity(named: "Writer"))
    let toDesk = try #require(writer.toOnes.first { $0.name == "desk" })
    try await library.store.write { transaction in
      let tree = try transaction.tree(library.tree("e/Writer"))
      var record = try #require(try tree.value(for: KeyCoder.key(of: 1)))
      let field = writer.layout.fields[toDesk.slot]
      record[Int(field.nullByte)] |= field.nullMask
      for place in 0..<8 { record[field.position + place] = 0 }
      _ = try tree.put(KeyCoder.key(of: 1), record)
      _ = try transaction.tree(library.tree("r/Writer/desk")).remove(KeyCoder.pair(1, 1))
    }
    #expect(
      try await library.verify().map(\.message) == ["Desk 1 refers to Writer 1, which doesn't refer back"]
    )
  }
}
