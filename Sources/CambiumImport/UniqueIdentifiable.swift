import Cambium

/// A model whose objects have an ID of the app's own, such as that of a server.
///
/// ```swift
/// extension Song: UniqueIdentifiable {
///   static var uniqueIDKeyPath: ReferenceWritableKeyPath<Song, String> { \.isrc }
/// }
/// ```
///
/// The attribute should be unique, or at least have an index: without one each lookup reads every object. A class
/// that is not final can't conform, as the key path names the class; ``ObjectImport/init(key:id:)`` takes any.
public protocol UniqueIdentifiable: ManagedObject {
  /// The type of the ID.
  associatedtype UniqueID: AttributeType & Hashable
  /// The attribute that has the ID.
  static var uniqueIDKeyPath: ReferenceWritableKeyPath<Self, UniqueID> { get }
}

extension UniqueIdentifiable {
  /// The object's ID.
  public var uniqueIDValue: UniqueID {
    get { self[keyPath: Self.uniqueIDKeyPath] }
    set { self[keyPath: Self.uniqueIDKeyPath] = newValue }
  }

  /// The condition that an object has this ID.
  public static func uniqueObjectPredicate(with id: UniqueID) -> Where<Self> {
    Where { $0[dynamicMember: uniqueIDKeyPath].in([id]) }
  }
}

extension ManagedObjectContext {
  /// Inserts an object with an ID: it is inserted, gets its ID, is registered in the cache, and is then configured.
  /// The method doesn't check whether an object with the ID exists.
  ///
  /// - Throws: `unknownEntity` when the container was made without the model; what `configure` throws.
  @discardableResult
  public func insertObject<Object: UniqueIdentifiable>(
    _ type: Object.Type = Object.self,
    with id: Object.UniqueID,
    cache: ImportedObjectCache? = nil,
    configure: (Object) throws -> Void = { _ in }
  ) throws -> Object {
    let object = try insertNew(type)
    object.uniqueIDValue = id
    cache?.register([object])
    try configure(object)
    return object
  }

  /// The object with an ID, from the cache or by a query that sees unsaved objects; nil if there is none. The
  /// object that a query finds is added to the cache.
  ///
  /// An object from the cache isn't looked up in the store: it may be a fault of a deleted object.
  public func fetchObject<Object: UniqueIdentifiable>(
    _ type: Object.Type = Object.self,
    with id: Object.UniqueID,
    cache: ImportedObjectCache? = nil
  ) throws(ContextError) -> Object? {
    if let known = try cache?.object(type, withUniqueID: id, in: self) { return known }
    let request = From<Object>().where(Object.uniqueObjectPredicate(with: id))
    guard let object = try fetchOne(request) else { return nil }
    cache?.register([object])
    return object
  }

  /// The object with an ID, which is inserted if there is none. `configure` is called in either case, with the ID set.
  @discardableResult
  public func fetchOrInsertObject<Object: UniqueIdentifiable>(
    _ type: Object.Type = Object.self,
    with id: Object.UniqueID,
    cache: ImportedObjectCache? = nil,
    configure: (Object) throws -> Void = { _ in }
  ) throws -> Object {
    guard let object = try fetchObject(type, with: id, cache: cache) else {
      return try insertObject(type, with: id, cache: cache, configure: configure)
    }
    try configure(object)
    return object
  }

  /// Finds or inserts the object of each source, and calls `configure` with both, in order. One lookup finds all
  /// objects that the cache doesn't know.
  ///
  /// O(sources · log n), and O(unsaved objects) for the lookup.
  ///
  /// - Parameters:
  ///   - sources: what to import. Of several sources with one ID, each configures the object, in order.
  ///   - type: the model.
  ///   - id: the ID of a source.
  ///   - cache: objects that it knows are configured first, without a query; found and inserted objects are added
  ///     to it.
  ///   - isUniquing: whether objects that an earlier source, or `configure` itself, has inserted are found: see
  ///     ``ObjectImport/isUniquing``.
  ///   - configure: writes a source into its object, whose ID is set.
  /// - Returns: the objects, in the order of the sources.
  @discardableResult
  public func insertOrUpdate<Source: SendableMetatype, Object: UniqueIdentifiable>(
    _ sources: [Source],
    into type: Object.Type = Object.self,
    id: @escaping @Sendable (Source) throws -> Object.UniqueID,
    cache: ImportedObjectCache? = nil,
    isUniquing: Bool = true,
    configure: @escaping @Sendable (Source, Object) throws -> Void
  ) throws -> [Object] {
    var description = ObjectImport<Source, Object>(id: { source, _ in try id(source) })
    description.isUniquing = isUniquing
    description.updateProperties = { source, object, _ in try configure(source, object) }
    return try importObjects(from: sources, with: description, cache: cache)
  }

  /// Imports sources into this context, as ``ObjectImport`` says. Nothing is saved. If it throws, the changes until
  /// then stay in the context, unsaved, and the cache keeps what was added: roll the context back, or import in a
  /// child.
  ///
  /// The cache knows new objects before they are saved. If the save resolves a new object to an existing one, other
  /// contexts should get a cache that doesn't know the new object.
  ///
  /// - Returns: the objects of the sources, in order. Objects that were left out or deleted are absent.
  /// - Throws: `CancellationError` if the task is cancelled; what closures and queries throw.
  @discardableResult
  public func importObjects<Source: SendableMetatype, Object: ManagedObject>(
    from sources: [Source],
    with description: ObjectImport<Source, Object>,
    cache: ImportedObjectCache? = nil
  ) throws -> [Object] {
    let staged = cache.map(ImportedObjectCache.init(stagingFor:))
    var run = ImportRun(description, in: self, cache: staged, ImportMonitor())
    do {
      let objects = try run.run(sources)
      staged?.handOver(unifiedAs: [:])
      return objects
    } catch let error as ContextError where error.code == .cancelled {
      throw CancellationError()
    }
  }
}
