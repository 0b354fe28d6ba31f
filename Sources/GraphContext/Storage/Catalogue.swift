import Foundation
import PageStore
import Predicates

/// What a store says about itself, in the tree ``TreeName/catalogue``:
///
/// | key | value |
/// |---|---|
/// | `format` | version of everything GraphContext writes, `UInt32` little-endian |
/// | `model` | the schema, JSON in UTF-8 with sorted keys |
/// | `folding` | by what the folded indexes are folded (``StringFolding/tables``), in ASCII; absent where there are none |
/// | `numbers/` and an entity's name | the end of the block of object numbers leased last, `UInt64` little-endian |
package enum Catalogue {
  static let formatKey = Array("format".utf8)
  static let modelKey = Array("model".utf8)
  static let foldingKey = Array("folding".utf8)
  static func numbersKey(_ entity: String) -> [UInt8] { Array("numbers/\(entity)".utf8) }

  /// The newest version that this library reads.
  package static let formatVersion: UInt32 = 2

  /// The version that a schema needs: 2 with folded indexes, which a library that knows version 1 alone would take for
  /// plain ones.
  static func formatVersion(for schema: Schema) -> UInt32 { schema.hasFoldedIndexes ? 2 : 1 }

  /// The schema that a snapshot was written with, or nil for a store that holds no models yet.
  package static func schema(in snapshot: Snapshot) throws(ContextError) -> Schema? {
    guard let tree = try store({ () throws(StoreError) in try snapshot.treeIfPresent(TreeName.catalogue) })
    else {
      return nil
    }
    let format = try store { () throws(StoreError) in try tree.value(for: formatKey) }
    guard let format, format.count == 4 else { throw damaged("the format version") }
    let version = format.reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    guard version <= formatVersion else {
      throw ContextError(
        .schemaMismatch,
        "the store was written by a newer library: its format is \(version), this one reads up to \(formatVersion)"
      )
    }
    guard let model = try store({ () throws(StoreError) in try tree.value(for: modelKey) }) else {
      throw damaged("the schema")
    }
    do {
      return try JSONDecoder().decode(Schema.self, from: Data(model))
    } catch {
      throw damaged("the schema (\(error))")
    }
  }

  /// Whether the folded indexes of a snapshot were folded as this library folds strings: by the same rules, and the tables
  /// of the same version of Unicode.
  static func isFoldedAsHere(_ snapshot: Snapshot) throws(ContextError) -> Bool {
    let tables = try store { () throws(StoreError) -> [UInt8]? in
      guard let tree = try snapshot.treeIfPresent(TreeName.catalogue) else { return nil }
      return try tree.value(for: foldingKey)
    }
    return tables == Array(StringFolding.tables.utf8)
  }

  /// The schema of a snapshot that is only read: without the folded indexes if they were folded by other tables.
  package static func readableSchema(in snapshot: Snapshot) throws(ContextError) -> Schema? {
    guard let schema = try schema(in: snapshot) else { return nil }
    if !schema.hasFoldedIndexes { return schema }
    return try isFoldedAsHere(snapshot) ? schema : schema.withoutFoldedIndexes
  }

  /// The ends of the blocks of object numbers that were leased, by the entities' ordinals.
  ///
  /// - Throws: `corrupt` where the catalogue has something else than such an end.
  static func leasedNumbers(in snapshot: Snapshot, _ schema: StoredSchema) throws(ContextError) -> [UInt64] {
    guard let tree = try store({ () throws(StoreError) in try snapshot.treeIfPresent(TreeName.catalogue) })
    else { return schema.entities.map { _ in 0 } }
    var leased: [UInt64] = []
    for entity in schema.entities {
      let bytes = try store { () throws(StoreError) in try tree.value(for: numbersKey(entity.name)) }
      let end = number(bytes)
      guard bytes == nil || bytes?.count == 8, end <= ObjectNumbers.greatest else {
        throw damaged("the number of the next \(entity.name)")
      }
      leased.append(end)
    }
    return leased
  }

  static func number(_ bytes: [UInt8]?) -> UInt64 {
    (bytes ?? []).reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  static func bytes(_ value: some FixedWidthInteger) -> [UInt8] {
    withUnsafeBytes(of: value.littleEndian) { [UInt8]($0) }
  }

  /// What is stored for a schema.
  static func encoded(_ schema: Schema) throws(ContextError) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    do {
      return [UInt8](try encoder.encode(schema))
    } catch {
      throw ContextError(.schemaMismatch, "the schema can't be stored: \(error)")
    }
  }

  private static func damaged(_ what: String) -> ContextError {
    ContextError(.corrupt, "\(what) of the store is missing or damaged")
  }

  /// Runs `body`, its error as ours.
  private static func store<R>(_ body: () throws(StoreError) -> R) throws(ContextError) -> R {
    do throws(StoreError) { return try body() } catch { throw ContextError(error) }
  }
}
