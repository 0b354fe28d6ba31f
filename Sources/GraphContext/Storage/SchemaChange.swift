import Predicates

/// How a schema differs from the one a store was written with, and whether the store can go on with it as it is.
///
/// New entities, new indexes and dropped indexes are taken up when the store is opened; delete rules and the order in
/// which a model declares its properties are not the store's business. Everything else would need the records to be rewritten, and is refused before anything is written.
struct SchemaChange {
  /// Sentences, each naming what can't be taken up.
  private(set) var obstacles: [String] = []
  /// Indexes to build: those of entities that the store knows.
  private(set) var addedIndexes: [(entity: String, index: ResolvedIndex)] = []
  private(set) var droppedIndexes: [(entity: String, index: ResolvedIndex)] = []
  /// Indexes that were there and stay, as the new schema has them.
  private(set) var keptIndexes: [(entity: String, index: ResolvedIndex)] = []
  /// The schema that the store has.
  let old: Schema
  /// What the store's schema becomes: the new one, in the order in which the store has the properties it knows.
  let arranged: Schema
  private let isIdentical: Bool

  /// Whether there is nothing to do.
  var isEmpty: Bool { isIdentical }

  init(from old: Schema, to new: Schema) {
    self.old = old
    arranged = new.arranged(like: old)
    isIdentical = old == arranged
    for entity in old.entities {
      guard let wanted = new.entitySchema(named: entity.name), let kept = old.entitySchema(named: entity.name)
      else {
        obstacles.append("the store has \(entity.name), which is not among the models")
        continue
      }
      compare(kept, wanted)
      if let model = new.entity(named: entity.name) { compareInverses(entity, model) }
    }
  }

  /// - Throws: `schemaMismatch`, naming everything that the store can't take up.
  func checkPossible() throws(ContextError) {
    guard !obstacles.isEmpty else { return }
    throw ContextError(
      .schemaMismatch,
      "the store was written with other models: " + obstacles.joined(separator: "; ")
    )
  }

  /// - Throws: `schemaMismatch`, naming the indexes that the models have and the store lacks: reading builds none.
  func checkNothingToBuild() throws(ContextError) {
    guard let first = addedIndexes.first, let entity = arranged.entitySchema(named: first.entity) else {
      return
    }
    let names = addedIndexes.map { "the index \($0.index.name) of \($0.entity)" }.joined(separator: " and ")
    throw ContextError(
      .schemaMismatch,
      "the store lacks \(names), and is open for reading only: opening it for writing builds what is missing",
      context: .init(entity: first.entity, properties: first.index.slots.map { entity.stored[$0].name })
    )
  }

  private mutating func compare(_ old: EntitySchema, _ new: EntitySchema) {
    let name = old.name
    for property in old.stored where new.storedProperty(named: property.name) == nil {
      obstacles.append("\(name).\(property.name) is in the store, but not in the model")
    }
    for property in new.stored {
      guard let stored = old.storedProperty(named: property.name) else {
        obstacles.append("\(name).\(property.name) is in the model, but not in the store")
        continue
      }
      if let difference = Self.difference(stored, property) {
        obstacles.append("\(name).\(property.name) \(difference)")
      }
    }
    if Set(old.toMany) != Set(new.toMany) {
      obstacles.append("the to-many relationships of \(name) have changed")
    }
    addedIndexes += new.declaredIndexes.filter { !old.hasIndex(like: $0) }.map { (name, $0) }
    keptIndexes += new.declaredIndexes.filter { old.hasIndex(like: $0) }.map { (name, $0) }
    droppedIndexes += old.declaredIndexes.filter { !new.hasIndex(like: $0) }.map { (name, $0) }
  }

  /// Of to-one relationships: links that were made without an inverse, or with another, have nothing that leads back.
  private mutating func compareInverses(_ old: EntityDescription, _ new: EntityDescription) {
    for case .relationship(let stored) in old.storedProperties {
      guard case .relationship(let wanted)? = new.property(named: stored.name), !wanted.isToMany,
        stored.destination == wanted.destination, stored.inverse != wanted.inverse
      else { continue }
      obstacles.append(
        "the inverse of \(old.name).\(stored.name) is \(stored.inverse ?? "none") in the store"
          + " and \(wanted.inverse ?? "none") in the model"
      )
    }
  }

  private static func difference(_ old: StoredProperty, _ new: StoredProperty) -> String? {
    if old.kind != new.kind { return "is \(old.kind) in the store and \(new.kind) in the model" }
    if old.isOptional != new.isOptional {
      return old.isOptional ? "may be nil in the store, but not in the model" : "may be nil in the model only"
    }
    if old.destination != new.destination {
      return
        "leads to \(old.destination ?? "nothing") in the store and to \(new.destination ?? "nothing") in the model"
    }
    return nil
  }
}

extension EntitySchema {
  /// Whether there is an index over the same properties; their slots may differ.
  fileprivate func hasIndex(like other: ResolvedIndex) -> Bool {
    declaredIndexes.contains { $0.name == other.name && $0.isUnique == other.isUnique }
  }
}
