import Foundation
import GraphTestSupport
import Predicates
import Testing

@testable import GraphContext

/// WrittenModels.swift is the Swift source of a schema. It is compiled into these tests, and its classes have that
/// schema again.
struct SwiftSourceTests {
  private static let models: [any ManagedObject.Type] = [Badge.self, Gadget.self, Maker.self]

  private static func described() throws -> Schema {
    func attribute(
      _ name: String,
      _ kind: AttributeKind,
      optional isOptional: Bool = false,
      _ defaultValue: AttributeValue? = nil,
      was originalName: String? = nil
    ) -> PropertyDescription {
      .attribute(
        AttributeDescription(
          name: name,
          kind: kind,
          isOptional: isOptional,
          defaultValue: defaultValue,
          originalName: originalName
        )
      )
    }
    func link(
      _ name: String,
      _ destination: String,
      _ cardinality: RelationshipDescription.Cardinality,
      inverse: String? = nil,
      _ rule: DeleteRule = .nullify,
      was originalName: String? = nil
    ) -> PropertyDescription {
      .relationship(
        RelationshipDescription(
          name: name,
          destination: destination,
          cardinality: cardinality,
          inverse: inverse,
          deleteRule: rule,
          originalName: originalName
        )
      )
    }
    let badge = EntityDescription(
      name: "Badge",
      properties: [attribute("word", .string), link("gadgets", "Gadget", .many, inverse: "badges")],
      indexes: [IndexDescription(["word"], isUnique: true, folding: .case)]
    )
    let gadget = EntityDescription(
      name: "Gadget",
      properties: [
        attribute("bool", .bool, .bool(true)), attribute("int8", .int8, .int(-128)),
        attribute("int16", .int16, optional: true), attribute("int32", .int32), attribute("int64", .int64),
        attribute("uint8", .uint8), attribute("uint16", .uint16), attribute("uint32", .uint32),
        attribute("uint64", .uint64, .int(64)), attribute("float", .float, .double(0.5)),
        attribute("double", .double, .double(-1e-300)), attribute("decimal", .decimal, .decimal(5)),
        attribute("date", .date, .date(Date(timeIntervalSinceReferenceDate: 0))), attribute("uuid", .uuid),
        attribute("text", .string, .string("\"two\"\nlines \\(é)"), was: "heading"),
        attribute("data", .data, .data(Data())), attribute("bytes", .data),
        attribute("class", .data, optional: true, was: "struct"),
        link("maker", "Maker", .required, inverse: "gadgets", .deny, was: "firm"),
        link("badges", "Badge", .many, inverse: "gadgets"), link("likes", "Gadget", .many, inverse: "likes"),
        link("parent", "Gadget", .optional, inverse: "case"),
        link("case", "Gadget", .optional, inverse: "parent", .cascade), link("home", "Maker", .optional),
      ],
      indexes: [
        IndexDescription(["int32"], isUnique: true), IndexDescription(["class"], isUnique: true),
        IndexDescription(["int8", "maker"]), IndexDescription(["text"], folding: [.case, .diacritics]),
        IndexDescription(["text", "uuid"], isUnique: true), IndexDescription(["case"], isUnique: true),
      ],
      originalName: "Thing"
    )
    let maker = EntityDescription(
      name: "Maker",
      properties: [link("gadgets", "Gadget", .many, inverse: "maker", .cascade)]
    )
    return try Schema(entities: [badge, gadget, maker])
  }

  @Test func aSchemaBecomesClasses() throws {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("WrittenModels.swift")
    let text = try SwiftSource(Self.described()).description
    #expect(try text == String(contentsOf: file, encoding: .utf8), "\(text)")
  }

  /// WrittenHierarchy.swift is compiled into these tests, and is the Swift source of the schema of its own classes.
  @Test func aHierarchyBecomesItsClasses() throws {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("WrittenHierarchy.swift")
    let text = try SwiftSource(Schema([Harbor.self, Vessel.self])).description
    #expect(try text == String(contentsOf: file, encoding: .utf8), "\(text)")
  }

  @Test func theClassesMakeTheSchema() throws {
    let (described, made) = try (Self.described(), Schema(Self.models))
    #expect(made == described)
    #expect(made.entities.map(\.originalName) == described.entities.map(\.originalName))
    for (made, described) in zip(made.entities, described.entities) {
      #expect(made.properties.map(\.originalName) == described.properties.map(\.originalName))
      #expect(made.attributes.map(\.defaultValue) == described.attributes.map(\.defaultValue))
    }
  }

  /// The schemas of handwritten models and of models with macros. A default without an expression becomes a parameter
  /// of the initialiser.
  @Test(
    arguments: [
      [Tune.self, Record.self, Player.self], [Song.self, Album.self, Specimen.self],
      [Animal.self, Keeper.self],
    ] as [[any ManagedObject.Type]]
  )
  func theCompilerTakesTheClasses(_ models: [any ManagedObject.Type]) throws {
    let text = SwiftSource(try Schema(models)).description
    let messages = try Compiler.messages(for: text, after: "")
    #expect(messages.isEmpty, "\(messages)\n\(text)")
  }

  @Test func aNameCanBeAKeywordOrThatOfAType() throws {
    let properties: [PropertyDescription] = [
      .attribute("where", Date.self, default: Date(timeIntervalSinceReferenceDate: 1)),
      .attribute("default", Int.self), .attribute("let", UInt.self, default: .max),
      .attribute("in", Data.self, default: Data()), .attribute("Type", UUID.self),
      .attribute("nil", Decimal?.self, default: Decimal(string: "1.5")),
      .attribute("set", Double.self, default: .nan),
    ]
    let names = ["Date", "Data", "Self", "Type", "UUID", "Decimal"]
    let schema = try Schema(
      entities: names.map {
        EntityDescription(name: $0, properties: properties, indexes: [IndexDescription(["in", "Type"])])
      }
    )
    let text = SwiftSource(schema).description
    let messages = try Compiler.messages(for: text, after: "")
    #expect(messages.isEmpty, "\(messages)\n\(text)")
  }
}
