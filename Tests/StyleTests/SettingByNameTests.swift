import Cambium
import Foundation
import Testing

@Embeddable struct Spot {
  var shelf: Int
  var room: String?
}

@Model final class Tool {
  var name: String
  var weight: Double?
  var state: State
  var tags: [String] = []
  @Embedded var spot: Spot
  @Attribute(.derived("name[cd]")) var folded: String

  enum State: String, AttributeType { case new, used }

  init(_ name: String) {
    self.name = name
    state = .new
    spot = Spot(shelf: 1)
  }
}

/// Attributes of objects of classes, set by their names.
struct SettingByNameTests {
  private func container() async throws -> PersistentContainer {
    try await PersistentContainer("Tools", models: Tool.self, at: .inMemory)
  }

  @Test func attributesAreSetByTheirNames() async throws {
    let container = try await container()
    let id = try await container.write { context in
      let tool = Tool("saw")
      context.insert(tool)
      return tool.objectID
    }
    try await container.write { context in
      let tool = try context.object(Tool.self, with: id)
      try tool.setValue(.string("Axe"), forKey: "name")
      try tool.setValue(.double(2.5), forKey: "weight")
      try tool.setValue(.string("used"), forKey: "state")
      try tool.setValue(.int(7), forKey: "spot.shelf")
      try tool.setValue(.string("cellar"), forKey: "spot.room")
      try tool.setValue(.string(#"["sharp","old"]"#), forKey: "tags")
      #expect(tool.name == "Axe")
      #expect(tool.changedValues.keys.contains("name"))
    }
    let shown = try await container.query { context in
      let tool = try context.existingObject(Tool.self, with: id)
      #expect(tool.state == .used)
      #expect(tool.spot.shelf == 7)
      #expect(tool.tags == ["sharp", "old"])
      return try [
        tool.value(forKeyPath: "name"), tool.value(forKeyPath: "weight"), tool.value(forKeyPath: "folded"),
      ]
    }
    #expect(shown == [.string("Axe"), .double(2.5), .string("axe")])
    try await container.write { try $0.object(Tool.self, with: id).setValue(.null, forKey: "weight") }
    let weight = try await container.query { try $0.existingObject(Tool.self, with: id).weight }
    #expect(weight == nil)
  }

  @Test(arguments: [
    ("size", AttributeValue.int(1), ContextError.Code.unknownProperty), ("name", .int(1), .wrongValue),
    ("name", .null, .wrongValue), ("state", .string("lost"), .wrongValue),
    ("folded", .string("x"), .derivedValue),
    ("tags", .string("no list"), .wrongValue), ("spot", .int(1), .unknownProperty),
    ("spot.shelf", .null, .wrongValue),
  ])
  func aWrongNameOrValueIsRefused(
    _ name: String,
    _ value: AttributeValue,
    _ code: ContextError.Code
  ) async throws {
    let container = try await container()
    try await container.write { context in
      let tool = Tool("saw")
      context.insert(tool)
      let error = #expect(throws: ContextError.self) { try tool.setValue(value, forKey: name) }
      #expect(error?.code == code)
      #expect(tool.name == "saw")
      #expect(tool.state == .new)
    }
  }

  @Test func anObjectInNoContextTakesValuesToo() throws {
    let tool = Tool("saw")
    try tool.setValue(.string("axe"), forKey: "name")
    #expect(tool.name == "axe")
  }

  @MainActor @Test func observersHearOfIt() async throws {
    let container = try await container()
    let tool = Tool("saw")
    container.viewContext.insert(tool)
    var told: [String] = []
    let subscription = try tool.observe(\.name) { told.append("\($0) → \($1)") }
    try tool.setValue(.string("axe"), forKey: "name")
    container.viewContext.processPendingChanges()
    #expect(told == ["saw → axe"])
    withExtendedLifetime(subscription) {}
  }
}
