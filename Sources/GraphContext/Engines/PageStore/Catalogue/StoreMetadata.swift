import Foundation
import PageStore

/// The metadata of a store: its identifier, the version of its format, and its schema.
///
/// The file is opened for reading only, and no byte of it is written. Other processes can read it at the same time.
///
/// ```swift
/// let metadata = try StoreMetadata(at: url)
/// let isCurrent = try metadata.stableHash == Schema([Song.self, Album.self]).stableHash
/// ```
public struct StoreMetadata: Sendable, Hashable, Codable {
  /// One entity of the schema.
  public struct Entity: Sendable, Hashable, Codable {
    /// The entity's name when the store was written last.
    public let name: String
    /// The number that the store gave the entity. It stays when the entity is renamed, and no other entity of the store
    /// ever has it.
    public let number: UInt32
    /// ``EntityDescription/stableHash``.
    public let stableHash: UInt64
    /// Layouts that records of the entity have had: 1, and one more for each change of its stored properties.
    public let layoutCount: Int
  }

  /// The store's identifier, which every object's ID repeats.
  public let storeID: UUID
  /// The version of the store's format (Docs/Records.md); nil for a store that holds no models yet.
  public let formatVersion: UInt32?
  /// The schema as the store has it; without entities if it holds no models yet.
  public let schema: Schema
  /// The version of the schema, if the app declares versions (``MigrationPlan``).
  public let schemaVersion: Schema.Version?
  /// ``Schema/stableHash`` of ``schema``.
  public let stableHash: UInt64
  /// The entities, ordered by name.
  public let entities: [Entity]

  /// Reads the metadata of the store in a file. O(size of the schema), and of the log if the store was not closed.
  ///
  /// - Throws: `store` when the store can't be opened: there is none, or a process has it open for writing
  ///   (`storeInUse`), this process included; `schemaMismatch` for a store whose format this library doesn't read;
  ///   `corrupt` for a schema with invalid contents; `invalidURL` for a URL that isn't a file's.
  public init(at url: URL) throws(ContextError) {
    do { try self.init(Store.openToRead(url)) } catch { throw ContextError(any: error) }
  }

  private init(_ store: Store) throws {
    let snapshot = try store.snapshot()
    let catalogue = try SchemaTree.schema(in: snapshot) ?? CataloguedSchema()
    storeID = UUID(store.uuid)
    formatVersion = try SchemaEntries(snapshot)?.formatVersion
    schema = try ResolvedSchema(catalogue).schema
    schemaVersion = catalogue.version
    stableHash = schema.stableHash
    let known = catalogue.entitiesByName
    entities = schema.entities.compactMap { entity in
      known[entity.name].map { Entity(entity, $0) }
    }
  }
}

extension StoreMetadata.Entity {
  fileprivate init(_ entity: EntityDescription, _ known: CataloguedEntity) {
    name = entity.name
    number = known.number.rawValue
    stableHash = entity.stableHash
    layoutCount = known.layouts.count
  }
}
