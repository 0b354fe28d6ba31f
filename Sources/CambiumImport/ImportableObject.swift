import Cambium

/// A model whose objects are made from sources: each source becomes a new object.
///
/// ```swift
/// extension Play: ImportableObject {
///   func didInsert(from source: [String: String], in context: ManagedObjectContext) throws {
///     note = source["note"] ?? ""
///   }
/// }
/// ```
public protocol ImportableObject: ManagedObject {
  /// The type of the sources: a dictionary, a JSON value, a struct.
  associatedtype ImportSource: SendableMetatype
  /// Returns whether a source becomes an object; true by default.
  static func shouldInsert(from source: ImportSource, in context: ManagedObjectContext) throws -> Bool
  /// Writes a source into the object that was inserted for it. An error ends the import.
  func didInsert(from source: ImportSource, in context: ManagedObjectContext) throws
}

extension ImportableObject {
  /// True.
  public static func shouldInsert(
    from source: ImportSource,
    in context: ManagedObjectContext
  ) throws -> Bool { true }

  /// The import that the model describes: a new object of each source.
  public static var objectImport: ObjectImport<ImportSource, Self> {
    var description = ObjectImport<ImportSource, Self>()
    description.shouldInsert = { try shouldInsert(from: $0, in: $1) }
    description.didInsert = { try $1.didInsert(from: $0, in: $2) }
    return description
  }
}

/// A model whose objects are made and updated from sources, and found by a unique ID.
///
/// ```swift
/// extension Album: ImportableUniqueObject {
///   static var uniqueIDKeyPath: ReferenceWritableKeyPath<Album, Int> { \.number }
///   static func uniqueID(from source: AlbumRecord, in context: ManagedObjectContext) -> Int? { source.number }
///   func update(from source: AlbumRecord, in context: ManagedObjectContext) { title = source.title }
/// }
/// ```
public protocol ImportableUniqueObject: ImportableObject, UniqueIdentifiable {
  /// The type of the sources.
  associatedtype ImportSource
  /// The ID of the object of a source; nil to leave the source out.
  static func uniqueID(from source: ImportSource, in context: ManagedObjectContext) throws -> UniqueID?
  /// Returns whether the object of a source is updated; true by default.
  static func shouldUpdate(from source: ImportSource, in context: ManagedObjectContext) throws -> Bool
  /// Writes a source into its object, whose ID is set.
  func update(from source: ImportSource, in context: ManagedObjectContext) throws
}

extension ImportableUniqueObject {
  /// True.
  public static func shouldUpdate(
    from source: ImportSource,
    in context: ManagedObjectContext
  ) throws -> Bool { true }

  /// Returns the result of ``ImportableUniqueObject/shouldUpdate(from:in:)``.
  public static func shouldInsert(
    from source: ImportSource,
    in context: ManagedObjectContext
  ) throws -> Bool { try shouldUpdate(from: source, in: context) }

  /// Updates the object.
  public func didInsert(from source: ImportSource, in context: ManagedObjectContext) throws {
    try update(from: source, in: context)
  }

  /// The import that the model describes. Of several sources with one ID the last counts, in the place of the first.
  public static var uniqueObjectImport: ObjectImport<ImportSource, Self> {
    var description = ObjectImport<ImportSource, Self>(id: { try uniqueID(from: $0, in: $1) })
    description.shouldInsert = { try shouldInsert(from: $0, in: $1) }
    description.shouldUpdate = { try shouldUpdate(from: $0, in: $1) }
    description.updateProperties = { try $1.update(from: $0, in: $2) }
    description.didInsert = { try $1.didInsert(from: $0, in: $2) }
    description.duplicates = .lastWins
    return description
  }
}

extension ManagedObjectContext {
  /// Makes an object of a source; nil if the model refuses it.
  @discardableResult
  public func importObject<Object: ImportableObject>(
    _ type: Object.Type,
    from source: Object.ImportSource
  ) throws -> Object? {
    try importObjects(from: [source], with: Object.objectImport).first
  }

