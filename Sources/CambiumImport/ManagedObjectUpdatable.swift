import Cambium

/// A source, often a `Decodable` struct, that writes itself into an object: attributes first, relationships when
/// the objects of all sources exist.
///
/// ```swift
/// extension SongRecord: ManagedObjectUpdatable {
///   typealias Object = Song
///   var uniqueIDValue: String { isrc }
///   static var updateProperties: PropertiesUpdate? {
///     { record, song in song.title = record.title }
///   }
///   static var updateRelationships: RelationshipsUpdate? {
///     { record, song, context, cache in
///       song.album = try context.fetchObject(Album.self, with: record.album, cache: cache)
///     }
///   }
/// }
/// ```
public protocol ManagedObjectUpdatable: Sendable {
  /// The model of the objects.
  associatedtype Object: UniqueIdentifiable
  /// Writes attributes.
  typealias PropertiesUpdate = @Sendable (Self, Object) throws -> Void
  /// Writes relationships. The cache is that of the import.
  typealias RelationshipsUpdate =
    @Sendable (Self, Object, ManagedObjectContext, ImportedObjectCache?) throws -> Void

  /// The ID of the object.
  var uniqueIDValue: Object.UniqueID { get }
  /// The first pass; nil for none.
  static var updateProperties: PropertiesUpdate? { get }
  /// The second pass; nil for none, which is the default.
  static var updateRelationships: RelationshipsUpdate? { get }
}

extension ManagedObjectUpdatable {
  /// No second pass.
  public static var updateRelationships: RelationshipsUpdate? { nil }

  /// True if there is a first pass.
  public static var hasProperties: Bool { updateProperties != nil }
  /// True if there is a second pass.
  public static var hasRelationships: Bool { updateRelationships != nil }

  /// The import that the sources describe. Of several sources with one ID, each updates the object, in order.
  public static var objectImport: ObjectImport<Self, Object> {
    var description = ObjectImport<Self, Object>(id: { source, _ in source.uniqueIDValue })
    if let update = updateProperties {
      description.updateProperties = { source, object, _ in try update(source, object) }
    }
    description.updateRelationships = updateRelationships
    return description
  }
}

extension PersistentContainer {
  /// Imports a source, as one commit: ``importObjects(from:options:)`` with one.
  @discardableResult
  public func importObject<Source: ManagedObjectUpdatable>(
    from source: Source,
    options: ImportOptions = ImportOptions()
  ) async throws -> ImportReport {
    try await importObjects(from: [source], options: options)
  }

  /// Imports sources, as one commit unless the options say otherwise: properties of all, then relationships of all.
  ///
  /// - Throws: As ``importRecords(_:with:options:)``; then an import of one commit has changed nothing.
  @discardableResult
  public func importObjects<Source: ManagedObjectUpdatable>(
    from sources: [Source],
    options: ImportOptions = ImportOptions()
  ) async throws -> ImportReport {
    try await importRecords(ImportInput(sources), with: Source.objectImport, options: options)
  }

  /// Imports the lines of a JSON Lines file, as one commit unless the options say otherwise.
  ///
  /// - Throws: As ``importRecords(_:with:options:)``; then an import of one commit has changed nothing.
  @discardableResult
  public func importJSONLines<Source: ManagedObjectUpdatable & Decodable>(
    at url: URL,
    as type: Source.Type,
    options: ImportOptions = ImportOptions()
  ) async throws -> ImportReport {
    try await importRecords(.jsonLines(at: url), with: Source.objectImport, options: options)
  }

  /// Imports the elements of the JSON array in a file, read one after the other, as one commit unless the options
  /// say otherwise.
  ///
  /// - Throws: As ``importRecords(_:with:options:)``; then an import of one commit has changed nothing.
  @discardableResult
  public func importJSONArray<Source: ManagedObjectUpdatable & Decodable>(
    at url: URL,
    as type: Source.Type,
    options: ImportOptions = ImportOptions()
  ) async throws -> ImportReport {
    try await importRecords(.jsonArray(at: url), with: Source.objectImport, options: options)
  }
}
