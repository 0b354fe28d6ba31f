import Cambium
import Synchronization

/// From unique IDs to the IDs of objects, for imports that meet the same objects again: what it knows needs no query.
///
/// It holds the IDs of objects, no objects, so one cache serves all contexts of a store, on any thread. The first that came is the first to go. Whether
/// an object still exists isn't checked: who deletes objects that the cache knows removes them from it. So does who rolls a context back after an import in it: what that has inserted
/// is in the cache before it is saved.
public final class ImportedObjectCache: Sendable {
  /// A key is compared as a whole: two IDs whose hash values are equal don't get in each other's way.
  private struct Key: Hashable, Sendable {
    /// The model's class.
    let model: ObjectIdentifier
    let id: AttributeValue
  }

  private let ids: BoundedCache<Key, ManagedObjectID>
  /// The keys of deleted objects, in a cache for one import. ``handOver(settledAs:)`` removes them from the base.
  private let forgotten = Mutex<Set<Key>>([])
  /// What receives the objects of an import when they are stored; nil for a cache of the program.
  private let base: ImportedObjectCache?

  /// Makes an empty cache.
  ///
  /// - Parameter countLimit: the most objects that it knows; 0 for no limit.
  public init(countLimit: Int = 0) {
    ids = BoundedCache(name: "imported objects", countLimit: countLimit)
    base = nil
  }

  /// A cache for one import: it knows what `base` knows, and keeps what is registered from ``handOver(settledAs:)``, so an import that fails leaves nothing
  /// behind.
  init(stagingFor base: ImportedObjectCache) {
    ids = BoundedCache(name: "objects of an import", countLimit: base.ids.countLimit)
    self.base = base
  }

  /// Registers with the base what was registered here since the last call. O(registered objects).
  ///
  /// - Parameter existing: the IDs of the objects with which the save has settled new ones, by the IDs of those, which name no object any more.
  func handOver(settledAs existing: [ManagedObjectID: ManagedObjectID]) {
    guard let base else { return }
    let gone = forgotten.withLock { forgotten in
      defer { forgotten = [] }
      return forgotten
    }
    gone.forEach(base.forget)
    for (key, id) in ids.takeAll() { base.ids[key] = existing[id] ?? id }
  }

  /// How many objects the cache knows.
  public var count: Int { ids.count }

  /// The ID of the object with a unique ID; nil if the cache doesn't know it.
  public func objectID<Object: UniqueIdentifiable>(
    _ type: Object.Type = Object.self,
    withUniqueID id: Object.UniqueID
  ) -> ManagedObjectID? {
    known(type, id._attributeValue)
  }

  /// The object with a unique ID in a context, as a fault whose existence isn't checked; nil if the cache doesn't know it.
  ///
  /// - Throws: `unknownEntity` for a context of another store.
  public func object<Object: UniqueIdentifiable>(
    _ type: Object.Type = Object.self,
    withUniqueID id: Object.UniqueID,
    in context: ManagedObjectContext
  ) throws(ContextError) -> Object? {
    try object(type, with: id._attributeValue, in: context)
  }

  /// Notes objects, each with the unique ID that it has now. Objects have their final IDs from their insertion on.
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

  /// Forgets an object that an import has deleted; a cache for one import has its base forget it when the import is stored.
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
