import Cambium
import Foundation

/// A store with models of every sort: with the macro, with property wrappers, and entities that the program describes while it runs.
enum Archive {
  @Model final class Folder {
    var name: String
    @Relationship(inverse: \Sheet.folder) var sheets: [Sheet] = []
    @Relationship(to: "Label", inverse: "folders") var labels: [ManagedRecord] = []
    @Relationship(to: "Label") var first: ManagedRecord?

    init(name: String) { self.name = name }
  }

  final class Sheet: StoredObject {
    @Stored var number: Int = 0
    @ToOneLink var folder: Folder?
    @ToOneLink(to: "Stamp") var stamp: ManagedRecord?
    @ToManyLink(to: "Note", deleteRule: .cascade, inverse: "sheet") var notes: ToMany<ManagedRecord>
    @ToManyLink(to: "Topic", inverse: "sheets") var topics: [ManagedRecord]
    @ToManyLink(to: "Line", .ordered, deleteRule: .cascade) var lines: OrderedToMany<ManagedRecord>
  }

  static let models: [any ManagedObject.Type] = [Folder.self, Sheet.self]

  static let note = EntityDescription(
    name: "Note",
    properties: [
      .attribute("text", String.self, rules: [.length(1...20)]),
      .attribute("rank", Int.self, default: 7),
      .attribute("token", UUID.self, perInsert: { UUID() }),
      .attribute("code", String?.self),
      .requiredToOne("sheet", to: "Sheet"),
      .toOne("topic", to: "Topic", inverse: "notes"),
      .toOne("folder", to: "Folder"),
    ],
    indexes: [IndexDescription(["rank"]), IndexDescription(["code"], isUnique: true)]
  )
  static let topic = EntityDescription(
    name: "Topic",
    properties: [
      .attribute("word", String.self, default: "none"), .toMany("notes", to: "Note"),
      .toMany("sheets", to: "Sheet"),
    ]
  )
  static let line = EntityDescription(
    name: "Line",
    properties: [
      .attribute("text", String?.self), .toOne("sheet", to: "Sheet", inverse: "lines", isOrdered: true),
    ]
  )
  static let stamp = EntityDescription(name: "Stamp", properties: [.attribute("day", Date?.self)])
  static let label = EntityDescription(
    name: "Label",
    properties: [.attribute("word", String.self), .toMany("folders", to: "Folder")]
  )
  static let entities = [note, topic, line, stamp, label]

  static func open(at location: StoreLocation = .inMemory) async throws -> PersistentContainer {
    try await PersistentContainer("Archive", models: models, entities: .described(entities), at: location)
  }
}
