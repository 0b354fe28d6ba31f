/// The differences of two schemas: a change for each entity, class, property and index that differs.
///
/// An element of the new schema is compared with the element of the old schema that has its name or, if there is none,
/// its original name. If the destination of a relationship or a property of an index was only renamed, that is no
/// difference. The order of declaration doesn't count, and neither do original names and defaults.
public struct SchemaDifference: Sendable, Hashable, Codable {
  /// The changes, by the entities' names; of one entity: the entity itself, classes, properties, indexes.
  public let changes: [Change]

  /// The change of one entity, class, property or index.
  public struct Change: Sendable, Hashable, Codable {
    /// The kind of the change: the element was added, removed or changed.
    public enum Kind: String, Sendable, Hashable, Codable {
      /// Only the new schema has the element.
      case added
      /// Only the old schema has the element.
      case removed
      /// Both schemas have the element, with differences.
      case changed
    }
    /// The kind of the element.
    public enum Subject: String, Sendable, Hashable, Codable {
      /// An entity.
      case entity
      /// An attribute of an entity.
      case attribute
      /// A relationship of an entity.
      case relationship
      /// An index of an entity.
      case index
      /// A class of an entity whose models inherit from each other.
      case member = "class"
    }

    /// The kind of the change: the element was added, removed or changed.
    public var kind: Kind
    /// The kind of the element.
    public var subject: Subject
    /// The entity; by its new name unless it is removed.
    public var entity: String
    /// The property's or the index's name, the new one unless it is removed; nil for an entity.
    public var name: String?
    /// The added or removed element, as in ``Schema/description``; nil for an entity, and for an element that has
    /// changed.
    public var definition: String?
    /// The aspects that have changed; empty for an element that was added or removed.
    public var aspects: [Aspect]
  }

  /// The meaning of a changed aspect for the stored data.
  public enum Effect: String, Sendable, Hashable, Codable {
    /// The element has another name.
    case renamed
    /// Every value of the old kind is one of the new.
    case widened
    /// The old kind has values that the new one lacks.
    case retyped
    /// Nil has become possible.
    case loosened
    /// Nil isn't possible any more.
    case required
    /// The attribute has another rule of derivation, or has become derived, or isn't derived any more.
    case derived
    /// A relationship leads to another entity.
    case redirected
    /// A relationship to one object leads to many now.
    case toMany
    /// A relationship to many objects leads to one now.
    case toOne
    /// Another relationship leads back, or none does.
    case inverse
    /// The deletion of an object has another effect on the objects at the other end.
    case deleteRule
    /// The objects at the other end have an order now.
    case ordered
    /// The objects at the other end have no order any more.
    case notOrdered
    /// An index is unique now.
    case unique
    /// An index is not unique any more.
    case notUnique
    /// A class inherits from another one.
    case inherits
    /// Only subclasses of a class can have objects now.
    case abstract
    /// A class can have objects of its own now.
    case notAbstract
    /// A subclass declares other properties, or needs values for others.
    case declares
  }

  /// One aspect that has changed.
  public struct Aspect: Sendable, Hashable, Codable {
    /// The meaning of the change for the stored data.
    public var effect: Effect
    /// `name`, `kind`, `optional`, `required`, `derived`, `destination`, `cardinality`, `inverse`, `delete rule`,
    /// `ordered`, `unique`, `superclass`, `abstract` or `properties`.
    public var name: String
    /// The aspect in the old schema.
    public var old: String
    /// The aspect in the new schema.
    public var new: String
  }

  /// True if the schemas agree.
  public var isEmpty: Bool { changes.isEmpty }

  /// Compares two schemas, without a store between them. O(properties and indexes).
  public init(from old: Schema, to new: Schema) {
    let known = CataloguedSchema(old)
    self.init(from: old, to: new, SchemaRenaming(from: known, to: SchemaChange(from: known, to: new).target))
  }

  /// Compares a store's schema at two times. Elements are matched by their numbers, whatever their names.
  ///
  /// - Throws: `SchemaError` if one of the two holds something that can't be declared.
  package init(from old: CataloguedSchema, to new: CataloguedSchema) throws(SchemaError) {
    self.init(from: try old.schema(), to: try new.schema(), SchemaRenaming(from: old, to: new))
  }

