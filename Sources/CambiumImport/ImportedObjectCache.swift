import Cambium
import Synchronization

/// A cache from unique IDs to the IDs of objects, for imports that meet the same objects again: an object in the
/// cache needs no query.
///
/// It holds the IDs of objects, no objects, so one cache serves all contexts of a store, on any thread. It evicts
/// the oldest entries first. It doesn't check whether an object still exists: a program that deletes objects must
/// remove them from the cache. A program that rolls a context back after an import must do the same, because
/// inserted objects are in the cache before they are saved.
public final class ImportedObjectCache: Sendable {
  /// Keys are compared as a whole, so two IDs with equal hash values are different keys.
  private struct Key: Hashable, Sendable {
    /// The model's class.
    let model: ObjectIdentifier
    let id: AttributeValue
  }

  private let ids: BoundedCache<Key, ManagedObjectID>
  /// The keys of deleted objects, in a cache for one import. ``handOver(unifiedAs:)`` removes them from the base.
  private let forgotten = Mutex<Set<Key>>([])
  /// The cache that receives the objects of an import when they are stored; nil for a cache of the program.
  private let base: ImportedObjectCache?

  /// Makes an empty cache.
  ///
  /// - Parameter countLimit: the limit of the count of objects; 0 for no limit.
  public init(countLimit: Int = 0) {
    ids = BoundedCache(name: "imported objects", countLimit: countLimit)
    base = nil
  }

  /// A cache for one import: it knows the objects of `base`, and registers new ones with `base` only in
  /// ``handOver(unifiedAs:)``. So a failed import doesn't change `base`.
  init(stagingFor base: ImportedObjectCache) {
    ids = BoundedCache(name: "objects of an import", countLimit: base.ids.countLimit)
    self.base = base
  }

  /// Registers with the base the objects that were registered here since the last call. O(registered objects).
  ///
  /// - Parameter existing: the IDs of the existing objects to which the save has resolved new ones. The keys are
  ///   the IDs of the new objects, which name no object any more.
  func handOver(unifiedAs existing: [ManagedObjectID: ManagedObjectID]) {
    guard let base else { return }
    let gone = forgotten.withLock { forgotten in
      defer { forgotten = [] }
      return forgotten
    }
    gone.forEach(base.forget)
    for (key, id) in ids.takeAll() { base.ids[key] = existing[id] ?? id }
  }

  /// The number of objects in the cache.
  public var count: Int { ids.count }

  /// The ID of the object with a unique ID; nil if the cache doesn't know it.
  public func objectID<Object: UniqueIdentifiable>(
    _ type: Object.Type = Object.self,
    withUniqueID id: Object.UniqueID
  ) -> ManagedObjectID? {
    known(type, id._attributeValue)
  }

  /// The object with a unique ID in a context, as a fault whose existence isn't checked; nil if the cache doesn't
  /// know it.
  ///
  /// - Throws: `unknownEntity` for a context of another store.
  public func object<Object: UniqueIdentifiable>(
    _ type: Object.Type = Object.self,
    withUniqueID id: Object.UniqueID,
    in context: ManagedObjectContext
  ) throws(ContextError) -> Object? {
    try object(type, with: id._attributeValue, in: context)
  }

  /// Adds objects, each with the unique ID that it has now. Objects have their final IDs from their insertion on.
  public func register<Object: UniqueIdentifiable>(_ objects: some Sequence<Object>) {
    register(objects.map { ($0.uniqueIDValue._attributeValue, $0) })
  }

  /// Forgets the object with a unique ID.
  public func remove<Object: UniqueIdentifiable>(
    _ type: Object.Type = Object.self,
    withUniqueID id: Object.UniqueID
  ) {
    ids[Key(model: ObjectIdentifier(type), id: id._attributeValue)] = nil
    base?.remove(type, withUniqueID: id)
  }

  /// Forgets everything.
  public func removeAll() {
    ids.clearCache()
    base?.removeAll()
  }

  // MARK: IDs as values

  func object<Object: ManagedObject>(
    _ type: Object.Type,
    with id: AttributeValue,
    in context: ManagedObjectContext
  ) throws(ContextError) -> Object? {
    guard let objectID = known(type, id) else { return nil }
    return try context.object(type, with: objectID)
  }

  func register<Object: ManagedObject>(_ objects: [(id: AttributeValue, object: Object)]) {
    for (id, object) in objects { ids[Key(model: ObjectIdentifier(Object.self), id: id)] = object.objectID }
  }

  /// Forgets an object that an import has deleted; a cache for one import has its base forget it when the import is
  /// stored.
  func forget(_ type: any ManagedObject.Type, with id: AttributeValue) {
    forget(Key(model: ObjectIdentifier(type), id: id))
  }

  private func forget(_ key: Key) {
    ids[key] = nil
    if base != nil { _ = forgotten.withLock { $0.insert(key) } }
  }

  private func known(_ type: any ManagedObject.Type, _ id: AttributeValue) -> ManagedObjectID? {
    known(Key(model: ObjectIdentifier(type), id: id))
  }

  private func known(_ key: Key) -> ManagedObjectID? {
    if let id = ids[key] { return id }
    return forgotten.withLock { $0.contains(key) } ? nil : base?.known(key)
  }
}
