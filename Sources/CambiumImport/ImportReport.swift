import Cambium

/// What an import has done.
public struct ImportReport: Sendable {
  /// The records that were read.
  public internal(set) var recordCount = 0
  /// The records that have become new objects.
  public internal(set) var insertedCount = 0
  /// The records that have updated an object. Where several records have one ID, each counts.
  public internal(set) var updatedCount = 0
  /// The records that were left out: without an ID, refused by a condition, or followed by another record of their ID.
  public internal(set) var refusedCount = 0
  /// The records whose object wasn't found again when relationships were set in a second reading: a closure has changed its ID or deleted it, or another
  /// context has deleted it between two commits. Their relationships are not set.
  public internal(set) var missingCount = 0
  /// The queries for unique IDs: one for each batch and pass, none where the cache knew every ID.
  public internal(set) var lookupCount = 0
  /// The commits of the import. A save that finds nothing to change is none.
  public internal(set) var commitCount = 0
  /// The objects whose unique ID other stored objects have as well, and those. The import has updated the first, which are the keys.
  public internal(set) var storedDuplicates: [ManagedObjectID: [ManagedObjectID]] = [:]
  /// The IDs of changed objects; nil for an import with several commits, which tells of each in ``ImportOptions/didCommit``.
  public internal(set) var changes: ImportChanges?

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
  /// Sets, because each pass and each batch with the ID finds the same objects.
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

/// The IDs of the objects that saves have changed, whatever their models.
public struct ImportChanges: Sendable, Hashable {
  /// New objects.
  public private(set) var inserted: Set<ManagedObjectID> = []
  /// Objects that were there before and have other values or links.
  public private(set) var updated: Set<ManagedObjectID> = []
  /// Objects that are gone, by delete rules too.
  public private(set) var deleted: Set<ManagedObjectID> = []

  /// Changes nothing.
  public init() {}

  /// The changes of one save.
  public init(_ changes: ObjectChanges) { add(changes) }

  /// Whether nothing was inserted, updated or deleted.
  public var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }

  /// Inserted and updated objects.
  public var all: Set<ManagedObjectID> { inserted.union(updated) }

  /// Adds the changes of the next save: what is deleted is neither inserted nor updated any more, and what was inserted stays so. O(changes).
  public mutating func add(_ changes: ObjectChanges) {
    deleted.formUnion(changes.deleted)
    inserted = inserted.union(changes.inserted).subtracting(deleted)
    updated = updated.union(changes.updated).subtracting(deleted).subtracting(inserted)
  }
}
