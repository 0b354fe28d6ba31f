import Predicates

/// How a schema differs from the one a store was written with, and whether the store can go on with it as it is.
///
/// New entities, new indexes and dropped indexes are taken up when the store is opened; delete rules are not the store's
/// business. Everything else would need the records to be rewritten, and is refused before anything is written.
struct SchemaChange {
  /// Sentences, each naming what can't be taken up.
  private(set) var obstacles: [String] = []
  /// Indexes to build: those of entities that the store knows.
  private(set) var addedIndexes: [(entity: String, index: IndexSchema)] = []
  private(set) var droppedIndexes: [(entity: String, index: IndexSchema)] = []
  private let isIdentical: Bool

  /// Whether there is nothing to do.
  var isEmpty: Bool { isIdentical }

  init(from old: Schema, to new: Schema) {
    isIdentical = old == new
    for entity in old.entities {
      guard let wanted = new.entitySchema(named: entity.name), let kept = old.entitySchema(named: entity.name)
      else {
        obstacles.append("the store has \(entity.name), which is not among the models")
        continue
      }
      compare(kept, wanted)
    }
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
    addedIndexes += new.indexes.filter { !old.indexes.contains($0) }.map { (name, $0) }
    droppedIndexes += old.indexes.filter { !new.indexes.contains($0) }.map { (name, $0) }
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
    return old.slot == new.slot ? nil : "has another place in the model than in the store"
  }
}
