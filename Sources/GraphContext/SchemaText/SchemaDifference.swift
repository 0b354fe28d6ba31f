/// What two schemas differ in, a change for each entity, property and index.
///
/// A thing of the new schema is what bore its name in the old one; if nothing did, what bore its original name. What a relationship leads to, and what an index is over, counts as the same under its new name. The order of
/// declaration doesn't count, and neither do original names and defaults.
public struct SchemaDifference: Sendable, Hashable, Codable {
  /// By the entities' names; in an entity itself, properties, indexes.
  public let changes: [Change]

  public struct Change: Sendable, Hashable, Codable {
    public enum Kind: String, Sendable, Hashable, Codable { case added, removed, changed }
    public enum Subject: String, Sendable, Hashable, Codable { case entity, attribute, relationship, index }

    public var kind: Kind
    public var subject: Subject
    /// The entity; by its new name unless it is removed.
    public var entity: String
    /// The property's or the index's name, the new one unless it is removed; nil for an entity.
    public var name: String?
    /// What was added or removed, as ``Schema/description`` has it; nil for an entity, and for what has changed.
    public var definition: String?
    /// What has changed; empty for what was added or removed.
    public var aspects: [Aspect]
  }

  /// One thing that has changed.
  public struct Aspect: Sendable, Hashable, Codable {
    /// `name`, `kind`, `optional`, `destination`, `cardinality`, `inverse`, `delete rule` or `unique`.
    public var name: String
    public var old: String
    public var new: String
  }

  public var isEmpty: Bool { changes.isEmpty }

  /// O(entities, properties and indexes), but for their order.
  public init(from old: Schema, to new: Schema) {
    let renaming = SchemaRenaming(from: old, to: new)
    let kept = new.entities.map { entity in
      (entity.name, Self.changes(from: renaming.origin(of: entity), to: entity, renaming))
    }
    let gone = old.entities.filter { renaming.newName(of: $0.name) == nil }.map { entity in
      (entity.name, [Change(removed: .entity, in: entity.name)])
    }
    // An entity that is gone may have the name of a new one; it comes first.
    changes = (gone + kept).enumerated()
      .sorted { ($0.element.0, $0.offset) < ($1.element.0, $1.offset) }
      .flatMap(\.element.1)
  }

  private static func changes(
    from old: EntityDescription?,
    to new: EntityDescription,
    _ renaming: SchemaRenaming
  ) -> [Change] {
    guard let old else { return [Change(added: .entity, in: new.name)] }
    let aspects = [Aspect("name", old.name, new.name)].compactMap(\.self)
    let entity = Change(changed: .entity, in: new.name, nil, aspects)
    return [entity].compactMap(\.self) + propertyChanges(from: old, to: new, renaming)
      + indexChanges(from: old, to: new, renaming)
  }

  // MARK: Properties

  private static func propertyChanges(
    from old: EntityDescription,
    to new: EntityDescription,
    _ renaming: SchemaRenaming
  ) -> [Change] {
    let oldProperties = Dictionary(uniqueKeysWithValues: old.properties.map { ($0.name, $0) })
    var remaining = Set(oldProperties.keys)
    let kept = new.properties.flatMap { property -> [Change] in
      let origin = renaming.origin(of: property, in: new.name)
      if let origin, let before = oldProperties[origin], before.subject == property.subject {
        remaining.remove(origin)
        let aspects = aspects(from: before, to: property, of: old.name, renaming)
        return [Change(changed: property.subject, in: new.name, property.name, aspects)].compactMap(\.self)
      }
      return [Change(added: property.subject, in: new.name, property.name, property.description)]
    }
    let gone = old.properties.filter { remaining.contains($0.name) }.map {
      Change(removed: $0.subject, in: new.name, $0.name, $0.description)
    }
    return gone + kept
  }

