import Foundation
import GraphContext
import Predicates

/// One of the ways in which a schema of songs changes, and its effect on the contents of a store. Several of them make
/// one change of a schema, in the order of the cases.
enum SchemaAlteration: CaseIterable, Sendable {
  case newIndex, foldedIndex, uniqueIndex
  case attributeAdded, optionalAdded, attributeRemoved, attributeWidened, attributeRequired
  case manyToMany, inverseNamed
  case entityRemoved
  case attributeRenamed, entityRenamed

  static let year: Int64 = 1971
  static let rating: Int64 = 3

  // MARK: The schema

  func apply(to entities: inout [EntityDescription]) {
    switch self {
    case .newIndex: addIndex(IndexDescription([Self.title(in: entities), "code"]), &entities)
    case .foldedIndex:
      addIndex(IndexDescription([Self.title(in: entities)], folding: [.case, .diacritics]), &entities)
    case .uniqueIndex: addIndex(IndexDescription(["code"], isUnique: true), &entities)
    case .attributeAdded:
      entities.add(
        AttributeDescription(name: "year", kind: .int64, defaultValue: .int(Self.year)),
        to: "Song"
      )
    case .optionalAdded:
      entities.add(AttributeDescription(name: "comment", kind: .string, isOptional: true), to: "Song")
    case .attributeRemoved: entities.remove("notes", of: "Song")
    case .attributeWidened: entities.changeAttribute("seconds", of: "Song") { $0.kind = .decimal }
    case .attributeRequired:
      entities.changeAttribute("rating", of: "Song") {
        $0.isOptional = false
        $0.defaultValue = .int(Self.rating)
      }
    case .manyToMany:
      entities.changeRelationship("album", of: "Song") {
        ($0.name, $0.originalName, $0.cardinality) = ("albums", "album", .many)
      }
      entities.changeRelationship("songs", of: Self.album(in: entities)) { $0.inverse = "albums" }
    case .inverseNamed:
      entities.changeRelationship("label", of: "Song") { $0.inverse = "songs" }
      let songs = RelationshipDescription(
        name: "songs",
        destination: "Song",
        cardinality: .many,
        inverse: "label"
      )
      entities.add(songs, to: "Label")
    case .entityRemoved:
      entities.removeAll { $0.name == "Session" }
      entities.remove("sessions", of: "Song")
    case .attributeRenamed:
      entities.changeAttribute("title", of: "Song") { ($0.name, $0.originalName) = ("heading", "title") }
      entities.changeIndexes(of: "Song") { index in
        index.properties = index.properties.map { $0 == "title" ? "heading" : $0 }
      }
    case .entityRenamed:
      entities.change("Album") { ($0.name, $0.originalName) = ("Record", "Album") }
      for name in ["album", "albums"] {
        entities.changeRelationship(name, of: "Song") { $0.destination = "Record" }
      }
    }
  }

  private func addIndex(_ index: IndexDescription, _ entities: inout [EntityDescription]) {
    entities.change("Song") { $0.indexes.append(index) }
  }

  private static func title(in entities: [EntityDescription]) -> String {
    entities.contains { $0.property(named: "title") != nil } ? "title" : "heading"
  }

  private static func album(in entities: [EntityDescription]) -> String {
    entities.contains { $0.name == "Album" } ? "Album" : "Record"
  }

  // MARK: What is shown

  func apply(to content: inout GraphContent) {
    switch self {
    case .newIndex, .foldedIndex, .uniqueIndex: break
    case .attributeAdded: content.change("Song") { $1["year"] = .value(.int(Self.year)) }
    case .optionalAdded: content.change("Song") { $1["comment"] = .value(.null) }
    case .attributeRemoved: content.change("Song") { $1["notes"] = nil }
    case .attributeWidened:
      content.change("Song") { _, row in
        if case .value(.int(let seconds)) = row["seconds"] {
          row["seconds"] = .value(.decimal(Decimal(seconds)))
        }
      }
    case .attributeRequired:
      content.change("Song") { _, row in
        if row["rating"] == .value(.null) { row["rating"] = .value(.int(Self.rating)) }
      }
    case .manyToMany: content.change("Song") { $1["albums"] = $1.removeValue(forKey: "album") }
    case .inverseNamed:
      let songs = content.rows["Song", default: [:]]
      content.change("Label") { code, row in
        row["songs"] = .codes(songs.filter { $0.value["label"] == .codes([code]) }.keys.sorted())
      }
    case .entityRemoved:
      content.rows["Session"] = nil
      content.change("Song") { $1["sessions"] = nil }
    case .attributeRenamed: content.change("Song") { $1["heading"] = $1.removeValue(forKey: "title") }
    case .entityRenamed: content.rows["Record"] = content.rows.removeValue(forKey: "Album")
    }
  }
}

// MARK: - Changing descriptions

extension [EntityDescription] {
  fileprivate mutating func change(_ name: String, _ body: (inout EntityDescription) -> Void) {
    for place in indices where self[place].name == name { body(&self[place]) }
  }

  fileprivate mutating func add(_ attribute: AttributeDescription, to entity: String) {
    change(entity) { $0.properties.append(.attribute(attribute)) }
  }

  fileprivate mutating func add(_ relationship: RelationshipDescription, to entity: String) {
    change(entity) { $0.properties.append(.relationship(relationship)) }
  }

  fileprivate mutating func remove(_ property: String, of entity: String) {
    change(entity) { $0.properties.removeAll { $0.name == property } }
  }

  fileprivate mutating func changeAttribute(
    _ name: String,
    of entity: String,
    _ body: (inout AttributeDescription) -> Void
  ) {
    change(entity) { entity in
      for place in entity.properties.indices where entity.properties[place].name == name {
        guard case .attribute(var attribute) = entity.properties[place] else { continue }
        body(&attribute)
        entity.properties[place] = .attribute(attribute)
      }
    }
  }

  fileprivate mutating func changeRelationship(
    _ name: String,
    of entity: String,
    _ body: (inout RelationshipDescription) -> Void
  ) {
    change(entity) { entity in
      for place in entity.properties.indices where entity.properties[place].name == name {
        guard case .relationship(var relationship) = entity.properties[place] else { continue }
        body(&relationship)
        entity.properties[place] = .relationship(relationship)
      }
    }
  }

  fileprivate mutating func changeIndexes(of entity: String, _ body: (inout IndexDescription) -> Void) {
    change(entity) { entity in
      for place in entity.indexes.indices { body(&entity.indexes[place]) }
    }
  }
}
