import Foundation
import PageStore
import Predicates

/// The entries of the tree `schema` in one snapshot, decoded.
struct SchemaEntries {
  private let tree: TreeReader

  /// Nil for a store that holds no models.
  init?(_ snapshot: Snapshot) throws(ContextError) {
    let tree = try ContextError.mapping { () throws(StoreError) in
      try snapshot.treeIfPresent(SchemaTree.name)
    }
    guard let tree else { return nil }
    self.tree = tree
  }

  func value(for key: [UInt8]) throws(ContextError) -> [UInt8]? {
    try ContextError.mapping { () throws(StoreError) in try tree.value(for: key) }
  }

  func formatVersion() throws(ContextError) -> UInt32 {
    guard let format = try value(for: SchemaTree.formatKey), format.count == 4 else {
      throw ContextError.damaged("the format version")
    }
    return UInt32(truncatingIfNeeded: SchemaTree.number(format))
  }

  func schema() throws(ContextError) -> CataloguedSchema {
    var schema: CataloguedSchema = try decoded(SchemaTree.modelKey, "the schema")
    schema.nextNumber = max(schema.nextNumber, try spentNumber())
    for place in schema.entities.indices {
      schema.entities[place].layouts = try layouts(of: schema.entities[place])
    }
    return schema
  }

  /// Returns the first number after those of changes that were given up; 0 if none was. Numbers below it are never
  /// given again.
  private func spentNumber() throws(ContextError) -> UInt32 {
    guard let bytes = try value(for: SchemaTree.spentKey) else { return 0 }
    guard bytes.count == 4 else { throw ContextError.damaged("the next number") }
    return UInt32(truncatingIfNeeded: SchemaTree.number(bytes))
  }

  func migration() throws(ContextError) -> MigrationState? {
    if try value(for: SchemaTree.migrationKey) == nil { return nil }
    let what = "the change of the schema that is under way"
    let state: MigrationState = try decoded(SchemaTree.migrationKey, what)
    let schema = try formatVersion() < 3 ? schemaOfEarlierFormat() : schema()
    if let problem = state.unsoundness(in: schema) { throw ContextError.damaged("\(what) (\(problem))") }
    return state
  }

  private func layouts(of entity: CataloguedEntity) throws(ContextError) -> [CataloguedLayout] {
    var layouts: [CataloguedLayout] = []
    for number in 0..<CataloguedEntity.maximumLayoutCount {
      let key = SchemaTree.layoutKey(number, of: entity.number)
      guard try value(for: key) != nil else { break }
      layouts.append(try decoded(key, "the layout \(number) of \(entity.name)"))
    }
    return layouts
  }

  private func decoded<Value: Decodable>(_ key: [UInt8], _ what: String) throws(ContextError) -> Value {
    guard let bytes = try value(for: key) else { throw ContextError.damaged(what) }
    do {
      return try JSONDecoder().decode(Value.self, from: Data(bytes))
    } catch {
      throw ContextError.damaged("\(what) (\(error))")
    }
  }
}

// MARK: - Earlier formats

extension SchemaEntries {
  /// Returns the key at which formats 1 and 2 have the lease of an entity's numbers.
  static func earlierNumbersKey(_ entity: String) -> [UInt8] { Array("numbers/\(entity)".utf8) }

  /// Returns the schema of formats 1 and 2, which have no numbers: trees are named by entities and properties, and
  /// all records of an entity have one layout. It gets the numbers that it would have in a new store, and its trees
  /// keep their names.
  func schemaOfEarlierFormat() throws(ContextError) -> CataloguedSchema {
    let described: Schema = try decoded(SchemaTree.modelKey, "the schema")
    var schema = CataloguedSchema(described)
    for place in schema.entities.indices { schema.nameTreesByNames(of: place) }
    return schema
  }
}

extension CataloguedSchema {
  fileprivate mutating func nameTreesByNames(of place: Int) {
    let entity = entities[place]
    entities[place].tree = "e/\(entity.name)"
    for (index, known) in entity.indexes.enumerated() {
      let names = known.properties.compactMap { entity.property($0)?.name }
      let name = IndexDescription(names, isUnique: known.isUnique, folding: known.folding).name
      entities[place].indexes[index].tree = "i/\(entity.name)/\(name)"
    }
    for (property, known) in entity.properties.enumerated() {
      guard case .relationship(var relationship) = known.content, relationship.tree != nil else { continue }
      let kind: TreeKind = relationship.cardinality == .many ? .pairs : .references
      relationship.tree = "\(kind.rawValue)/\(entity.name)/\(known.name)"
      entities[place].properties[property].content = .relationship(relationship)
    }
  }
}
