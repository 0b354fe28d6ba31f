import Foundation

@testable import Predicates

/// Translates the oracle's terms to those of the engine.
struct Translation: SchemaProviding {
  /// By their ordinals.
  let entities: [EntitySchema]

  init(_ world: PlainWorld, indexes: [PlainIndex]) {
    let places =
      indexes.isEmpty
      ? []
      : [
        PlainIndex(columns: ["code"]), PlainIndex(columns: ["height", "code"], folding: .c),
        PlainIndex(columns: ["weight"]), PlainIndex(columns: ["code"], folding: .cd),
      ]
    entities = [
      Self.schema(EntityID(0), PlainWorld.fetched, world, indexes),
      Self.schema(EntityID(1), PlainWorld.referred, world, places),
    ]
  }

  private static func schema(
    _ id: EntityID,
    _ entity: String,
    _ world: PlainWorld,
    _ indexes: [PlainIndex]
  ) -> EntitySchema {
    var properties = (world.attributes[entity] ?? []).map { attribute in
      StoredProperty(name: attribute.name, slot: 0, kind: attribute.kind, isOptional: attribute.isOptional)
    }
    for link in PlainWorld.links[entity] ?? [] {
      // Relationships stand among the attributes, not at their end.
      properties.insert(
        StoredProperty(
          name: link.name,
          slot: 0,
          kind: .reference,
          isOptional: true,
          destination: link.destination
        ),
        at: properties.count / 2
      )
    }
    let stored = properties.enumerated().map { slot, property in
      StoredProperty(
        name: property.name,
        slot: slot,
        kind: property.kind,
        isOptional: property.isOptional,
        destination: property.destination
      )
    }
    let relationships = PlainWorld.relationships(of: entity).map {
      ToManyProperty(name: $0.name, destination: $0.destination, inverse: $0.inverse)
    }
    return EntitySchema(
      id: id,
      name: entity,
      stored: stored,
      toMany: relationships,
      indexes: indexes.enumerated().map { ordinal, index in
        ResolvedIndex(
          IndexID(id, ordinal),
          named: index.columns.joined(separator: ",") + index.folding.rawValue,
          over: index.columns.compactMap { name in stored.first { $0.name == name }?.slot },
          of: stored,
          isUnique: index.isUnique,
          folding: options(index.folding)
        )
      }
    )
  }

  func entitySchema(named name: String) -> EntitySchema? { entities.first { $0.name == name } }

  func entitySchema(_ id: EntityID) -> EntitySchema { entities[id.ordinal] }

  var fetched: EntitySchema { entities[0] }

  func id(of entity: String) -> EntityID { EntityID(entities.firstIndex { $0.name == entity } ?? -1) }

  func resolved(_ relationship: PlainRelationship) -> ToManyID {
    let entity = entitySchema(id(of: relationship.entity))
    return ToManyID(entity.id, entity.toManyOrdinal(named: relationship.name) ?? -1)
  }

  /// The to-many relationship in the oracle's words.
  func plain(_ relationship: ToManyID) -> PlainRelationship {
    PlainWorld.relationships(of: entitySchema(relationship.entity).name)[relationship.ordinal]
  }

  /// A path of the fetched entity's.
  func path(_ names: [String]) -> ResolvedPath { PredicateTranslation(self).path(names) }

  /// A predicate on the fetched entity.
  func predicate(_ plain: PlainPredicate) -> ResolvedPredicate { PredicateTranslation(self).predicate(plain) }

  func value(_ plain: Plain) -> AttributeValue {
    switch plain {
    case .missing: .null
    case .flag(let value): .bool(value)
    case .whole(let value): Int64(exactly: value).map(AttributeValue.int) ?? .uint(UInt64(value))
    case .real(let value): .double(value)
    case .decimal(let value): .decimal(value)
    case .moment(let value): .date(Date(timeIntervalSinceReferenceDate: value))
    case .text(let value): .string(value)
    case .bytes(let value): .data(Data(value))
    case .uuid(let value): .uuid(value.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) })
    case .link(let value): .reference(ObjectNumber(rawValue: value))
    }
  }

  func plain(_ value: AttributeValue) -> Plain {
    switch value {
    case .null: .missing
    case .bool(let value): .flag(value)
    case .int(let value): .whole(Int128(value))
    case .uint(let value): .whole(Int128(value))
    case .double(let value): .real(value)
    case .decimal(let value): .decimal(value)
    case .date(let value): .moment(value.timeIntervalSinceReferenceDate)
    case .string(let value): .text(value)
    case .data(let value): .bytes(Array(value))
    case .uuid(let value): .uuid(withUnsafeBytes(of: value.uuid) { Array($0) })
    case .reference(let value): .link(value.rawValue)
    }
  }

  static func options(_ folding: PlainFolding) -> StringOptions {
    switch folding {
    case .none: []
    case .c: .caseInsensitive
    case .d: .diacriticInsensitive
    case .cd: [.caseInsensitive, .diacriticInsensitive]
    case .n: .normalized
    }
  }

  /// Translates the engine's options to the oracle's folding.
  static func folding(_ options: StringOptions) -> PlainFolding {
    PlainFolding.allCases.first { Self.options($0) == options } ?? .none
  }
}
