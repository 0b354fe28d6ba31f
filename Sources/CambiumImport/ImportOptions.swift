import Cambium

/// Options of an import into a container.
public struct ImportOptions: Sendable {
  /// When imported objects are stored.
  public enum Commits: Sendable, Hashable {
    /// In one commit, at the end: a failed or cancelled import changes nothing. All objects of the import are in
    /// memory until then, and the IDs of ``ImportReport/changes``: about 1.1 KB for a short record.
    case once
    /// In one commit for each batch of this many records: memory holds one batch. Commits of a failed or cancelled
    /// import stay.
    case eachBatch(of: Int)
  }

  /// When the relationships of records are imported.
  public enum RelationshipsOrder: Sendable, Hashable {
    /// After the properties of all records, so that an object of any record is found. A file is read twice.
    case afterAllRecords
    /// After the properties of each batch: for relationships to objects that already exist, that the closure makes,
    /// or that come earlier or in the same batch. A file is read once, and no object is looked up again, so it
    /// takes about half the time.
    case afterEachBatch
  }

  /// The default limit of the length of a record, in bytes, beyond which inputs refuse it: 64 MiB.
  public static let defaultRecordByteLimit = 64 << 20

  /// When imported objects are stored.
  public var commits = Commits.once
  /// When relationships are imported. This has no effect on an input that can't be read twice, and on an import
  /// without a key or without uniquing: their relationships are imported batch by batch.
  public var relationships = RelationshipsOrder.afterAllRecords
  /// The policy of commits for objects that other contexts have changed meanwhile.
  public var mergePolicy = MergePolicy.error
  /// When a commit counts as done, if not as the container's options say.
  public var durability: Durability?
  /// The author of the changes, for the history.
  public var author: String?
  /// A cache of the objects of earlier imports; it receives the objects of this import when they are stored.
  public var cache: ImportedObjectCache?
  /// Receives the progress of the import: one unit for each record and pass. Cancelling it cancels the import.
  ///
  /// Where the number of records isn't known before, `totalUnitCount` is -1 until it is.
  public var progress: Progress?
  /// Called after each commit with the IDs of the objects that it has changed, on the import's queue.
  public var didCommit: (@Sendable (ImportChanges) -> Void)?

  /// One commit, no cache, no progress.
  public init() {}
}
