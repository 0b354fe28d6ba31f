import Cambium
import Foundation
import GraphTestSupport
import PageStore
import Predicates
import TestSupport
import Testing

@testable import GraphContext

// The same entities, their properties in two orders.
private enum Before {
  @Model final class Tool {
    #Index<Tool>([\.weight], [\.label, \.weight])
    #Unique<Tool>([\.code])
    var code: String
    var label: String?
    var weight: Int16
    var isSharp: Bool
    var note: Data?
    @Relationship(inverse: \Drawer.tools) var drawer: Drawer?
    @Relationship var users: [Drawer] = []
    init(_ code: String, _ label: String?, _ weight: Int16, isSharp: Bool = false, note: Data? = nil) {
      self.code = code
      self.label = label
      self.weight = weight
      self.isSharp = isSharp
      self.note = note
    }
  }
  @Model final class Drawer {
    var place: Int
    var title: String
    @Relationship(deleteRule: .nullify) var tools: [Tool] = []
    @Relationship(inverse: .itself) var neighbours: [Drawer] = []
    @Relationship(inverse: \Tool.users) var borrowed: [Tool] = []
    init(_ place: Int, _ title: String) {
      self.place = place
      self.title = title
    }
  }
}

private enum After {
  @Model final class Drawer {
    @Relationship(inverse: .itself) var neighbours: [Drawer] = []
    @Relationship(inverse: \Tool.users) var borrowed: [Tool] = []
    var title: String
    @Relationship(deleteRule: .nullify) var tools: [Tool] = []
    var place: Int
    init(_ place: Int, _ title: String) {
      self.place = place
      self.title = title
    }
  }
  @Model final class Tool {
    #Unique<Tool>([\.code])
    #Index<Tool>([\.weight], [\.label, \.weight], [\.isSharp, \.code])
    var note: Data?
    @Relationship var users: [Drawer] = []
    @Relationship(inverse: \Drawer.tools) var drawer: Drawer?
    var isSharp: Bool
    var label: String?
    var code: String
    var weight: Int16
    init(_ code: String, _ label: String?, _ weight: Int16, isSharp: Bool = false, note: Data? = nil) {
      self.code = code
      self.label = label
      self.weight = weight
      self.isSharp = isSharp
      self.note = note
    }
  }
}

/// A store is independent of the order in which a model declares its properties.
struct ReorderedModelTests {
  private static func before(_ path: String) async throws -> PersistentContainer {
    try await PersistentContainer(
      "Tools",
      models: Before.Tool.self,
      Before.Drawer.self,
      at: URL(fileURLWithPath: path)
    )
  }

  private static func after(_ path: String) async throws -> PersistentContainer {
    try await PersistentContainer(
      "Tools",
      models: After.Tool.self,
      After.Drawer.self,
      at: URL(fileURLWithPath: path)
    )
  }

  /// A store written in the first order: tool *i* is `t<i>`, weighs *i*, and every third one lies in the drawer.
  private static func fill(_ path: String) async throws {
    let container = try await before(path)
    try await container.performBackgroundTask { context in
      let drawer = Before.Drawer(7, "top")
      context.insert(drawer)
      for number in 0..<30 {
        let tool = Before.Tool(
          "t\(number)",
          number % 4 == 0 ? nil : "label \(number % 5)",
          Int16(number),
          isSharp: number % 2 == 0,
          note: number % 7 == 0 ? Data([UInt8(number), 0, 1]) : nil
        )
        context.insert(tool)
        if number % 3 == 0 { tool.drawer = drawer }
      }
      try context.save()
    }
    try await container.close()
  }