  private static func aspects(
    from old: PropertyDescription,
    to new: PropertyDescription,
    of oldEntity: String,
    _ renaming: SchemaRenaming
  ) -> [Aspect] {
    let name = Aspect("name", old.name, new.name)
    switch (old, new) {
    case (.attribute(let old), .attribute(let new)):
      return [
        name, Aspect("kind", "\(old.kind)", "\(new.kind)"),
        Aspect("optional", "\(old.isOptional)", "\(new.isOptional)"),
      ].compactMap(\.self)
    case (.relationship(let old), .relationship(let new)):
      let destination = renaming.newName(of: old.destination) ?? old.destination
      let inverse = old.inverse.map { renaming.newName(of: $0, in: old.destination) ?? $0 }
      return [
        name, Aspect("destination", destination, new.destination),
        Aspect("cardinality", old.cardinality.rawValue, new.cardinality.rawValue),
        Aspect("inverse", inverse ?? "none", new.inverse ?? "none"),
        Aspect("delete rule", old.deleteRule.rawValue, new.deleteRule.rawValue),
      ].compactMap(\.self)
    default: return []
    }
  }

  // MARK: Indexes

  private static func indexChanges(
    from old: EntityDescription,
    to new: EntityDescription,
    _ renaming: SchemaRenaming
  ) -> [Change] {
    let renamed = old.indexes.map { index in
      var index = index
      index.properties = index.properties.map { renaming.newName(of: $0, in: old.name) ?? $0 }
      return index
    }
    let before = Dictionary(uniqueKeysWithValues: zip(renamed, old.indexes).map { ($0.name, ($0, $1)) })
    let names = Set(new.indexes.map(\.name))
    let gone = zip(renamed, old.indexes).filter { !names.contains($0.0.name) }.map { _, index in
      Change(removed: .index, in: new.name, index.name, index.description)
    }
    let kept = new.indexes.compactMap { index in
      guard let (old, _) = before[index.name] else {
        return Change(added: .index, in: new.name, index.name, index.description)
      }
      let aspects = [Aspect("unique", "\(old.isUnique)", "\(index.isUnique)")].compactMap(\.self)
      return Change(changed: .index, in: new.name, index.name, aspects)
    }
    return gone + kept
  }
}

// MARK: - Text

extension SchemaDifference: CustomStringConvertible {
  /// A line for each change; empty for equal schemas.
  public var description: String { changes.map(\.description).joined(separator: "\n") }
}

extension SchemaDifference.Change: CustomStringConvertible {
  /// `changed attribute Song.year: kind int16 → int64, optional true → false`.
  public var description: String {
    let head = "\(kind) \(subject) \(entity)"
    if kind == .changed {
      return head + (name.map { ".\($0)" } ?? "") + ": "
        + aspects.map(\.description).joined(separator: ", ")
    }
    guard let definition else { return head }
    return subject == .index ? "\(head): \(definition)" : "\(head).\(definition)"
  }
}

extension SchemaDifference.Aspect: CustomStringConvertible {
  public var description: String { "\(name) \(old) → \(new)" }
}

// MARK: - Making changes

extension SchemaDifference.Aspect {
  /// Nil where nothing has changed.
  fileprivate init?(_ name: String, _ old: String, _ new: String) {
    if old == new { return nil }
    self.init(name: name, old: old, new: new)
  }
}

extension SchemaDifference.Change {
  fileprivate init(
    added subject: Subject,
    in entity: String,
    _ name: String? = nil,
    _ definition: String? = nil
  ) {
    self.init(
      kind: .added,
      subject: subject,
      entity: entity,
      name: name,
      definition: definition,
      aspects: []
    )
  }

  fileprivate init(
    removed subject: Subject,
    in entity: String,
    _ name: String? = nil,
    _ definition: String? = nil
  ) {
    self.init(
      kind: .removed,
      subject: subject,
      entity: entity,
      name: name,
      definition: definition,
      aspects: []
    )
  }

  /// Nil where nothing has changed.
  fileprivate init?(
    changed subject: Subject,
    in entity: String,
    _ name: String? = nil,
    _ aspects: [SchemaDifference.Aspect]
  ) {
    if aspects.isEmpty { return nil }
    self.init(
      kind: .changed,
      subject: subject,
      entity: entity,
      name: name,
      definition: nil,
      aspects: aspects
    )
  }
}

extension PropertyDescription {
  fileprivate var subject: SchemaDifference.Change.Subject { isRelationship ? .relationship : .attribute }
}
