import Foundation
import Predicates

/// The effects of opening a store with another schema, computed without writing one byte.
///
/// ```swift
/// let forecast = try MigrationForecast(at: url, to: [Song.self, Album.self])
/// if forecast.isPossible { print(forecast) }
/// ```
///
/// The opening has the same counts, if no save comes in between.
public struct MigrationForecast: Sendable, Hashable, Codable {
  /// A value for objects that have none.
  public struct Filling: Sendable, Hashable, Codable {
    /// The entity, by its name in the new schema.
    public let entity: String
    /// The attribute for which the objects have no value.
    public let property: String
    /// The attribute's default value.
    public let value: AttributeValue
    /// The number of objects that get the value. Their records are not written.
    public let objectCount: Int
  }

  /// A tree that is built or dropped.
  public struct Tree: Sendable, Hashable, Codable {
    /// The content of a tree.
    public enum Kind: String, Sendable, Hashable, Codable {
      /// The records of an entity.
      case records
      /// An index.
      case index
      /// A to-one relationship: from destinations to objects.
      case references
      /// One end of a many-to-many relationship.
      case pairs
      /// The order of the links at one end of a many-to-many relationship.
      case orders
      /// The long values of an attribute that is stored externally, in parts.
      case values
    }

    /// The tree's content.
    public let kind: Kind
    /// The entity: by its name in the new schema for a tree that is built, by its name in the store for a tree that
    /// is dropped.
    public let entity: String
    /// The index's or the property's name; nil for records.
    public let name: String?
    /// The number of entries that the tree gets, or has.
    public let entryCount: Int
  }

  /// A tree that is built.
  public struct BuiltTree: Sendable, Hashable, Codable {
    /// The tree.
    public let tree: Tree
    /// The sum of the bytes of the entries' keys. Their size in the file depends on how full the pages are.
    public let keyByteCount: Int
    /// True if it replaces a tree of the store.
    public let isReplacing: Bool
  }

  /// Records of an entity that stay as they are, and are translated when they are read.
  public struct EarlierRecords: Sendable, Hashable, Codable {
    /// The entity, by its name in the new schema.
    public let entity: String
    /// The number of records.
    public let count: Int
  }

  /// The ID of the store.
  public let storeID: UUID
  /// The version of the schema that a stage of a plan leads to; nil without a plan.
  public let version: Schema.Version?
  /// The version of the store's format; nil for a store that holds no models yet. Opening changes it to
  /// ``newFormatVersion``.
  public let formatVersion: UInt32?
  /// The version that the library writes.
  public let newFormatVersion: UInt32
  /// The changes of the schema.
  public let difference: SchemaDifference
  /// The values that objects get. This list and the lists below are empty if there is a change that can't be
  /// inferred.
  public internal(set) var fillings: [Filling] = []
  /// The trees that are built.
  public internal(set) var builtTrees: [BuiltTree] = []
  /// The trees that are dropped.
  public internal(set) var droppedTrees: [Tree] = []
  /// The records that stay as they are, by entity; an entity without such records is left out.
  public internal(set) var earlierRecords: [EarlierRecords] = []
  /// All reasons why the store can't be migrated to the schema.
  public internal(set) var refusal = SchemaRefusal()
  /// The changes that the passes of a custom stage make, by entity.
  public internal(set) var effects: [MigrationEffect] = []
  /// The reason why a pass of a custom stage fails; nil if none fails.
  public internal(set) var failure: String?
  /// True if a change of the schema was begun and not finished. Opening continues this change, or gives it up
  /// first. In both cases the counts are those of the whole change.
  public let isInterrupted: Bool
  /// True if opening writes nothing.
  public let isCurrent: Bool

  /// True if the store can be migrated to the schema. If not, opening throws the ``refusal`` or the ``failure`` as
  /// an error.
  public var isPossible: Bool { refusal.isEmpty && failure == nil }

  init(
    storeID: UUID,
    version: Schema.Version?,
    formatVersion: UInt32?,
    newFormatVersion: UInt32,
    difference: SchemaDifference,
    isInterrupted: Bool,
    isCurrent: Bool
  ) {
    self.storeID = storeID
    self.version = version
    self.formatVersion = formatVersion
    self.newFormatVersion = newFormatVersion
    self.difference = difference
    self.isInterrupted = isInterrupted
    self.isCurrent = isCurrent
  }
}

// MARK: - Text

extension MigrationForecast: CustomStringConvertible {
  /// Headings with a line below for each item; one line for a store that has the schema.
  public var description: String { lines.joined(separator: "\n") }

  /// The lines of ``description``. A value may contain line breaks.
  package var lines: [String] {
    if isCurrent { return ["the store has the schema already"] }
    let changes = difference.changes.map(\.description)
    var sections = [
      version.map { ("to version \($0)", changes.isEmpty ? ["no changes"] : changes) } ?? ("changes", changes)
    ]
    if let formatVersion, formatVersion != newFormatVersion {
      sections.append(("format", ["\(formatVersion) → \(newFormatVersion)"]))
    }
    if isInterrupted {
      sections.append(("an earlier change was interrupted", ["it is finished or given up first"]))
    }
    sections += [
      ("values for objects that have none", fillings.map(\.description)),
      ("trees built", builtTrees.map(\.description)),
      ("trees dropped", droppedTrees.map(\.description)),
      (
        "records that stay as they are, and are translated when they are read",
        earlierRecords.map(\.description)
      ),
      ("objects that custom passes change", effects.map(\.description)),
      ("in the way", refusal.lines + [failure].compactMap(\.self)),
    ]
    return sections.filter { !$0.1.isEmpty }
      .flatMap { heading, lines in ["\(heading):"] + lines.map { "  \($0)" } }
  }

  fileprivate static func text(_ count: Int, _ singular: String, _ plural: String) -> String {
    "\(count) \(count == 1 ? singular : plural)"
  }
}

extension MigrationForecast.Filling: CustomStringConvertible {
  /// The filling in a line: `Song.track 1: 20 objects`.
  public var description: String {
    "\(entity).\(property) \(value): " + MigrationForecast.text(objectCount, "object", "objects")
  }
}

extension MigrationForecast.Tree: CustomStringConvertible {
  /// The tree and its number of entries, in a line.
  public var description: String { "\(subject): " + MigrationForecast.text(entryCount, "entry", "entries") }

  private var subject: String {
    switch kind {
    case .records: "the records of \(entity)"
    case .index: "the index \(name ?? "") of \(entity)"
    case .values: "the long values of \(entity).\(name ?? "")"
    case .orders: "the order of \(entity).\(name ?? "")"
    case .references, .pairs: "the links of \(entity).\(name ?? "")"
    }
  }
}

extension MigrationForecast.BuiltTree: CustomStringConvertible {
  /// The tree, the number of its entries and the bytes of their keys, in a line.
  public var description: String {
    "\(tree), \(MigrationForecast.text(keyByteCount, "byte", "bytes")) of keys\(isReplacing ? ", anew" : "")"
  }
}

extension MigrationForecast.EarlierRecords: CustomStringConvertible {
  /// The entity and the number of records: `Song: 20`.
  public var description: String { "\(entity): \(count)" }
}