  /// Writes a source into an existing object, with ``ImportableObject/didInsert(from:in:)``, unless the model
  /// refuses the source.
  public func importObject<Object: ImportableObject>(
    _ object: Object,
    from source: Object.ImportSource
  ) throws {
    guard try Object.shouldInsert(from: source, in: self) else { return }
    try object.didInsert(from: source, in: self)
  }

  /// Makes an object of each source, but for those that the model refuses. The first error ends it.
  @discardableResult
  public func importObjects<Object: ImportableObject>(
    _ type: Object.Type,
    from sources: [Object.ImportSource]
  ) throws -> [Object] {
    try importObjects(from: sources, with: Object.objectImport)
  }

  /// Updates the object of a source, or makes it; nil if the source has no ID or the model refuses it.
  @discardableResult
  public func importUniqueObject<Object: ImportableUniqueObject>(
    _ type: Object.Type,
    from source: Object.ImportSource,
    cache: ImportedObjectCache? = nil
  ) throws -> Object? {
    try importObjects(from: [source], with: Object.uniqueObjectImport, cache: cache).first
  }

  /// Updates or makes the object of each source. Of several sources with one ID the last counts, in the place of
  /// the first. One lookup finds the existing objects, also unsaved ones; objects that an update inserts are found
  /// as well.
  ///
  /// - Parameters:
  ///   - type: the model.
  ///   - sources: what to import.
  ///   - cache: objects that it knows need no query.
  ///   - preProcess: drops or replaces sources by their IDs. IDs that it adds are ignored.
  /// - Returns: the objects that were updated or inserted, in order.
  @discardableResult
  public func importUniqueObjects<Object: ImportableUniqueObject>(
    _ type: Object.Type,
    from sources: [Object.ImportSource],
    cache: ImportedObjectCache? = nil,
    preProcess: (
      @Sendable ([Object.UniqueID: Object.ImportSource]) throws -> [Object.UniqueID: Object.ImportSource]
    )? =
      nil
  ) throws -> [Object] {
    var description = Object.uniqueObjectImport
    if let preProcess { description.preProcess(preProcess) }
    return try importObjects(from: sources, with: description, cache: cache)
  }
}

extension PersistentContainer {
  /// Makes an object of each source in the background, in one commit unless the options say otherwise, and returns
  /// the view context's objects, in order.
  ///
  /// - Throws: As ``importRecords(_:with:options:)``; then an import of one commit has changed nothing.
  @discardableResult @MainActor
  public func importObjects<Object: ImportableObject>(
    _ type: Object.Type,
    from sources: [Object.ImportSource],
    options: ImportOptions = ImportOptions()
  ) async throws -> [Object] where Object.ImportSource: Sendable {
    try await importForView(sources, Object.objectImport, options)
  }

  /// Updates or makes the object of each source in the background, in one commit unless the options say otherwise,
  /// and returns the view context's objects, in order.
  ///
  /// If the view context doesn't merge changes automatically, `refresh()` it before the objects are read.
  ///
  /// - Throws: As ``importRecords(_:with:options:)``; then an import of one commit has changed nothing.
  @discardableResult @MainActor
  public func importUniqueObjects<Object: ImportableUniqueObject>(
    _ type: Object.Type,
    from sources: [Object.ImportSource],
    options: ImportOptions = ImportOptions()
  ) async throws -> [Object] where Object.ImportSource: Sendable {
    try await importForView(sources, Object.uniqueObjectImport, options)
  }

  @MainActor
  private func importForView<Source: Sendable, Object: ManagedObject>(
    _ sources: [Source],
    _ description: ObjectImport<Source, Object>,
    _ options: ImportOptions
  ) async throws -> [Object] {
    let job = ImportJob(ImportInput(sources), description, options, keepsIDs: true)
    let ids = try await job.run(in: self).ids
    try waitForViewContext()
    let context = viewContext
    return try ids.map { id throws(ContextError) in try context.object(Object.self, with: id) }
  }
}
