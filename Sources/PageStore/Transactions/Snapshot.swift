/// A committed version of the store, which can be read as long as this object exists. Later commits don't
/// change it. Taking a snapshot never waits for a writer; reading from it takes no lock.
///
/// Memory and pages that only an old snapshot reaches can't be reused while it exists, so release it when it
/// is no longer needed.
public final class Snapshot: Sendable {
  private let store: SharedStore
  private let version: Version
  private let lease: UInt64
  private let expiry: SnapshotExpiry?

  init(of store: SharedStore, label: String, lifetime: Duration?) {
    self.store = store
    expiry = lifetime.map { SnapshotExpiry(deadline: .now + min(max($0, .zero), Self.longestLifetime)) }
    let (version, lease) = store.versions.lease(label, expiry)
    // The links of later commits are freed while a snapshot that has expired still exists.
    self.version = expiry == nil ? version : version.withoutLaterCommits()
    self.lease = lease
  }

  /// Makes a snapshot of the version on which the next writer builds.
  init(ofLatestIn store: SharedStore) {
    self.store = store
    expiry = nil
    (version, lease) = store.versions.lease("", nil, ofLatest: true)
  }

  /// A longer lifetime is cut to a thousand years, which can be added to any moment.
  private static let longestLifetime = Duration.seconds(31_536_000_000)

  deinit { store.versions.release(lease: lease) }

  /// The number of the last write transaction in it; 0 for a new store.
  public var commit: UInt64 { version.commit }
  /// The time at which that transaction was committed, in milliseconds since 1970; never less than that of
  /// the commit before.
  public var timestamp: Int64 { version.timestamp }

  /// Returns the attachments of the commits after `other`, another snapshot of the store, up to and including
  /// this one, in order. If `other` is the later one, because the store has taken commits back, returns the
  /// attachments of those commits. Returns none if the earlier snapshot has a lifetime: such a snapshot keeps
  /// no attachments in memory. O(commits between).
  package func attachments(after other: Snapshot) -> [any Sendable] {
    let (first, last) = other.commit <= commit ? (other, self) : (self, other)
    return first.version.link.attachments(through: last.commit)
  }

  /// The names of all trees, in order of their bytes.
  public var treeNames: [String] {
    get throws(StoreError) {
      try store.file.checkOpen()
      return version.directory.sortedNames
    }
  }

  /// True if the snapshot's lifetime has passed. Calls that read its pages then throw `snapshotExpired`.
  public var hasExpired: Bool { expiry?.hasExpired ?? false }

  /// Returns the tree of this name. Throws `noSuchTree`.
  public func tree(_ name: String) throws(StoreError) -> TreeReader {
    guard let tree = try treeIfPresent(name) else { throw .noSuchTree(name) }
    return tree
  }

  /// Returns the tree of this name, or nil.
  public func treeIfPresent(_ name: String) throws(StoreError) -> TreeReader? {
    try store.file.checkOpen()
    guard let slot = version.directory.slot(of: name) else { return nil }
    if hasExpired { throw .snapshotExpired }
    return TreeReader(
      core: TreeCore(root: version.roots[slot], pool: store.pool, expiry: expiry),
      owner: self
    )
  }
}

extension StoreError {
  static func noSuchTree(_ name: String) -> StoreError {
    StoreError(.noSuchTree, "no tree has this name", context: .init(tree: name))
  }
}
