import Cambium

/// The results of an import.
public struct ImportReport: Sendable {
  /// The count of records that were read.
  public internal(set) var recordCount = 0
  /// The count of records that have become new objects.
  public internal(set) var insertedCount = 0
  /// The count of records that have updated an object. Where several records have one ID, each counts.
  public internal(set) var updatedCount = 0
  /// The count of records that were left out: without an ID, refused by a condition, or followed by another record
  /// of their ID.
  public internal(set) var refusedCount = 0
  /// The count of records whose object the second pass didn't find, because a closure has changed its ID or deleted
  /// it, or another context has deleted it between two commits. Their relationships are not set.
  public internal(set) var missingCount = 0
  /// The count of lookups of unique IDs: one for each batch and pass, none where the cache knew every ID. A batch has
  /// more if a closure saves the context.
  public internal(set) var lookupCount = 0
  /// The count of commits of the import. A save that finds nothing to change makes no commit.
  public internal(set) var commitCount = 0
  /// Objects that share their unique ID with other stored objects. The keys are the objects that the import has
  /// updated; the values are the other objects.
  public internal(set) var storedDuplicates: [ManagedObjectID: [ManagedObjectID]] = [:]
  /// The IDs of changed objects; nil for an import with several commits, which reports each commit to
  /// ``ImportOptions/didCommit``.
  public internal(set) var changes: ImportChanges?

  /// The count of records with fewer fields than their source has columns. Their missing fields were read as empty.
  public internal(set) var paddedCount = 0
  /// The first of these records; nil for none.
  public internal(set) var firstPadded: PaddedRecord?

  /// A record with fewer fields than its source has columns.
  public struct PaddedRecord: Sendable, Hashable {
    /// The number of the record, from 1.
    public let record: Int
    /// The columns that the record has no fields for.
    public let missingColumns: [String]
  }

  init(_ counts: ImportCounts) {
    recordCount = counts.records
    insertedCount = counts.inserted
    updatedCount = counts.updated
    refusedCount = counts.refused
    missingCount = counts.missing
    lookupCount = counts.lookups
    storedDuplicates = counts.duplicates.mapValues { others in others.sorted { $0.number < $1.number } }
  }
}

/// The counts of a run.
struct ImportCounts: Sendable {
  var records = 0
  var inserted = 0
  var updated = 0
  var refused = 0
  var missing = 0
  var lookups = 0
  /// The values are sets, because each pass and each batch with the ID finds the same objects.
  var duplicates: [ManagedObjectID: Set<ManagedObjectID>] = [:]

  static func += (left: inout ImportCounts, right: ImportCounts) {
    left.records += right.records
    left.inserted += right.inserted
    left.updated += right.updated
    left.refused += right.refused
    left.missing += right.missing
    left.lookups += right.lookups
    left.duplicates.merge(right.duplicates) { $0.union($1) }
  }
}

/// The IDs of the objects that an import has changed, whatever their models.
public typealias ImportChanges = SavedChanges
