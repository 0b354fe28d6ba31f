import Foundation
import PageStore
import Predicates

/// The description that a store has of itself, in the tree `schema`:
///
/// | key | value |
/// |---|---|
/// | `format` | version of everything GraphContext writes, `UInt32` little-endian |
/// | `model` | the schema with its numbers (``CataloguedSchema``), JSON in UTF-8 with sorted keys |
/// | `layout/`, an entity's number, `/`, a layout's number | the layout (``CataloguedLayout``), the same way |
/// | `migration` | a change of the schema that is under way (``MigrationState``), JSON; absent where there is none |
/// | `spent` | the number that is given next, if a change that had taken numbers was given up, `UInt32` little-endian; absent otherwise |
/// | `staged/`, a commit, `/`, a tree | a value whose parts are stored, and that nothing refers to yet (``StagedBlobs``) |
/// | `folding` | the rules and tables by which folded indexes and copies are folded (``StringFolding/tables``), in ASCII; absent where there are none |
/// | `numbers/` and an entity's number | the end of the block of object numbers leased last, `UInt64` little-endian |
package enum SchemaTree {
  /// The tree's name.
  package static let name = ReservedTree.schema.rawValue

  package static let formatKey = Array("format".utf8)
  static let modelKey = Array("model".utf8)
  static let foldingKey = Array("folding".utf8)
  static let spentKey = Array("spent".utf8)
  package static func numbersKey(_ entity: EntityNumber) -> [UInt8] {
    Array("numbers/\(entity.rawValue)".utf8)
  }
  static func layoutKey(_ layout: UInt32, of entity: EntityNumber) -> [UInt8] {
    Array("layout/\(entity.rawValue)/\(layout)".utf8)
  }

  /// The version of a store that needs no newer one. The oldest that this library reads.
  static let formatVersion: UInt32 = 3
  /// The version of a store that keeps a history, and needs no newer one.
  static let historyFormatVersion: UInt32 = 4
  /// The version of a store with attributes that are stored encoded, with a history or without, and that needs no newer
  /// one.
  static let codedFormatVersion: UInt32 = 5
  /// The version of a store with ordered relationships or with attributes that are stored externally, and that needs no
  /// newer one.
  static let orderedFormatVersion: UInt32 = 6
  /// The version of a store with classes that inherit from each other, and without derived attributes.
  static let hierarchyFormatVersion: UInt32 = 7
  /// The version of a store with derived attributes, and that needs no newer one: a library that doesn't know them
  /// would not keep their values.
  static let derivedFormatVersion: UInt32 = 8
  /// The version of a store with hidden inverses, or with ordered relationships to objects of several classes, and that
  /// needs no newer one.
  static let hiddenInverseFormatVersion: UInt32 = 9
  /// The version of a store with ordered many-to-many relationships, whatever else is in it. The newest that this
  /// library reads.
  static let newestFormatVersion: UInt32 = 10

  /// Returns the version that a store of a schema needs, without a history.
  static func formatVersion(of schema: CataloguedSchema) -> UInt32 {
    if schema.ordersPairs { return newestFormatVersion }
    if schema.ordersClasses || schema.hasHiddenInverses { return hiddenInverseFormatVersion }
    if schema.derivesValues { return derivedFormatVersion }
    if schema.entities.contains(where: { !$0.classes.isEmpty }) { return hierarchyFormatVersion }
    if schema.hasAttribute(where: { $0 == .place || $0.isExternal }) { return orderedFormatVersion }
    return schema.hasAttribute(where: { $0 == .coded }) ? codedFormatVersion : formatVersion
  }

  /// Returns the version that a store gets: the oldest whose readers understand all that is in it.
  static func formatVersion(hasHistory: Bool, ofSchema schemaVersion: UInt32) -> UInt32 {
    max(schemaVersion, hasHistory ? historyFormatVersion : formatVersion)
  }

  static func number(_ bytes: [UInt8]?) -> UInt64 {
    (bytes ?? []).reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  package static func bytes(_ value: some FixedWidthInteger) -> [UInt8] {
    withUnsafeBytes(of: value.littleEndian) { [UInt8]($0) }
  }

  /// Returns the form in which descriptions are stored.
  static func encoded(_ value: some Encodable) throws(ContextError) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    do {
      return [UInt8](try encoder.encode(value))
    } catch {
      throw ContextError(.schemaMismatch, "the schema can't be stored: \(error)")
    }
  }
}

// MARK: - Reading