  @Test func whatWasWrittenInOneOrderIsReadInAnother() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("tools.cambium")
    try await Self.fill(path)
    let container = try await Self.after(path)
    try await container.performBackgroundTask { context in
      let tools = try context.fetch(From<After.Tool>().orderBy(.ascending(\.weight)))
      #expect(tools.map(\.code) == (0..<30).map { "t\($0)" })
      for (number, tool) in tools.enumerated() {
        #expect(tool.label == (number % 4 == 0 ? nil : "label \(number % 5)"))
        #expect(tool.weight == Int16(number))
        #expect(tool.isSharp == (number % 2 == 0))
        #expect(tool.note == (number % 7 == 0 ? Data([UInt8(number), 0, 1]) : nil))
        #expect(tool.drawer?.title == (number % 3 == 0 ? "top" : nil))
        #expect(tool.drawer?.place == (number % 3 == 0 ? 7 : nil))
      }
      #expect(try context.count(From<After.Tool>().where(\.label == nil)) == 8)
      #expect(try context.count(From<After.Tool>().where { $0.isSharp == true && $0.code > "t2" }) == 8)
      #expect(
        try context.count(From<After.Tool>().where { $0.drawer.title == "top" && $0.weight >= 15 }) == 5
      )
      let drawer = try #require(try context.fetchOne(From<After.Drawer>()))
      #expect(drawer.tools.count == 10)
    }
    #expect(try await container.verify().map(\.description) == [])
    try await container.close()
  }

  @Test func whatIsWrittenInAnotherOrderIsReadInTheFirst() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("tools.cambium")
    try await Self.fill(path)
    let container = try await Self.after(path)
    try await container.performBackgroundTask { context in
      let drawer = try #require(try context.fetchOne(From<After.Drawer>()))
      let inner = After.Drawer(8, "inner")
      drawer.neighbours.append(inner)
      let changed = try #require(try context.fetchOne(From<After.Tool>().where(\.code == "t9")))
      changed.label = "changed"
      changed.note = Data([9])
      let new = After.Tool("new", "label 9", 99, isSharp: true, note: Data([1, 2]))
      new.drawer = inner
      new.users = [drawer]
      context.insert(new)
      // Unsaved changes are found like saved ones.
      #expect(try context.fetch(From<After.Tool>().where(\.label == "changed")) == [changed])
      #expect(try context.fetchOne(From<After.Tool>().where { $0.drawer.title == "inner" }) === new)
      try context.save()
      #expect(drawer.borrowed == [new] && inner.neighbours == [drawer])
      // A rule in the writer's turn copies a record that this context has never seen.
      let other = try ManagedObjectContext(coordinator: container.coordinator)
      let late = After.Tool("late", "label late", 100, note: Data([5]))
      late.drawer = try other.existingObject(After.Drawer.self, with: drawer.objectID)
      other.insert(late)
      try other.save()
      other.end()
      context.delete(drawer)
      try context.save()
      #expect(try context.count(From<After.Tool>().where(\.drawer == nil)) == 31)
    }
    #expect(try await container.verify().map(\.description) == [])
    try await container.close()
    let again = try await Self.before(path)
    try await again.performBackgroundTask { context in
      let tools = try context.fetch(From<Before.Tool>().orderBy(.ascending(\.weight)))
      #expect(tools.map(\.code) == (0..<30).map { "t\($0)" } + ["new", "late"])
      #expect(tools[9].label == "changed" && tools[9].note == Data([9]))
      let new = tools[30]
      #expect(new.label == "label 9" && new.weight == 99 && new.isSharp && new.note == Data([1, 2]))
      let late = tools[31]
      #expect(late.label == "label late" && late.drawer == nil && late.note == Data([5]))
    }
    #expect(try await again.verify().map(\.description) == [])
    try await again.close()
  }

  @Test func theStoreKeepsItsOrderAndTakesUpTheIndexes() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("tools.cambium")
    try await Self.fill(path)
    try await Self.after(path).close()
    let store = try DynamicStore(at: URL(fileURLWithPath: path))
    let tool = try #require(store.schema.entity(named: "Tool"))
    #expect(tool.storedProperties.map(\.name) == ["code", "label", "weight", "isSharp", "note", "drawer"])
    #expect(tool.indexes.map(\.name).contains("isSharp,code"))
    let sharp = try PredicateTree(format: "isSharp = true AND code BEGINSWITH \"t2\"")
    #expect(try store.count(DynamicQuery("Tool", where: sharp)) == 6)
    try await store.store.close()
  }

  @Test func openingInAnotherOrderWritesNothing() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("tools.cambium")
    try await Self.fill(path)
    try await Self.after(path).close()
    let commit = try await Self.commit(Self.after(path))
    #expect(try await Self.commit(Self.after(path)) == commit)
  }

  private static func commit(_ container: PersistentContainer) throws -> UInt64 {
    defer { try? container.close() }
    return try container.newestView().commit
  }

  @Test func oneClassServesStoresOfBothOrdersAtOnce() async throws {
    let folder = try TemporaryFolder()
    let (old, new) = (folder.file("old.cambium"), folder.file("new.cambium"))
    try await Self.fill(old)
    let containers = [try await Self.after(old), try await Self.after(new)]
    for container in containers {
      try await container.performBackgroundTask { context in
        context.insert(After.Tool("both", "here", 1_000, note: Data([3])))
        try context.save()
        context.reset()
        let tool = try #require(try context.fetchOne(From<After.Tool>().where(\.code == "both")))
        #expect(tool.label == "here" && tool.weight == 1_000 && tool.note == Data([3]) && !tool.isSharp)
      }
      #expect(try await container.verify().map(\.description) == [])
    }
    for container in containers { try await container.close() }
  }

  /// A store that was made for the models with every entity's properties in a random order.
  private static func shuffled(
    _ models: [any ManagedObject.Type],
    _ random: inout SeededGenerator,
    at path: String
  ) async throws -> PersistentContainer {
    let entities = models.map { model in
      var entity = model.entityDescription
      entity.properties.shuffle(using: &random)
      return entity
    }
    let catalogue = CataloguedSchema(try Schema(entities: entities))
    let store = try Store.open(at: path)
    try await store.write { transaction in
      try SchemaTree.store(catalogue, replacing: nil, in: &transaction)
    }
    try await store.close()
    var options = StoreOptions()
    options.durability = .relaxed
    return try await PersistentContainer(
      "shuffled",
      models: models,
      at: .file(URL(fileURLWithPath: path)),
      options: options
    )
  }

  @Test func fetchesAnswerTheSameWhateverTheOrder() async throws {
    var random = SeededGenerator()
    let folder = try TemporaryFolder()
    for round in 0..<3 {
      let path = folder.file("shuffled\(round).cambium")
      let container = try await Self.shuffled([Item.self, Shelf.self], &random, at: path)
      let seed = random.next()
      try await container.performBackgroundTask { context in
        var random = SeededGenerator(seed: seed)
        var world = FetchWorld()
        for round in 0..<4 {
          try world.change(context, round == 0 ? 300 : 60, &random)
          if round % 2 == 0 {
            try context.save()
            // From now on values are read from records.
            for item in try context.fetch(From<Item>()) { context.refresh(item) }
            for shelf in try context.fetch(From<Shelf>()) { context.refresh(shelf) }
          }
          for _ in 0..<20 { try world.check(context, &random) }
        }
      }
      #expect(try await container.verify().map(\.description) == [])
      try await container.close()
    }
  }
}
