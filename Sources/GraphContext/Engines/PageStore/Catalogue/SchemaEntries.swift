import Foundation
import PageStore
import Predicates

/// The entries of the tree `schema` in one snapshot, decoded.
struct SchemaEntries {
  private let tree: TreeReader
  /// The version of the store's format.
  let formatVersion: UInt32

  /// Nil for a store that holds no models.
  ///
  /// - Throws: `schemaMismatch` for a format that this library doesn't read, `corrupt` if its version is missing or
  ///   damaged.
  init?(_ snapshot: Snapshot) throws(ContextError) {
    let tree = try ContextError.mapping { () throws(StoreError) in
      try snapshot.treeIfPresent(SchemaTree.name)
    }
    guard let tree else { return nil }
    self.tree = tree
    formatVersion = try Self.formatVersion(in: tree)
  }

  private static func formatVersion(in tree: TreeReader) throws(ContextError) -> UInt32 {
    let format = try ContextError.mapping { () throws(StoreError) in
      try tree.value(for: SchemaTree.formatKey)
    }
    guard let format, format.count == 4 else { throw ContextError.damaged("the format version") }
    let version = UInt32(truncatingIfNeeded: SchemaTree.number(format))
    let (oldest, newest) = (SchemaTree.formatVersion, SchemaTree.newestFormatVersion)
    guard (oldest...newest).contains(version) else {
      let writer = version < oldest ? "an earlier" : "a newer"
      throw ContextError(
        .schemaMismatch,
        "the store was written by \(writer) library: its format is \(version),"
          + " this one reads formats \(oldest) to \(newest)"
      )
    }
    return version
  }

  func value(for key: [UInt8]) throws(ContextError) -> [UInt8]? {
    try ContextError.mapping { () throws(StoreError) in try tree.value(for: key) }
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
    if let problem = state.unsoundness(in: try schema()) {
      throw ContextError.damaged("\(what) (\(problem))")
    }
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