  init(from old: Schema, to new: Schema, _ renaming: SchemaRenaming) {
    let kept = new.entities.map { entity in
      let origin = renaming.origin(of: entity.name).flatMap(old.entity)
      return (entity.name, Self.changes(from: origin, to: entity, renaming))
    }
    let gone = old.entities.filter { renaming.newName(of: $0.name) == nil }.map { entity in
      (entity.name, [Change(removed: .entity, in: entity.name)])
    }
    // A removed entity may have the name of a new one; it comes first.
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
    let aspects = [Aspect(.renamed, "name", old.name, new.name)].compactMap(\.self)
    let entity = Change(changed: .entity, in: new.name, nil, aspects)
    return [entity].compactMap(\.self) + classChanges(from: old, to: new, renaming)
      + propertyChanges(from: old, to: new, renaming)
      + indexChanges(from: old, to: new, renaming)
  }

  // MARK: Classes

  private static func classChanges(
    from old: EntityDescription,
    to new: EntityDescription,
    _ renaming: SchemaRenaming
  ) -> [Change] {
    let known = old.classes.map { $0.renamed(in: old, to: new, renaming) }
    let before = Dictionary(known.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    let names = Set(new.classes.map(\.name))
    let gone = known.dropFirst().filter { !names.contains($0.name) }.map {
      Change(removed: .member, in: new.name, $0.name, $0.description)
    }
    let kept = new.classes.enumerated().compactMap { place, member -> Change? in
      // An entity without classes has one class, the root.
      guard let old = before[member.name] ?? (place == 0 ? ClassDescription(name: member.name) : nil) else {
        return Change(added: .member, in: new.name, member.name, member.description)
      }
      let aspects = [
        // The root's name is the entity's name.
        place == 0
          ? nil
          : Aspect(
            .renamed,
            "name",
            renaming.origin(ofClass: member.name, in: new.name) ?? member.name,
            member.name
          ),
        Aspect(.inherits, "superclass", old.parent ?? "none", member.parent ?? "none"),
        Aspect(
          member.isAbstract ? .abstract : .notAbstract,
          "abstract",
          "\(old.isAbstract)",
          "\(member.isAbstract)"
        ),
        // The root's properties are the entity's properties.
        place == 0 ? nil : Aspect(.declares, "properties", old.ownText, member.ownText),
      ]
      return Change(changed: .member, in: new.name, member.name, aspects.compactMap(\.self))
    }
    return gone + kept
  }

  // MARK: Properties

  private static func propertyChanges(
    from old: EntityDescription,
    to new: EntityDescription,
    _ renaming: SchemaRenaming
  ) -> [Change] {
    let oldProperties = Dictionary(uniqueKeysWithValues: old.declaredProperties.map { ($0.name, $0) })
    var remaining = Set(oldProperties.keys)
    let kept = new.declaredProperties.flatMap { property -> [Change] in
      let origin = renaming.origin(of: property.name, in: new.name)
      if let origin, let before = oldProperties[origin], before.subject == property.subject {
        remaining.remove(origin)
        let aspects = aspects(from: before, to: property, of: old, renaming)
        return [Change(changed: property.subject, in: new.name, property.name, aspects)].compactMap(\.self)
      }
      return [Change(added: property.subject, in: new.name, property.name, property.description)]
    }
    let gone = old.declaredProperties.filter { remaining.contains($0.name) }.map {
      Change(removed: $0.subject, in: new.name, $0.name, $0.description)
    }
    return gone + kept
  }

  private static func aspects(
    from old: PropertyDescription,
    to new: PropertyDescription,
    of oldEntity: EntityDescription,
    _ renaming: SchemaRenaming
  ) -> [Aspect] {
    let name = Aspect(.renamed, "name", old.name, new.name)
    switch (old, new) {
    case (.attribute(let old), .attribute(let new)):
      return [
        name,
        Aspect(old.canContinue(as: new) ? .widened : .retyped, "kind", old.typeText, new.typeText),
        Aspect(new.isOptional ? .loosened : .required, "optional", "\(old.isOptional)", "\(new.isOptional)"),
        requirement(from: old, to: new),
        Aspect(
          .derived,
          "derived",
          old.derivation.map { renaming.renamed($0, of: oldEntity).text } ?? "no",
          new.derivation?.text ?? "no"
        ),
      ].compactMap(\.self)
    case (.relationship(let old), .relationship(let new)):
      let destination = renaming.newName(of: old.destination) ?? old.destination
      let inverse = old.inverse.map { renaming.newName(of: $0, in: old.destination) ?? $0 }
      return [
        name, Aspect(.redirected, "destination", destination, new.destination),
        Aspect(
          effect(of: old.cardinality, new.cardinality),
          "cardinality",
          old.cardinality.rawValue,
          new.cardinality.rawValue
        ),
        Aspect(.inverse, "inverse", inverse ?? "none", new.inverse ?? "none"),
        Aspect(.deleteRule, "delete rule", old.deleteRule.rawValue, new.deleteRule.rawValue),
        Aspect(new.isOrdered ? .ordered : .notOrdered, "ordered", "\(old.isOrdered)", "\(new.isOrdered)"),
      ].compactMap(\.self)
    default: return []
    }
  }

  /// Returns the change of a part of an embedded value that may be nil. A schema that doesn't say whether the part is
  /// required leaves that requirement as it was.
  private static func requirement(
    from old: AttributeDescription,
    to new: AttributeDescription
  ) -> Aspect? {
    let isRequired = new.isRequiredPart ?? old.isRequiredOfValue
    return Aspect(
      isRequired ? .required : .loosened,
      "required",
      "\(old.isRequiredOfValue)",
      "\(isRequired)"
    )
  }

  private static func effect(
    of old: RelationshipDescription.Cardinality,
    _ new: RelationshipDescription.Cardinality
  ) -> Effect {
    if new == .many { return .toMany }
    if old == .many { return .toOne }
    return new == .required ? .required : .loosened
  }

  // MARK: Indexes

  private static func indexChanges(
    from old: EntityDescription,
    to new: EntityDescription,
    _ renaming: SchemaRenaming
  ) -> [Change] {
    // An index over a removed property was removed, too: another property may have its name now.
    let carried = old.declaredIndexes.map { index -> (old: IndexDescription, new: IndexDescription?) in
      let properties = index.properties.map { renaming.newName(of: $0, in: old.name) }
      guard !properties.contains(nil) else { return (index, nil) }
      var renamed = index
      renamed.properties = properties.compactMap(\.self)
      return (index, renamed)
    }
    let before = Dictionary(
      carried.compactMap { pair in pair.new.map { ($0.name, pair.old) } },
      uniquingKeysWith: { first, _ in first }
    )
    let names = Set(new.declaredIndexes.map(\.name))
    let gone = carried.filter { pair in pair.new.map { !names.contains($0.name) } ?? true }.map { pair in
      Change(removed: .index, in: new.name, pair.old.name, pair.old.description)
    }
    let kept = new.declaredIndexes.compactMap { index in
      guard let old = before[index.name] else {
        return Change(added: .index, in: new.name, index.name, index.description)
      }
      let effect: Effect = index.isUnique ? .unique : .notUnique
      let aspects = [Aspect(effect, "unique", "\(old.isUnique)", "\(index.isUnique)")].compactMap(\.self)
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
  /// The change in a line: `changed attribute Song.year: kind int16 → int64, optional true → false`.
  public var description: String {
    let head = "\(kind) \(subject.rawValue) \(entity)"
    if kind == .changed {
      return head + (name.map { ".\($0)" } ?? "") + ": "
        + aspects.map(\.description).joined(separator: ", ")
    }
    guard let definition else { return head }
    return subject == .index || subject == .member ? "\(head): \(definition)" : "\(head).\(definition)"
  }
}

extension SchemaDifference.Aspect: CustomStringConvertible {
  /// The aspect in a line: `kind int32 → int64`.
  public var description: String { "\(name) \(old) → \(new)" }
}

// MARK: - Making changes

extension SchemaDifference.Aspect {
  /// Makes an aspect; nil where nothing has changed.
  fileprivate init?(_ effect: SchemaDifference.Effect, _ name: String, _ old: String, _ new: String) {
    if old == new { return nil }
    self.init(effect: effect, name: name, old: old, new: new)
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

  /// Makes the change of an element that both schemas have; nil where nothing has changed.
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

extension ClassDescription {
  fileprivate var ownText: String {
    var sorted = self
    // The order of declaration doesn't count.
    sorted.properties.sort()
    return properties.isEmpty ? "none" : sorted.propertyText
  }

  /// Returns the class with the names that its entity and its properties have in a new schema.
  fileprivate func renamed(
    in old: EntityDescription,
    to new: EntityDescription,
    _ renaming: SchemaRenaming
  ) -> ClassDescription {
    func newProperty(_ property: String) -> String {
      renaming.newName(of: property, in: old.name) ?? property
    }
    func newClass(_ name: String) -> String {
      name == old.name ? new.name : renaming.newName(ofClass: name, in: old.name) ?? name
    }
    var copy = self
    copy.name = parent == nil ? new.name : newClass(name)
    copy.parent = parent.map(newClass)
    copy.properties = properties.map(newProperty)
    copy.required = required.map(newProperty)
    return copy
  }
}

extension PropertyDescription {
  fileprivate var subject: SchemaDifference.Change.Subject { isRelationship ? .relationship : .attribute }
}
