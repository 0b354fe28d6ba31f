import Cambium

/// How an import into a container is made.
public struct ImportOptions: Sendable {
  /// When what was imported is stored.
  public enum Commits: Sendable, Hashable {
    /// In one commit, at the end: a failed or cancelled import changes nothing. All objects of the import are in memory until then,
    /// and the IDs of ``ImportReport/changes``: about 1.1 KB for a short record.
    case once
    /// In a commit for each so many records: memory holds one batch. What a failed or cancelled import has committed stays.
    case eachBatch(of: Int)
  }

  /// When the relationships of records are imported.
  public enum RelationshipsOrder: Sendable, Hashable {
    /// After the properties of all records, so that an object of any record is found. A file is read twice.
    case afterAllRecords
    /// After the properties of each batch: for relationships to objects that are there, that the closure makes, or that come earlier or in the same batch. A file is read
    /// once, and no object is looked up again, which takes about half the time.
    case afterEachBatch
  }

  /// The length of a record, in bytes, beyond which inputs refuse it unless they are told another one: 64 MiB.
  public static let defaultRecordByteLimit = 64 << 20

  /// When what was imported is stored.
  public var commits = Commits.once
  /// When relationships are imported. An input that can't be read twice, and an import without a key or without uniquing, have it batch by batch, whatever this says.
  public var relationships = RelationshipsOrder.afterAllRecords
  /// What a commit does with objects that other contexts have changed meanwhile.
  public var mergePolicy = MergePolicy.error
  /// When a commit counts as done, if not as the container's options say.
  public var durability: Durability?
  /// Who makes the changes, for the history.
  public var author: String?
  /// What knows the objects of earlier imports, and receives those of this one when they are stored.
  public var cache: ImportedObjectCache?
  /// Receives how far the import has come: one unit for each record and pass. Cancelling it cancels the import.
  ///
  /// Where the number of records isn't known before, `totalUnitCount` is -1 until it is.
  public var progress: Progress?
  /// Called after each commit with the IDs of the objects that it has changed, on the import's queue.
  public var didCommit: (@Sendable (ImportChanges) -> Void)?

  /// One commit, no cache, no progress.
  public init() {}
}
