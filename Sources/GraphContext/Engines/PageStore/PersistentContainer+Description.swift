import PageStore

extension PersistentContainer: CustomDebugStringConvertible {
  /// The container's name, the file, and how many entities it has: `Music, 3 entities, /var/lib/music.cambium`.
  public var debugDescription: String {
    "\(name), \(schema.entities.count) entities, \(handle.store.path)"
  }
}