extension SchemaTree {
  /// Returns the schema that a snapshot was written with, or nil for a store that holds no models yet.
  ///
  /// - Throws: `schemaMismatch` for a format that this library doesn't read, `corrupt` for a tree with invalid
  ///   contents.
  package static func schema(in snapshot: Snapshot) throws(ContextError) -> CataloguedSchema? {
    guard let entries = try SchemaEntries(snapshot) else { return nil }
    let schema = try entries.schema()
    if let problem = schema.unsoundness { throw ContextError.damaged("the schema (\(problem))") }
    let needed = formatVersion(of: schema)
    if entries.formatVersion < needed {
      let versions = "the schema needs \(needed), and not \(entries.formatVersion)"
      throw ContextError.damaged("the format version (\(versions))")
    }
    return schema
  }

  /// Returns whether the folded indexes of a snapshot were folded as this library folds strings: by the same rules,
  /// and the tables of the same version of Unicode.
  static func isFoldedAsHere(_ snapshot: Snapshot) throws(ContextError) -> Bool {
    try SchemaEntries(snapshot)?.value(for: foldingKey) == Array(StringFolding.tables.utf8)
  }

  /// Returns the schema of a snapshot that is only read, without the folded indexes if they were folded by other
  /// tables.
  static func readableSchema(in snapshot: Snapshot) throws(ContextError) -> ResolvedSchema? {
    guard let catalogued = try schema(in: snapshot) else { return nil }
    let stored = try ResolvedSchema(catalogued)
    if !stored.schema.hasFoldedIndexes { return stored }
    return try isFoldedAsHere(snapshot) ? stored : stored.withoutFoldedIndexes()
  }

  /// Returns the ends of the blocks of object numbers that were leased, by the entities' ordinals.
  ///
  /// - Throws: `corrupt` if the tree has an entry that is no such end.
  static func leasedNumbers(
    in snapshot: Snapshot,
    _ schema: ResolvedSchema
  ) throws(ContextError) -> [UInt64] {
    guard let entries = try SchemaEntries(snapshot) else { return schema.entities.map { _ in 0 } }
    var leased: [UInt64] = []
    for entity in schema.entities {
      let bytes = try entries.value(for: numbersKey(entity.number))
      let end = number(bytes)
      guard bytes == nil || bytes?.count == 8, end <= ObjectNumbers.greatest else {
        throw ContextError.damaged("the number of the next \(entity.name)")
      }
      leased.append(end)
    }
    return leased
  }
}

// MARK: - Writing

extension SchemaTree {
  /// Stores the version of the store's format.
  ///
  /// - Parameter schemaVersion: the version that the schema needs; nil if that is unchanged.
  static func noteFormat(
    hasHistory: Bool,
    ofSchema schemaVersion: UInt32? = nil,
    in transaction: inout WriteTransaction
  ) throws(StoreError) {
    let tree = try transaction.tree(name)
    let known = number(try tree.value(for: formatKey))
    // The version for a history says nothing of the schema.
    let knownOfSchema = known > UInt64(historyFormatVersion) ? UInt32(known) : formatVersion
    let version = formatVersion(hasHistory: hasHistory, ofSchema: schemaVersion ?? knownOfSchema)
    try tree.put(formatKey, bytes(version))
  }

  /// Replaces the schema `old` in the catalogue by `schema`.
  ///
  /// - Parameter old: nil for a store without one.
  static func store(
    _ schema: CataloguedSchema,
    replacing old: CataloguedSchema?,
    in transaction: inout WriteTransaction
  ) throws {
    let tree = try transaction.tree(name)
    try noteFormat(
      hasHistory: transaction.treeIfPresent(HistoryTree.name) != nil,
      ofSchema: formatVersion(of: schema),
      in: &transaction
    )
    try tree.put(modelKey, encoded(schema))
    _ = try tree.remove(spentKey)
    if let folding = schema.folding {
      try tree.put(foldingKey, Array(folding.utf8))
    } else {
      _ = try tree.remove(foldingKey)
    }
    for entity in schema.entities {
      let known = old?.entity(entity.number)?.layouts ?? []
      for (place, layout) in entity.layouts.enumerated() where place >= known.count || known[place] != layout
      {
        try tree.put(layoutKey(layout.number, of: entity.number), encoded(layout))
      }
    }
    for entity in old?.entities ?? [] where schema.entity(entity.number) == nil {
      for layout in entity.layouts { _ = try tree.remove(layoutKey(layout.number, of: entity.number)) }
      _ = try tree.remove(numbersKey(entity.number))
    }
  }
}
