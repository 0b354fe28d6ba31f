import Cambium
import Foundation
import Testing

@testable import GraphContext

/// Hierarchies as Swift source, and the reasons for which schemas of hierarchies are refused.
struct HierarchySourceTests {
  private func schema(
    _ root: ClassDescription,
    _ subclasses: [ClassDescription] = [],
    _ properties: [PropertyDescription],
    _ indexes: [IndexDescription] = []
  ) throws -> Schema {
    try Schema(
      entities: [
        EntityDescription(
          name: root.name,
          properties: properties,
          indexes: indexes,
          classes: [root] + subclasses
        )
      ]
    )
  }

  private func source(_ schema: Schema) throws -> String {
    let text = SwiftSource(schema).description
    let messages = try Compiler.messages(for: text, after: "")
    #expect(messages.isEmpty, "\(messages)\n\(text)")
    return text
  }

  @Test(arguments: [true, false]) func aRootWithoutSubclassesStaysARoot(_ isAbstract: Bool) throws {
    let root = ClassDescription(name: "Lone", isAbstract: isAbstract, properties: ["name"])
    let text = try source(schema(root, [], [.attribute("name", String.self)]))
    #expect(text.contains("subclasses: []) class Lone"))
  }

  @Test func aSubclassCanHaveTheNameOfAType() throws {
    let date = ClassDescription(name: "Date", parent: "Fruit", properties: ["days"])
    let text = try source(
      schema(
        ClassDescription(name: "Fruit", properties: ["picked", "bytes"]),
        [date],
        [
          .attribute("picked", Date.self, default: Date(timeIntervalSinceReferenceDate: 1)),
          .attribute("bytes", Data.self), .attribute("days", [Date]?.self),
        ]
      )
    )
    #expect(
      text.contains("picked: Foundation.Date") && text.contains("@Attribute var days: [Foundation.Date]?")
    )
  }

  @Test func anIndexThatNoClassCanDeclareHasAComment() throws {
    let text = try source(
      schema(
        ClassDescription(name: "Base", properties: ["x"]),
        [ClassDescription(name: "Upper", parent: "Base", properties: ["y"])],
        [.attribute("x", Int.self), .attribute("y", Int?.self)],
        [IndexDescription(["x", "y"], isUnique: true), IndexDescription(["x"])]
      )
    )
    #expect(text.contains("// No class can declare the index over x, y"))
    #expect(text.contains("#Index<Base>([\\.x])"))
  }

  @Test func theEntitySaysWhatTheRootWas() throws {
    let root = ClassDescription(name: "Beast", properties: ["name"], originalName: "Animal")
    #expect(throws: SchemaError.self) { try schema(root, [], [.attribute("name", String.self)]) }
  }

  @Test func aModelMayBeNamedLikeAKeyword() throws {
    #expect(try Schema([`Protocol`.self]).entities.map(\.name) == ["Protocol"])
  }
}

@Model private final class `Protocol` {
  var name: String = ""

  init() {}
}
